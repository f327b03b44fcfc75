//! `server.cache_tag_header`: tags of site, content type and document on `/api/resolve` and lists; none without the
//! setting.

use serde_json::json;

use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::until_so;

fn started(server: &str) -> Service {
    let content = json!({
        "api::post.post": [
            {"documentId": "p1", "locale": "en", "slug": "hello"},
            {"documentId": "p1", "locale": "de", "slug": "hallo"},
        ],
        "api::page.page": [{"documentId": "about us, 1", "locale": "en", "slug": "about"}],
    });
    let service = site("main")
        .front_end_url("https://www.example.com")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::post.post", "/{locale}/posts/{slug}")
        .rule("api::page.page", "/{locale}/{slug}")
        .more("[[site.page]]\nname = \"home\"\npath = \"/\"")
        .server(server)
        .files(&content.to_string())
        .start();
    for path in ["/en/about", "/en/posts/hello"] {
        until_so("the type is known", || http::get(service.addr(), &resolve(path)).status == 200);
    }
    service
}

fn resolve(path: &str) -> String {
    format!("/api/resolve?site=main&pathname={path}")
}

#[test]
fn responses_have_the_tags_of_what_they_depend_on() {
    let service = started("cache_tag_header = \"cache-tag\"");
    for (target, expected) in [
        (resolve("/de/posts/hallo"), Some("site:main,type:api::post.post,document:p1")),
        (resolve("/de/posts/hallo/"), Some("site:main,type:api::post.post,document:p1")),
        (resolve("/en/about"), Some("site:main,type:api::page.page,document:about%20us%2C%201")),
        (resolve("/en/posts/none"), Some("site:main,absent:main")),
        (resolve("/"), Some("site:main,list:pages,document:home")),
        (resolve("/a/b/c/d"), Some("site:main,absent:main")),
        (
            "/api/build-sitemap?site=main&contentType=api::post.post".to_owned(),
            Some("site:main,list:api::post.post"),
        ),
        (
            "/api/build-sitemap?site=main&contentType=pages&xml=true".to_owned(),
            Some("site:main,list:pages"),
        ),
        (
            "/api/pages?site=main".to_owned(),
            Some("site:main,list:api::post.post,list:api::page.page,list:pages"),
        ),
        (
            "/api/pages?site=main&contentType=api::page.page".to_owned(),
            Some("site:main,list:api::page.page"),
        ),
        ("/api/pages?site=main&unlisted=true".to_owned(), None),
        (
            "/sitemaps/main/index.xml".to_owned(),
            Some("site:main,list:api::post.post,list:api::page.page,list:pages"),
        ),
        ("/sitemaps/main/api.post.post-1.xml".to_owned(), Some("site:main,list:api::post.post")),
        ("/sitemaps/main/pages-1.xml".to_owned(), Some("site:main,list:pages")),
        ("/sitemaps/main/robots.txt".to_owned(), None),
        ("/api/get-content-type?site=main&pathname=/en/about".to_owned(), None),
    ] {
        let response = http::get(service.addr(), &target);
        assert_eq!(response.header("cache-tag").as_deref(), expected, "{target}");
    }
    // A 304 has them, too: a cache that keeps the response replaces its headers.
    let target = resolve("/en/about");
    let tag = http::get(service.addr(), &target).header("etag").unwrap();
    let again = http::send(service.addr(), "GET", &target, &[("If-None-Match", &tag)]);
    assert_eq!(again.status, 304);
    assert!(again.header("cache-tag").unwrap().contains("type:api::page.page"));
}

#[test]
fn other_headers_have_spaces_and_without_the_setting_there_is_none() {
    let service = started("cache_tag_header = \"Surrogate-Key\"");
    let target = resolve("/en/posts/hello");
    let keys = http::get(service.addr(), &target).header("surrogate-key");
    assert_eq!(keys.as_deref(), Some("site:main type:api::post.post document:p1"));
    let service = started("");
    let head = http::get(service.addr(), &target);
    assert!(["cache-tag", "surrogate-key", "xkey"].iter().all(|name| head.header(name).is_none()));
}
