//! Locales whose segment of paths and whose `hreflang` differ from their code.

mod drafts;
mod mistakes;

use serde_json::{Value, json};

use crate::support::api::{data, get};
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

/// The segment of `de` is the code of `en`.
const LOCALES: [&str; 4] = [
    "fr",
    r#"{ code = "en", segment = "english" }"#,
    r#"{ code = "de", segment = "en", hreflang = "de-DE" }"#,
    r#"{ code = "pt_BR", segment = "português" }"#,
];

const CONTENT: &str = r#"{
  "api::post.post": [
    {"documentId": "one", "locale": "fr", "slug": "un"},
    {"documentId": "one", "locale": "en", "slug": "one"},
    {"documentId": "one", "locale": "de", "slug": "eins"},
    {"documentId": "one", "locale": "pt_BR", "slug": "um"},
    {"documentId": "two", "locale": "de", "slug": "a/b"}],
  "api::note.note": [{"documentId": "n", "slug": "note"}]
}"#;

fn settings() -> Settings {
    site("main")
        .locales(&LOCALES)
        .resolve("documents")
        .rule("api::post.post", "/{locale}/posts/{slug}")
        .rule("api::note.note", "/{locale}/notes/{slug}")
        .files(CONTENT)
}

/// Once the documents are known.
fn service(more: &str) -> Service {
    let service = settings().set(more).start();
    let is_known = |type_name: &str| {
        let target = format!("/api/resolve?site=main&pathname=/english/{type_name}/missing");
        http::get(service.addr(), &target).status == 200
    };
    until_so("the documents are known", || is_known("posts") && is_known("notes"));
    service
}

const PATHS: [(&str, &str); 4] = [
    ("fr", "/fr/posts/un"),
    ("en", "/english/posts/one"),
    ("de", "/en/posts/eins"),
    ("pt_BR", "/portugu%C3%AAs/posts/um"),
];

#[test]
fn url_has_the_segment_and_parameters_have_the_code() {
    let service = service("");
    for (code, path) in PATHS {
        let target = format!("/api/frontend-url?uid=api::post.post&documentId=one&locale={code}");
        let url = format!("https://www.example.com{path}");
        assert_eq!(data(&service, &target), json!({"url": url, "path": path}));
        let batch = format!("/api/frontend-urls?uid=api::post.post&documentId=one&locale={code}");
        let found = &data(&service, &batch)["results"][0];
        assert_eq!((&found["locale"], &found["path"]), (&json!(code), &json!(path)));
    }
    // A segment is no code.
    for segment in ["english", "portugu%C3%AAs"] {
        let target =
            format!("/api/frontend-url?uid=api::post.post&documentId=one&locale={segment}");
        assert!(matches!(get(&service, &target).status, 400 | 404), "{segment}");
    }
}

#[test]
fn path_is_matched_by_the_segment_and_the_response_has_the_code() {
    let service = service("");
    for (code, path) in PATHS {
        let target = format!("/api/get-content-type?site=main&pathname={}", encoded(path));
        let found = data(&service, &target);
        assert_eq!(found["locale"], code, "{path}");
        assert_eq!(found["matched"]["params"]["locale"], code, "{path}");
    }
    for path in ["/de/posts/eins", "/pt_BR/posts/um", "/English/posts/one"] {
        let target = format!("/api/get-content-type?site=main&debug=1&pathname={path}");
        let missing = get(&service, &target);
        let candidate = &missing.json()["error"]["details"]["candidates"][0];
        assert_eq!(
            (missing.status, &candidate["reason"]),
            (404, &json!("unknown_locale")),
            "{path}"
        );
    }
}

#[test]
fn lists_and_tables_have_segments_in_paths_and_codes_elsewhere() {
    let service = service("");
    let list = data(&service, "/api/build-sitemap?site=main&contentType=api::post.post");
    let urls = PATHS.map(|(_, path)| format!("https://www.example.com{path}"));
    assert_eq!(list["urls"], json!(urls));
    let pages = data(&service, "/api/pages?site=main&contentType=api::post.post");
    let row =
        |row: &Value| [&row["locale"], &row["params"]["locale"], &row["path"]].map(Value::clone);
    let rows: Vec<[Value; 3]> = pages["pages"].as_array().expect("rows").iter().map(row).collect();
    assert_eq!(rows, PATHS.map(|(code, path)| [json!(code), json!(code), json!(path)]));
    let one = data(&service, "/api/pages?site=main&contentType=api::post.post&locale=de");
    assert_eq!((&one["count"], &one["pages"][0]["path"]), (&json!(1), &json!("/en/posts/eins")));
    let problem = &data(&service, "/api/problems?site=main")["problems"][0];
    assert_eq!((&problem["locale"], &problem["reason"]), (&json!("de"), &json!("slug_has_slash")));
}

#[test]
fn links_to_other_versions_have_the_hreflang() {
    let service = service("");
    let file = get(&service, "/sitemaps/main/api.post.post-1.xml");
    let text = file.text();
    let tags = ["fr", "en", "de-DE", "pt-BR"];
    for (tag, (_, path)) in tags.into_iter().zip(PATHS) {
        let link = format!(r#"hreflang="{tag}" href="https://www.example.com{path}""#);
        assert_eq!(text.matches(&link).count(), 4, "{link} in {text}");
    }
    assert_eq!(text.matches("hreflang=").count(), 20, "with x-default for each of four: {text}");
    let found = data(&service, "/api/resolve?site=main&pathname=/en/posts/eins");
    let mut expected: serde_json::Map<String, Value> = tags
        .into_iter()
        .zip(PATHS)
        .map(|(tag, (_, path))| (tag.to_owned(), json!(format!("https://www.example.com{path}"))))
        .collect();
    expected.insert("x-default".to_owned(), json!("https://www.example.com/fr/posts/un"));
    assert_eq!(found["alternates"], Value::Object(expected));
    assert_eq!((&found["locale"], &found["isCanonical"]), (&json!("de"), &json!(true)));
    assert_eq!(found["canonicalPath"], "/en/posts/eins");
}

#[test]
fn document_without_a_locale_has_its_url_in_the_first_one() {
    let service = service("");
    for path in ["/fr/notes/note", "/en/notes/note", "/english/notes/note"] {
        let found = data(&service, &format!("/api/resolve?site=main&pathname={path}"));
        let canonical = (&found["documentId"], &found["canonicalPath"], &found["isCanonical"]);
        let is_canonical = path == "/fr/notes/note";
        assert_eq!(
            canonical,
            (&json!("n"), &json!("/fr/notes/note"), &json!(is_canonical)),
            "{path}"
        );
    }
}

#[test]
fn omitted_segment_of_the_default_locale_makes_room_for_its_code() {
    let service = service("locale_prefix = \"except-default\"");
    for (path, code) in [
        ("/posts/un", Some("fr")),
        ("/english/posts/one", Some("en")),
        ("/en/posts/eins", Some("de")),
        ("/fr/posts/un", None),
        ("/de/posts/eins", None),
    ] {
        let target = format!("/api/get-content-type?site=main&pathname={path}");
        let found = get(&service, &target).json();
        assert_eq!(found["data"]["locale"].as_str(), code, "{path}");
    }
}

#[test]
fn explain_and_check_show_segments_in_paths_and_codes_elsewhere() {
    let setup = settings().setup();
    let explain = |args: &[&str]| {
        let ended = setup.run(&[&["explain", "--json"], args].concat());
        serde_json::from_str::<Value>(&ended.stdout).expect("JSON")
    };
    let path = explain(&["/en/posts/eins"]);
    assert_eq!(
        (&path["matched"]["locale"], &path["matched"]["params"]["locale"]),
        (&json!("de"), &json!("de"))
    );
    let document = explain(&["--uid", "api::post.post", "--document", "one", "--locale", "de"]);
    assert_eq!((&document["locale"], &document["path"]), (&json!("de"), &json!("/en/posts/eins")));
    let check = setup.run(&["check"]);
    assert_eq!(check.status, Some(0), "{}", check.stderr);
    // Two rules match one path only with a segment of a locale.
    let overlapping = settings().rule("api::page.page", "/english/posts/latest");
    let check = overlapping.run(&["check"]);
    assert!(check.stdout.contains("two rules match /english/posts/latest"), "{}", check.stdout);
    let apart = settings().rule("api::page.page", "/de/posts/latest");
    let check = apart.run(&["check"]);
    assert!(!check.stdout.contains("two rules match"), "{}", check.stdout);
}

/// A path as the value of a parameter: percent signs are decoded once by the query.
fn encoded(path: &str) -> String {
    path.replace('%', "%25")
}
