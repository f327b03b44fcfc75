//! The output of `explain` and `check`.

use serde_json::{Value, json};

use super::settings;
use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::service::Ended;

fn explain(args: &[&str]) -> Ended {
    let args: Vec<&str> = ["explain"].iter().chain(args).copied().collect();
    settings().run(&args)
}

#[test]
fn explain_names_the_document_whose_own_path_a_pathname_is() {
    let ended = explain(&["/en/news/first"]);
    let expected = "\
site main, /en/news/first
api::page.page by /{locale}/pages/{slug}
decided by documents: api::page.page news, locale en, has this path as its own

1. api::note.note /notes/{slug}
   does not match: segment_count, 2 wanted, 3 given

2. api::page.page /{locale}/pages/{slug}
   {locale}  en    fits
   pages     news  static_mismatch
   does not match: static_mismatch in segment 2

3. api::news.news /{locale}/news/{slug}
   {locale}  en     fits
   news      news   fits
   {slug}    first  fits
   matches too, but the document's own path wins
";
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), expected), "{}", ended.stderr);
    let ended = explain(&["--json", "/deutsch/Sommer%20schlu%C3%9F"]);
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let document = json!({"decidedBy": "own_path", "contentType": "api::page.page",
        "documentId": "sale", "locale": "de", "path": "/deutsch/Sommer%20schlu%C3%9F"});
    assert_eq!(found["decision"], document);
    let matched = json!({
        "collectionType": "api::page.page", "rule": "/{locale}/pages/{slug}",
        "params": {}, "locale": "de",
    });
    assert_eq!(found["matched"], matched);
    let other = explain(&["--json", "/en/news/second"]);
    let other: Value = serde_json::from_str(&other.stdout).expect("JSON");
    assert_eq!(
        (&other["decision"]["documentId"], &other["matched"]["rule"]),
        (&json!("n2"), &json!("/{locale}/news/{slug}"))
    );
}

#[test]
fn explain_shows_the_path_field_of_a_document() {
    for (id, row, result) in [
        ("sale", "customPath  \"/summer/sale\"  used as the path", "builds /en/summer/sale"),
        ("bad", "customPath  \"a//b\"  empty_segment", "builds no path: customPath_empty_segment"),
        ("plain", "customPath  -        empty", "builds /en/pages/plain"),
    ] {
        let ended = explain(&["--uid", "api::page.page", "--document", id]);
        assert!(ended.stdout.contains(row), "{row}\n{}", ended.stdout);
        assert!(ended.stdout.contains(result), "{result}\n{}", ended.stdout);
    }
    let ended = explain(&["--uid", "api::page.page", "--document", "kind", "--json"]);
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let own =
        json!({"field": "customPath", "value": "true", "isUsed": true, "fault": "not_string"});
    assert_eq!(found["considered"][0]["ownPath"], own);
}

#[test]
fn explain_has_no_url_where_an_own_path_is_unusable_and_a_later_rule_builds_one() {
    let settings = settings().rule("api::page.page", "/{locale}/later/{slug}");
    let args = ["explain", "--uid", "api::page.page", "--document", "bad", "--json"];
    let ended = settings.run(&args);
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let outcomes: Vec<&Value> = found["considered"]
        .as_array()
        .expect("rules")
        .iter()
        .map(|rule| &rule["outcome"])
        .collect();
    assert_eq!(outcomes, ["no_url", "not_needed"]);
    assert_eq!((&found["path"], &found["url"]), (&Value::Null, &Value::Null));
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
}

#[test]
fn check_finds_a_path_field_that_the_cms_does_not_have_or_whose_kind_does_not_fit() {
    for (fields, expected) in [
        (r#","slug":"a","customPath":null,"hidden":false"#, None),
        (r#","slug":"a","customPath":true,"hidden":false"#, Some("customPath")),
        (r#","slug":"a","hidden":false"#, Some("customPath")),
    ] {
        let cms = Cms::start(move |target| match target.split('?').next() {
            Some("/api/page") => {
                let row =
                    format!(r#","locale":"en","updatedAt":"2026-01-01T00:00:00.000Z"{fields}"#);
                list(&[("p", &row)], 100, 1)
            }
            Some("/api/news" | "/api/note") => list(&[], 100, 0),
            _ => refusal(403, "ForbiddenError", "{}"),
        });
        let settings = settings().strapi(&cms).singular_endpoints();
        let ended = settings.run(&["check", "--strict"]);
        assert_eq!(ended.stdout.contains("customPath"), expected.is_some(), "{}", ended.stdout);
        let asked = cms.targets();
        assert!(asked.iter().any(|target| target.contains("customPath")), "{asked:?}");
    }
}
