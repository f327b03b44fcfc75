//! Sitemap files over HTTP and as written by `frontend-map sitemap`.

use std::collections::BTreeSet;
use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;

use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until;

mod structure;

const CONTENT: &str = r#"{"api::post.post": [
    {"documentId": "one", "locale": "en", "slug": "x", "updatedAt": "2024-03-06T22:19:54.649Z"},
    {"documentId": "one", "locale": "de", "slug": "y", "updatedAt": "2024-03-07T00:00:00.000Z"},
    {"documentId": "two", "locale": "en", "slug": "z", "updatedAt": "2024-01-01T00:00:00.000Z"},
    {"documentId": "two", "locale": "de", "slug": "secret", "status": "draft"},
    {"documentId": "three", "locale": "en", "slug": "hidden", "noindex": true},
    {"documentId": "four", "locale": "en"}],
  "api::page.page": [{"documentId": "home", "slug": "welcome", "reviewed": "2023-05-06"}],
  "api::note.note": [{"documentId": "n", "slug": "n"}]}"#;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">"#;
const INDEX: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
    "<sitemap><loc>https://www.example.com/base/sitemaps/api.post.post-1.xml</loc>",
    "<lastmod>2024-03-07T00:00:00.000Z</lastmod></sitemap>",
    "<sitemap><loc>https://www.example.com/base/sitemaps/api.page.page-1.xml</loc>",
    "<lastmod>2023-05-06T00:00:00.000Z</lastmod></sitemap></sitemapindex>"
);
const PAGES: &str = concat!(
    "<url><loc>https://www.example.com/base/welcome</loc>",
    "<lastmod>2023-05-06T00:00:00.000Z</lastmod></url></urlset>"
);
const ROBOTS: &str = "Sitemap: https://www.example.com/base/sitemaps/index.xml\n";

fn settings() -> Settings {
    let main = site("main")
        .front_end_url("https://www.example.com/base")
        .locales(&["en", "de"])
        .rule("api::post.post", "/{locale}/posts/{slug}")
        .with("exclude_when = { noindex = true }")
        .rule("api::page.page", "/{slug}")
        .with("modified = \"reviewed\"")
        .rule("api::note.note", "/notes/{slug}")
        .with("sitemap = false");
    main.site("bare").without_front_end_url().rule("api::page.page", "/{slug}").files(CONTENT)
}

fn get(service: &Service, file: &str) -> Response {
    http::get(service.addr(), &format!("/sitemaps/main/{file}"))
}

/// The URLs in all `loc` elements.
fn locs(text: &str) -> BTreeSet<String> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let locs = document.descendants().filter(|node| node.has_tag_name((NAMESPACE, "loc")));
    locs.filter_map(|node| node.text().map(str::to_owned)).collect()
}

const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

#[test]
fn files_of_the_index_have_all_listed_urls() {
    let service = settings().start();
    let index = get(&service, "index.xml");
    assert_eq!((index.status, index.text()), (200, INDEX));
    assert_eq!(get(&service, "robots.txt").text(), ROBOTS);
    assert_eq!(get(&service, "api.page.page-1.xml").text(), format!("{HEAD}{PAGES}"));
    for (name, uid) in
        [("api.post.post-1.xml", "api::post.post"), ("api.page.page-1.xml", "api::page.page")]
    {
        let list = format!("/api/build-sitemap?site=main&contentType={uid}&xml=true");
        let list = http::get(service.addr(), &list);
        assert_eq!(locs(get(&service, name).text()), locs(list.text()));
    }
    let text = get(&service, "api.post.post-1.xml").text().to_owned();
    let base = "https://www.example.com/base";
    let link = |code: &str, path: &str| {
        format!(r#"<xhtml:link rel="alternate" hreflang="{code}" href="{base}{path}"/>"#)
    };
    let links =
        link("en", "/en/posts/x") + &link("de", "/de/posts/y") + &link("x-default", "/en/posts/x");
    let one = format!(
        "<url><loc>{base}/en/posts/x</loc><lastmod>2024-03-06T22:19:54.649Z</lastmod>{links}</url>\
         <url><loc>{base}/de/posts/y</loc><lastmod>2024-03-07T00:00:00.000Z</lastmod>{links}</url>"
    );
    assert!(text.contains(&one), "{text}");
    assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
}

#[test]
fn index_has_two_names_and_one_response() {
    let service = settings().start();
    let date = |response: &Response| response.header("last-modified");
    // Until the second after the build is over, the date is that of the response.
    let [one, other] = until("both have one date", || {
        let pair = ["index.xml", "sitemap.xml"].map(|file| get(&service, file));
        (date(&pair[0]) == date(&pair[1])).then_some(pair)
    });
    assert_eq!((other.status, other.text()), (200, INDEX));
    let usual = |response: &Response| {
        let mut headers = response.headers.clone();
        headers.retain(|(name, _)| !["date", "age", "cache-status"].contains(&name.as_str()));
        headers
    };
    assert_eq!(usual(&one), usual(&other));
    assert!(other.header("last-modified").is_some());
}

#[test]
fn all_files_obey_the_structure_rules_of_the_protocol() {
    let setup = settings().setup();
    let args = ["sitemap", "--site", "main", "--out", "maps"];
    assert_eq!(setup.run(&args).status, Some(0));
    let entries = std::fs::read_dir(setup.path().join("maps")).expect("a folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "xml"));
    assert_eq!(files.len(), 4, "two files, and the index under two names");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        assert_eq!(structure::violations(&text), [""; 0], "{}", file.display());
    }
    let service = setup.start();
    let list = "/api/build-sitemap?site=main&contentType=api::post.post&xml=true";
    let list = http::get(service.addr(), list);
    assert_eq!(structure::violations(list.text()), [""; 0]);
}

#[test]
fn any_other_file_is_not_found() {
    let service = settings().start();
    for file in [
        "api.note.note-1.xml",
        "api.post.post-2.xml",
        "api.post.post-01.xml",
        "api.post.post-1.xml.gz",
        "api.post.post.xml",
        "api.nobody.nobody-1.xml",
        "robots.txt/",
        "index.xml/x",
        "",
        "Sitemap.xml",
        "sitemap.xml.gz",
        "%69ndex.xml",
    ] {
        let answer = get(&service, file);
        let reason = match file {
            file if file.is_empty() || file.ends_with('/') => "no_route",
            file if file.contains('/') => "no_site",
            _ => "no_file",
        };
        let body = format!(
            r#"{{"data":null,"error":{{"status":404,"name":"NotFoundError","message":"there is nothing at this path","details":{{"reason":"{reason}"}}}}}}"#
        );
        assert_eq!((answer.status, answer.text()), (404, body.as_str()), "{file}");
    }
    assert_eq!(http::get(service.addr(), "/sitemaps/other/index.xml").status, 404);
    for file in ["index.xml", "sitemap.xml", "robots.txt", "api.page.page-1.xml"] {
        let answer = http::get(service.addr(), &format!("/sitemaps/bare/{file}"));
        let body = r#"{"data":null,"error":{"status":501,"name":"NotImplementedError","message":"FRONT_END_URL_BARE is not configured"}}"#;
        assert_eq!((answer.status, answer.text()), (501, body), "{file}");
    }
}

#[test]
fn files_support_conditional_requests_and_compression() {
    let service = settings().start();
    for file in ["index.xml", "sitemap.xml", "robots.txt", "api.post.post-1.xml"] {
        let target = format!("/sitemaps/main/{file}");
        let plain = http::get(service.addr(), &target);
        let content_type =
            if file == "robots.txt" { "text/plain; charset=utf-8" } else { "application/xml" };
        assert_eq!(plain.header("content-type").as_deref(), Some(content_type));
        assert_eq!(plain.header("vary").as_deref(), Some("accept-encoding"));
        let caching = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400";
        assert_eq!(plain.header("cache-control").as_deref(), Some(caching));
        let tag = plain.header("etag").expect("a tag");
        for (name, value, status) in [
            ("If-None-Match", tag.as_str(), 304),
            ("If-None-Match", "\"other\"", 200),
            ("Accept-Encoding", "identity;q=0", 200),
            ("Accept-Encoding", "br;q=1, *;q=0", 200),
        ] {
            let answer = http::send(service.addr(), "GET", &target, &[(name, value)]);
            assert_eq!(answer.status, status, "{file} {name}: {value}");
            assert_eq!(answer.header("etag"), Some(tag.clone()), "{file} {name}: {value}");
            assert_eq!(answer.body.is_empty(), status == 304);
        }
        let head = http::send(service.addr(), "HEAD", &target, &[]);
        assert_eq!(head.header("content-length"), Some(plain.body.len().to_string()), "{file}");
    }
    let target = "/sitemaps/main/api.post.post-1.xml";
    let plain = http::get(service.addr(), target);
    let small = http::send(service.addr(), "GET", target, &[("Accept-Encoding", "gzip, br")]);
    assert_eq!(small.header("content-encoding").as_deref(), Some("gzip"));
    assert_ne!(small.header("etag"), plain.header("etag"));
    let mut text = Vec::new();
    GzDecoder::new(&small.body[..]).read_to_end(&mut text).expect("gzip");
    assert_eq!(text, plain.body);
    // Within the second of the change the date could be that of an earlier file.
    let again = until("a date that tells", || {
        let date = http::get(service.addr(), target).header("last-modified").expect("a date");
        let again = http::send(service.addr(), "GET", target, &[("If-Modified-Since", &date)]);
        (again.status == 304).then_some(again)
    });
    assert_eq!(again.body.len(), 0);
}

#[test]
fn same_content_makes_the_same_files_on_each_instance() {
    let (one, other) = (settings().start(), settings().start());
    for file in ["index.xml", "api.post.post-1.xml", "api.page.page-1.xml"] {
        let (one, other) = (get(&one, file), get(&other, file));
        assert_eq!((one.header("etag"), &one.body), (other.header("etag"), &other.body));
    }
}

#[test]
fn command_writes_the_same_files() {
    let setup = settings().setup();
    let args = ["sitemap", "--site", "main", "--out", "public/maps", "--gzip"];
    let ended = setup.run(&args);
    let line = "api::post.post: 3 URLs in 1 file, without a URL: slug_missing 1\n";
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains(line), "{}", ended.stderr);
    let read = |name: &str| std::fs::read(setup.path().join("public/maps").join(name)).expect(name);
    for name in ["index.xml", "sitemap.xml"] {
        assert_eq!(String::from_utf8(read(name)).expect("text"), INDEX);
    }
    assert_eq!(String::from_utf8(read("robots.txt")).expect("text"), ROBOTS);
    for name in ["api.post.post-1.xml", "api.page.page-1.xml"] {
        let mut text = Vec::new();
        GzDecoder::new(&read(&format!("{name}.gz"))[..]).read_to_end(&mut text).expect("gzip");
        assert_eq!(text, read(name));
    }
    let names = || -> BTreeSet<String> {
        let entries = std::fs::read_dir(setup.path().join("public/maps")).expect("a folder");
        entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect()
    };
    let all = names();
    assert_eq!(all.len(), 10, "{all:?}");
    let service = setup.start();
    assert_eq!(get(&service, "index.xml").text(), INDEX);
}

#[test]
fn command_deletes_the_files_that_its_help_names_and_no_others() {
    let setup = settings().setup();
    let folder = setup.path().join("maps");
    std::fs::create_dir(&folder).expect("a folder");
    let ours = ["api.post.post-31.xml", "api.post.post-31.xml.gz", "pages-2.xml", "pages-2.xml.gz"]
        .into_iter()
        .chain(["index.xml.gz", "sitemap.xml.gz", "robots.txt.gz"]);
    let foreign = ["api.other.other-31.xml", "api.post.post-31.xml.br", "pages.xml", "other.txt"];
    let all: BTreeSet<&str> = ours.chain(foreign).collect();
    for name in &all {
        std::fs::write(folder.join(name), "old").expect("a file");
    }
    let left = || -> BTreeSet<&str> {
        let is_old =
            |name: &&str| std::fs::read(folder.join(name)).is_ok_and(|text| text == b"old");
        all.iter().copied().filter(is_old).collect()
    };
    let one_type =
        ["sitemap", "--site", "main", "--out", "maps", "--content-type", "api::page.page"];
    assert_eq!(setup.run(&one_type).status, Some(0));
    assert_eq!(left(), all);
    assert_eq!(setup.run(&one_type[..5]).status, Some(0));
    assert_eq!(left(), BTreeSet::from(foreign));
    let help = setup.run(&["sitemap", "--help"]).stdout;
    let expected = "
Files of earlier runs that are not written again are deleted from DIR, or from DIR/HOST for each host
of a site with several: files of content types of the site, such as api.article.article-2.xml, and
pages-N.xml, each also with .gz; and index.xml.gz, sitemap.xml.gz and robots.txt.gz. Other files stay.
With --content-type, no file is deleted.
";
    assert!(help.ends_with(expected), "{help}");
}

#[test]
fn command_reports_what_it_cannot_do() {
    let setup = settings().setup();
    for (args, line) in [
        (&["--site", "x", "--out", "o"][..], "unknown site `x`; there are: main, bare"),
        (
            &["--site", "bare", "--out", "o"],
            "site \"bare\" has no base URL: set front_end_url or FRONT_END_URL_BARE",
        ),
        (
            &["--site", "main", "--out", "o", "--content-type", "api::x.x"],
            "site \"main\" has no rule for `api::x.x`",
        ),
        (&["--site", "main", "--out", "content.json"], "content.json: File exists"),
    ] {
        let ended = setup.run(&[&["sitemap"], args].concat());
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(line), "{}", ended.stderr);
    }
    let some = ["sitemap", "--site", "main", "--out", "some", "--content-type", "api::page.page"];
    assert_eq!(setup.run(&some).status, Some(0));
    let entries = std::fs::read_dir(setup.path().join("some")).expect("a folder");
    let names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, ["api.page.page-1.xml"]);
}

#[test]
fn files_of_another_base_url_have_another_etag() {
    let tag = |base: &str, path: &str| {
        let service = site("main")
            .front_end_url(base)
            .set(&format!("sitemap_path = \"{path}\""))
            .rule("api::page.page", "/{slug}")
            .files(CONTENT)
            .start();
        get(&service, "api.page.page-1.xml").header("etag")
    };
    let one = tag("https://www.example.com/x", "/y");
    assert_ne!(one, tag("https://www.example.com", "/x/y"));
    assert_eq!(one, tag("https://www.example.com/x", "/z"), "the same bytes");
}

#[test]
fn content_file_never_becomes_stale() {
    let service = settings().env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1").start();
    let list = "/api/build-sitemap?site=main&contentType=api::page.page";
    assert_eq!(http::get(service.addr(), list).status, 200);
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(http::get(service.addr(), list).header("age").as_deref(), Some("0"));
}

#[test]
fn index_that_names_removed_files_is_removed() {
    let setup = settings().setup();
    let args = ["sitemap", "--site", "main", "--out", "maps"];
    assert_eq!(setup.run(&[&args[..], &["--gzip"]].concat()).status, Some(0));
    let file = |name: &str| setup.path().join("maps").join(name);
    std::fs::write(file("api.page.page-2.xml"), "old").expect("a file");
    // Without a new index the old one may name it.
    let some = [&args[..], &["--content-type", "api::page.page"]].concat();
    assert_eq!(setup.run(&some).status, Some(0));
    assert!(file("api.page.page-2.xml").exists() && file("index.xml.gz").exists());
    assert_eq!(setup.run(&args).status, Some(0));
    let gone = [
        "api.page.page-2.xml",
        "index.xml.gz",
        "sitemap.xml.gz",
        "robots.txt.gz",
        "api.page.page-1.xml.gz",
    ];
    assert_eq!(gone.map(|name| file(name).exists()), [false; 5]);
    assert!(file("index.xml").exists() && file("sitemap.xml").exists());
}
