//! Sitemap files of a site with several hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Service, data, get, locs, settings, started};
use crate::support::http;

const COM: &str = "example.com";
const DE: &str = "example.de";
const AT: &str = "example.at:8080";

fn file(service: &Service, path: &str) -> String {
    let response = get(service, &format!("/sitemaps/main/{path}"));
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.text().to_owned()
}

/// The URL of each entry, with its links.
fn entries(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let urls = document.descendants().filter(|node| node.tag_name().name() == "url");
    let entry = |url: roxmltree::Node<'_, '_>| {
        let loc = url.children().find(|child| child.tag_name().name() == "loc").unwrap();
        let links = url.children().filter(|child| child.tag_name().name() == "link");
        let link = |link: roxmltree::Node<'_, '_>| {
            let attribute = |name| link.attribute(name).unwrap().to_owned();
            (attribute("hreflang"), attribute("href"))
        };
        (loc.text().unwrap().to_owned(), links.map(link).collect())
    };
    urls.map(entry).collect()
}

#[test]
fn each_host_has_an_index_robots_and_files_with_its_own_urls() {
    let service = started(settings().setup());
    let mut found = BTreeSet::new();
    let mut all = BTreeMap::new();
    for (host, folder, types) in [
        (COM, "https://example.com/sitemaps", &["api.post.post", "api.note.note"][..]),
        (DE, "https://example.de/start/sitemaps", &["api.post.post", "api.page.page"]),
        (AT, "http://example.at:8080/sitemaps", &["api.post.post", "api.page.page"]),
    ] {
        let index = locs(&file(&service, &format!("{host}/index.xml")));
        let names = types.iter().map(|name| format!("{folder}/{name}-1.xml"));
        assert_eq!(index, names.collect());
        let robots = format!("Sitemap: {folder}/index.xml\n");
        assert_eq!(file(&service, &format!("{host}/robots.txt")), robots);
        for name in types {
            let text = file(&service, &format!("{host}/{name}-1.xml"));
            let base = folder.strip_suffix("/sitemaps").unwrap();
            assert!(locs(&text).iter().all(|loc| loc.starts_with(base)), "{host} {text}");
            found.extend(locs(&text));
            all.extend(entries(&text));
        }
    }
    let lists = ["api::post.post", "api::page.page", "api::note.note"].map(|uid| {
        let list = data(&service, &format!("/api/build-sitemap?site=main&contentType={uid}"));
        let urls = list["urls"].as_array().unwrap().clone();
        urls.into_iter().map(|url| url.as_str().unwrap().to_owned())
    });
    assert_eq!(found, lists.into_iter().flatten().collect());
    let one = &all["https://example.de/start/posts/x"];
    let expected = [
        ("en", "https://example.com/posts/x"),
        ("fr", "https://example.com/posts/un"),
        ("de", "https://example.de/start/posts/x"),
        ("de-AT", "http://example.at:8080/posts/x"),
        ("x-default", "https://example.com/posts/x"),
    ];
    let expected = expected.map(|(code, url)| (code.to_owned(), url.to_owned()));
    assert_eq!(*one, expected.into());
    for links in all.values() {
        for url in links.values() {
            assert_eq!(&all[url], links, "links are reciprocal across hosts");
        }
    }
}

#[test]
fn only_the_hosts_of_the_site_have_files() {
    let service = started(settings().setup());
    let status = |path: &str| get(&service, &format!("/sitemaps/main/{path}")).status;
    for path in [
        "example.com/sitemap.xml",
        "example.at:8080/index.xml",
        "example.at%3A8080/index.xml",
        "example%2Eat%3a8080/robots.txt",
    ] {
        assert_eq!(status(path), 200, "{path}");
    }
    let path = format!("/sitemaps/main/{AT}/index.xml");
    let head = http::send(service.addr(), "HEAD", &path, &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    let options = http::send(service.addr(), "OPTIONS", &path, &[]);
    assert_eq!(options.header("allow").as_deref(), Some("GET, HEAD, OPTIONS"));
    assert_eq!(http::send(service.addr(), "POST", &path, &[]).status, 405);
    for path in [
        "index.xml",
        "sitemap.xml",
        "robots.txt",
        "api.post.post-1.xml",
        "EXAMPLE.com/index.xml",
        "example.at/index.xml",
        "example.com:443/index.xml",
        "other.example/index.xml",
        "example.com/nope.xml",
        "example.com/api.page.page-1.xml",
        "example.com/x/index.xml",
        "example.at%3/index.xml",
        "/index.xml",
    ] {
        assert_eq!(status(path), 404, "{path}");
    }
}

#[test]
fn files_of_two_hosts_differ_in_text_and_tag() {
    let service = started(settings().setup());
    let path = |host: &str| format!("/sitemaps/main/{host}/api.post.post-1.xml");
    let [com, de] = [COM, DE].map(|host| get(&service, &path(host)));
    assert_ne!(com.header("etag"), de.header("etag"));
    assert_ne!(com.text(), de.text());
    // From the cache of texts.
    let [com_again, de_again] = [COM, DE].map(|host| get(&service, &path(host)));
    assert_eq!((com.text(), de.text()), (com_again.text(), de_again.text()));
}

#[test]
fn command_writes_a_folder_for_each_host() {
    let setup = settings().setup();
    let ended = setup.run(&["sitemap", "--site", "main", "--out", "out"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let written = |path: &str| std::fs::read_to_string(setup.path().join("out").join(path));
    let service = started(settings().setup());
    for (folder, host) in [(COM, COM), (DE, DE), ("example.at%3A8080", AT)] {
        for name in ["index.xml", "sitemap.xml", "robots.txt", "api.post.post-1.xml"] {
            let expected = file(&service, &format!("{host}/{name}"));
            assert_eq!(written(&format!("{folder}/{name}")).unwrap(), expected, "{folder} {name}");
        }
    }
    assert!(written("index.xml").is_err());
}
