//! `trailing_slash`: built paths end with a slash, in every response; matching takes both forms.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::api::{data, get};
use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::service::{Ended, Service};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
  "api::post.post": [
    {"documentId": "p1", "locale": "en", "slug": "v1.2"},
    {"documentId": "p1", "locale": "de", "slug": "fünf"},
    {"documentId": "p2", "locale": "en", "slug": "a"},
    {"documentId": "p3", "locale": "en", "slug": "a-b"},
    {"documentId": "p4", "locale": "en", "slug": "a/b"}],
  "api::home.home": [{"documentId": "h", "locale": "en"}, {"documentId": "h", "locale": "de"}],
  "api::file.file": [{"documentId": "f", "slug": "terms"}],
  "api::doc.doc": [
    {"documentId": "d1", "slug": "guide/v1.2"},
    {"documentId": "d2", "slug": "files/terms.html"}],
  "api::feed.feed": [{"documentId": "feed"}]
}"#;

const ALWAYS: &str = "trailing_slash = \"always\"";
const BASE: &str = "https://www.example.com/shop";

fn settings(more: &str) -> Settings {
    site("main")
        .front_end_url(BASE)
        .locales(&["en", "de"])
        .resolve("documents")
        .set("locale_prefix = \"except-default\"")
        .set(more)
        .rule("api::post.post", "/{locale}/posts/{slug}")
        .rule("api::home.home", "/{locale}")
        .rule("api::file.file", "/files/{slug}.html")
        .rule("api::feed.feed", "/feed.xml")
        .rule("api::doc.doc", "/{*slug}")
        .files(CONTENT)
}

/// Once the documents of all types are known.
fn service(more: &str) -> Service {
    let service = settings(more).start();
    until_so("the documents are known", || {
        let target = "/api/problems?site=main";
        let known =
            |path| get(&service, &format!("/api/resolve?site=main&pathname={path}")).status == 200;
        get(&service, target).status == 200
            && ["/posts/x", "/", "/files/x.html", "/feed.xml", "/x"].into_iter().all(known)
    });
    service
}

/// Document, locale, and the path with slashes.
const PATHS: [(&str, &str, &str, &str); 9] = [
    ("api::post.post", "p1", "en", "/posts/v1.2/"),
    ("api::post.post", "p1", "de", "/de/posts/f%C3%BCnf/"),
    ("api::post.post", "p2", "en", "/posts/a/"),
    ("api::home.home", "h", "en", "/"),
    ("api::home.home", "h", "de", "/de/"),
    ("api::file.file", "f", "en", "/files/terms.html"),
    ("api::feed.feed", "feed", "en", "/feed.xml"),
    ("api::doc.doc", "d1", "en", "/guide/v1.2/"),
    ("api::doc.doc", "d2", "en", "/files/terms.html/"),
];

#[test]
fn url_of_a_document_ends_with_a_slash_unless_its_template_is_that_of_a_file() {
    for (more, is_always) in [(ALWAYS, true), ("", false), ("trailing_slash = \"never\"", false)] {
        let service = service(more);
        for (uid, id, locale, path) in PATHS {
            let path = match path.strip_suffix('/') {
                Some(bare) if !is_always && !bare.is_empty() => bare,
                _ => path,
            };
            let query = format!("uid={uid}&documentId={id}&locale={locale}");
            let url = format!("{BASE}{path}");
            let one = data(&service, &format!("/api/frontend-url?{query}"));
            assert_eq!(one, json!({"url": url, "path": path}), "{more}");
            let batch = data(&service, &format!("/api/frontend-urls?{query}"));
            let found = [&batch["results"][0]["url"], &batch["results"][0]["path"]];
            assert_eq!(found, [&json!(url), &json!(path)], "{more} {query}");
        }
    }
}

#[test]
fn lists_have_the_slash_and_the_order_of_their_urls() {
    let service = service(ALWAYS);
    let list = data(&service, "/api/build-sitemap?site=main&contentType=api::post.post");
    // `-` comes before `/`.
    let paths = ["/posts/a-b/", "/posts/a/", "/posts/v1.2/", "/de/posts/f%C3%BCnf/"];
    let urls = paths.map(|path| format!("{BASE}{path}"));
    assert_eq!(list["urls"], json!(urls));
    let xml = get(&service, "/api/build-sitemap?site=main&contentType=api::post.post&xml=true");
    let file = get(&service, "/sitemaps/main/api.post.post-1.xml");
    for url in &urls {
        let loc = format!("<loc>{url}</loc>");
        assert!(xml.text().contains(&loc) && file.text().contains(&loc), "{loc}");
    }
    let link = format!(r#"hreflang="de" href="{BASE}/de/posts/f%C3%BCnf/""#);
    assert_eq!(file.text().matches(&link).count(), 2, "{}", file.text());
    let pages = data(&service, "/api/pages?site=main&contentType=api::post.post");
    let rows = pages["pages"].as_array().expect("rows");
    let of = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<Value>>();
    assert_eq!(of("path"), paths.map(Value::from));
    assert_eq!(of("url"), urls.map(Value::from));
    assert_eq!(rows[2]["params"], json!({"locale": "en", "slug": "v1.2"}));
}

#[test]
fn one_path_with_and_without_a_slash_has_one_owner() {
    let service = service(ALWAYS);
    // Two documents: by the template of files, and by a catch-all.
    let problems = data(&service, "/api/problems?site=main");
    let rows = problems["problems"].as_array().expect("rows");
    let shared: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "shared_path").collect();
    assert_eq!(shared.len(), 1, "{rows:?}");
    assert_eq!(shared[0]["path"], "/files/terms.html");
    for path in ["/files/terms.html", "/files/terms.html/"] {
        let found = data(&service, &format!("/api/resolve?site=main&pathname={path}"));
        assert_eq!(
            (&found["documentId"], &found["canonicalPath"]),
            (&json!("f"), &json!("/files/terms.html"))
        );
        assert_eq!(found["isCanonical"], path == "/files/terms.html");
    }
}

#[test]
fn both_forms_resolve_and_one_is_canonical() {
    for (more, is_always) in [(ALWAYS, true), ("", false)] {
        let service = service(more);
        for (pathname, canonical, with_slash) in [
            ("/posts/a", "/posts/a", Some(false)),
            ("/posts/a/", "/posts/a", Some(true)),
            ("/posts/a/?x=/", "/posts/a", Some(true)),
            ("/de/posts/f%25C3%25BCnf/", "/de/posts/f%C3%BCnf", Some(true)),
            ("/de/posts/fünf/", "/de/posts/f%C3%BCnf", Some(true)),
            ("/guide/v1.2/", "/guide/v1.2", Some(true)),
            ("/guide/v1.2", "/guide/v1.2", Some(false)),
            ("//posts/a/", "/posts/a", None),
            ("/posts/a//", "/posts/a", None),
        ] {
            let found = data(&service, &format!("/api/resolve?site=main&pathname={pathname}"));
            let canonical = if is_always { format!("{canonical}/") } else { canonical.to_owned() };
            assert_eq!(found["canonicalPath"], canonical, "{pathname}");
            assert_eq!(found["canonicalUrl"], format!("{BASE}{canonical}"), "{pathname}");
            assert_eq!(found["isCanonical"], with_slash == Some(is_always), "{more} {pathname}");
            let matched =
                get(&service, &format!("/api/get-content-type?site=main&pathname={pathname}"));
            assert_eq!(matched.header("x-resolved-by").as_deref(), Some("documents"), "{pathname}");
        }
        for pathname in ["/", "//", "/?x"] {
            let found = data(&service, &format!("/api/resolve?site=main&pathname={pathname}"));
            let expected = (&json!("/"), &json!(format!("{BASE}/")), &json!(pathname != "//"));
            assert_eq!(
                (&found["canonicalPath"], &found["canonicalUrl"], &found["isCanonical"]),
                expected
            );
        }
        let missing = get(&service, "/api/get-content-type?site=main&pathname=/de/posts//x/y/..//");
        let details = &missing.json()["error"]["details"];
        assert_eq!((missing.status, &details["normalizedPath"]), (404, &json!("/de/posts/x/y/..")));
    }
}

#[test]
fn breadcrumbs_and_documents_by_their_id_have_the_slash() {
    let service = service(ALWAYS);
    let found = data(&service, "/api/resolve?site=main&pathname=/de/posts/f%25C3%25BCnf/");
    let crumbs: Vec<(&Value, &Value)> = found["breadcrumbs"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|crumb| (&crumb["path"], &crumb["url"]))
        .collect();
    let url = |path: &str| json!(format!("{BASE}{path}"));
    assert_eq!(crumbs, [(&json!("/"), &url("/")), (&json!("/de/"), &url("/de/"))]);
    assert_eq!(found["alternates"]["en"], url("/posts/v1.2/"));
    let by_id = data(&service, "/api/resolve?uid=api::post.post&documentId=p1&locale=de");
    assert_eq!(
        (&by_id["pathname"], &by_id["isCanonical"]),
        (&json!("/de/posts/f%C3%BCnf/"), &json!(true))
    );
    assert_eq!(by_id["documentId"], "p1");
}

#[test]
fn path_without_a_base_url_and_explain_have_the_slash() {
    let bare = settings(ALWAYS).front_end_url("").start();
    let response = get(&bare, "/api/frontend-url?uid=api::post.post&documentId=p2");
    assert_eq!(
        (response.status, &response.json()["error"]["details"]["path"]),
        (501, &json!("/posts/a/"))
    );
    let explained =
        settings(ALWAYS).run(&["explain", "--uid", "api::post.post", "--document", "p2", "--json"]);
    let explained: Value = serde_json::from_str(&explained.stdout).expect("JSON");
    assert_eq!(
        (&explained["path"], &explained["url"]),
        (&json!("/posts/a/"), &json!(format!("{BASE}/posts/a/")))
    );
}

#[test]
fn slash_counts_for_the_length_of_a_url() {
    let path = |bytes: usize| "a".repeat(bytes - BASE.len() - "/posts/".len());
    for (length, more, expected) in
        [(2_047, "", 200), (2_047, ALWAYS, 404), (2_046, ALWAYS, 200), (2_048, "", 404)]
    {
        let content = format!(
            r#"{{"api::post.post": [{{"documentId": "p", "locale": "en", "slug": "{}"}}]}}"#,
            path(length)
        );
        let service = settings(more).files(&content).start();
        let response = get(&service, "/api/frontend-url?uid=api::post.post&documentId=p");
        assert_eq!(response.status, expected, "{length} {more}");
    }
}

#[test]
fn other_values_are_refused() {
    for value in ["\"sometimes\"", "\"Always\"", "true"] {
        let ended = settings(&format!("trailing_slash = {value}")).run(&["check"]);
        assert_eq!(ended.status, Some(78), "{}", ended.stderr);
        assert!(
            ended
                .stderr
                .contains("site \"main\", trailing_slash: must be \"never\" or \"always\", not "),
            "{}",
            ended.stderr
        );
    }
}

/// A front end with `trailingSlash: true`: it redirects to the form with a slash, except files and
/// the root.
fn with_slashes(target: &str) -> Answer {
    let last = target.rsplit('/').next().unwrap_or_default();
    if last.is_empty() || last.contains('.') {
        answer("200 OK", "", 5)
    } else {
        answer("308 Permanent Redirect", &format!("Location: {target}/\r\n"), 0)
    }
}

/// One that redirects to the form without a slash.
fn without_slashes(target: &str) -> Answer {
    match target.strip_suffix('/') {
        None | Some("") => answer("200 OK", "", 5),
        Some(bare) => answer("308 Permanent Redirect", &format!("Location: {bare}\r\n"), 0),
    }
}

/// `validate` of pages, a file and the root.
async fn validate(front_end: fn(&str) -> Answer, more: &str) -> Ended {
    let peer = FrontEnd::start(front_end).await;
    let content = CONTENT.replace("v1.2", "v12").replace("/terms.html", "/terms");
    let settings = settings(more).front_end_url(&peer.url("http", "")).files(&content);
    tokio::task::spawn_blocking(move || settings.run(&["validate", "--site", "main"]))
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn frontend_with_slashes_redirects_no_url_with_always_and_gets_the_hint_with_never() {
    let fine = validate(with_slashes, ALWAYS).await;
    assert_eq!((fine.status, fine.stdout.contains("3xx")), (Some(0), false), "{}", fine.stdout);
    assert!(!fine.stdout.contains("trailing_slash"), "{}", fine.stdout);
    let hint = "every page redirects to itself with a slash at its end: set trailing_slash = \"always\" for site main\n";
    for more in ["", "trailing_slash = \"never\""] {
        let moved = validate(with_slashes, more).await;
        assert_eq!(moved.status, Some(0), "{}", moved.stderr);
        assert!(moved.stdout.contains(hint), "{}", moved.stdout);
    }
    let hint = "every page redirects to itself without a slash at its end: set trailing_slash = \"never\" for site main\n";
    let moved = validate(without_slashes, ALWAYS).await;
    assert!(moved.stdout.contains(hint), "{}", moved.stdout);
    let fine = validate(without_slashes, "").await;
    assert!(!fine.stdout.contains("trailing_slash"), "{}", fine.stdout);
}

#[test]
fn sitemap_files_of_the_command_have_the_slash() {
    let setup = settings(ALWAYS).setup();
    let ended = setup.run(&[
        "sitemap",
        "--site",
        "main",
        "--out",
        setup.path().join("out").to_str().unwrap(),
    ]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let read = |name: &str| std::fs::read_to_string(setup.path().join("out").join(name)).unwrap();
    let text =
        ["api.post.post-1.xml", "api.doc.doc-1.xml", "api.home.home-1.xml"].map(read).concat();
    let locs: BTreeSet<&str> =
        text.split("<loc>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    let paths = [
        "/",
        "/de/",
        "/de/posts/f%C3%BCnf/",
        "/files/terms.html/",
        "/guide/v1.2/",
        "/posts/a-b/",
        "/posts/a/",
        "/posts/v1.2/",
    ];
    let expected: Vec<String> = paths.iter().map(|path| format!("{BASE}{path}")).collect();
    assert_eq!(locs.into_iter().collect::<Vec<_>>(), expected);
    let index = read("index.xml");
    assert!(index.contains(&format!("<loc>{BASE}/sitemaps/api.post.post-1.xml</loc>")), "{index}");
}
