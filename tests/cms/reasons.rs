//! The reason of a document without a URL names the broken link of the chain of relations.

use crate::support::content::Content;
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until;

const UID: &str = "api::article.article";

const DEPARTMENT: &str = r#"{"id":3,"documentId":"d3","slug":"dep"}"#;
const SEO: &str = r#"{"id":5,"slug":"seo"}"#;

/// Reason and words of each article, with the fields that it has beside a slug.
const ROWS: [(&str, &str, &str, &str); 7] = [
    (
        "a1",
        r#","category":null,"seo":{"id":5,"slug":"seo"},"slug":"x""#,
        "category_missing",
        "`category` is empty, or the document behind it is not published in this locale",
    ),
    (
        "a2",
        r#","category":{"id":7,"documentId":"c7","department":null},"seo":{"id":5,"slug":"seo"},"slug":"x""#,
        "category.department_missing",
        "`department` of document c7 (`category`) is empty, or the document behind it is not \
         published in this locale",
    ),
    (
        "a3",
        r#","category":{"id":7,"documentId":"c7","department":{"id":3,"documentId":"d3","slug":null}},"seo":{"id":5,"slug":"seo"},"slug":"x""#,
        "category.department.slug_missing",
        "`slug` of document d3 (`category.department`) is empty",
    ),
    (
        "a4",
        r#","category":{"id":7,"documentId":"c7","department":{"id":3,"documentId":"d3","slug":""}},"seo":{"id":5,"slug":"seo"},"slug":"x""#,
        "category.department.slug_empty",
        "`slug` of document d3 (`category.department`) is empty",
    ),
    (
        "a5",
        r#","CATEGORY,"seo":null,"slug":"x""#,
        "seo_missing",
        "the CMS sends no value for `seo`",
    ),
    (
        "a6",
        r#","CATEGORY,"seo":{"id":5,"slug":null},"slug":"x""#,
        "seo.slug_missing",
        "`seo.slug` is empty",
    ),
    (
        "a7",
        r#","CATEGORY,"seo":SEO,"slug":"ends/""#,
        "slug_ends_with_slash",
        "`slug` ends with a slash",
    ),
];

fn fields(text: &str) -> String {
    let category = format!(r#"category":{{"id":7,"documentId":"c7","department":{DEPARTMENT}}}"#);
    text.replace("CATEGORY", &category).replace("SEO", SEO)
}

fn content() -> Content {
    let content = Content::default();
    content.put("en", "a0", &fields(r#","CATEGORY,"seo":SEO,"slug":"x""#));
    for (id, text, ..) in ROWS {
        content.put("en", id, &fields(text));
    }
    content
}

fn settings() -> Settings {
    site("main")
        .front_end_url("https://x.example")
        .rule(UID, "/{locale}/{category.department.slug}/{seo.slug}/{*slug}")
}

fn error_of(service: &Service, id: &str) -> (String, String) {
    let target = format!("/api/frontend-url?uid={UID}&documentId={id}");
    let error = http::get(service.addr(), &target).json()["error"].take();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    (text(&error["details"]["reason"]), text(&error["message"]))
}

#[test]
fn reason_names_the_broken_link_in_every_operation() {
    let cms = content().start();
    let service = settings().strapi(&cms).start();
    let problems = until("the problems of the site", || {
        let response = http::get(service.addr(), "/api/problems?site=main");
        (response.status == 200).then(|| response.json()["data"]["problems"].take())
    });
    let reasons: Vec<_> = problems.as_array().unwrap().iter().map(|row| &row["reason"]).collect();
    assert_eq!(reasons, ROWS.map(|(_, _, reason, _)| reason));
    for (id, _, reason, words) in ROWS {
        let message = format!("this document has no frontend URL: {words}");
        assert_eq!(error_of(&service, id), (reason.to_owned(), message));
        let target = format!("/api/frontend-urls?uid={UID}&documentId={id}");
        let batch = http::get(service.addr(), &target).json();
        assert_eq!(batch["data"]["results"][0]["reason"], *reason, "{batch}");
    }
    // A draft has the relations of its drafts: null is empty.
    let (reason, message) = error_of(&service, "a1&status=draft");
    assert_eq!(reason, "category_missing");
    assert_eq!(message, "this document has no frontend URL: `category` is empty");
}

#[test]
fn null_of_a_content_file_is_empty_and_explain_says_so() {
    let row = |(id, text, ..): (&str, &str, &str, &str)| {
        format!(r#"{{"documentId":"{id}","locale":"en"{}}}"#, fields(text))
    };
    let content = format!(r#"{{"{UID}":[{}]}}"#, ROWS.map(row).join(","));
    let settings = settings().files(&content);
    let service = settings.start();
    for (id, expected) in [
        ("a1", "`category` is empty"),
        ("a2", "`department` of document c7 (`category`) is empty"),
        ("a5", "`seo` is empty"),
    ] {
        let (reason, message) = error_of(&service, id);
        assert_eq!(message, format!("this document has no frontend URL: {expected}"));
        let ended = settings.run(&["explain", "--uid", UID, "--document", id]);
        let line = format!("builds no path: {reason}, {expected}\n");
        assert!(ended.stdout.contains(&line), "{}", ended.stdout);
    }
}
