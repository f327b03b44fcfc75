//! Drafts by their own path, and documents by their id.

use serde_json::json;

use super::{data, get, known, settings};
use crate::support::cms::Cms;
use crate::support::front_of_cms::list;
use crate::support::script::Script;

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "a", "customPath": "old", "status": "published"},
    {"documentId": "p1", "locale": "en", "slug": "a", "customPath": "/new place/x", "status": "draft"},
    {"documentId": "p1", "locale": "de", "slug": "b", "customPath": "neu", "status": "draft"},
    {"documentId": "p2", "locale": "en", "slug": "plain", "status": "draft"},
    {"documentId": "p3", "slug": "c", "customPath": "any", "status": "draft"},
    {"documentId": "p4", "locale": "en", "slug": "d", "customPath": "news/n", "status": "draft"},
    {"documentId": "p5", "locale": "en", "slug": "e", "customPath": "a//b", "status": "draft"}],
  "api::news.news": [
    {"documentId": "n", "locale": "en", "slug": "n", "status": "draft"}],
  "api::note.note": [
    {"documentId": "o", "slug": "o", "seo": {"path": "imprint"}, "status": "draft"}]
}"#;

#[test]
fn draft_is_found_by_its_own_path_and_not_by_that_of_the_template() {
    let service = known(&settings().files(CONTENT));
    for (path, id, locale) in [
        ("/en/new%2520place/x", Some("p1"), "en"),
        ("/deutsch/neu", Some("p1"), "de"),
        ("/en/pages/plain", Some("p2"), "en"),
        ("/en/any", Some("p3"), "en"),
        ("/deutsch/any", Some("p3"), "de"),
        ("/en/news/n", Some("p4"), "en"),
        ("/imprint", Some("o"), "en"),
        ("/en/pages/a", None, "en"),
        ("/en/pages/e", None, "en"),
        ("/notes/o", None, "en"),
    ] {
        let target = format!("/api/resolve?site=main&pathname={path}&status=draft");
        let found = data(&service, &target);
        assert_eq!(
            (found["documentId"].as_str(), &found["locale"]),
            (id, &json!(locale)),
            "{path}"
        );
        let is_own = id.is_some() && path != "/en/pages/plain";
        if is_own {
            assert_eq!(found["matched"]["params"], json!({"locale": locale}), "{path}");
        }
    }
    for path in ["/en/old", "/en/a//b", "/en"] {
        let target = format!("/api/resolve?site=main&pathname={path}&status=draft");
        assert_eq!(get(&service, &target).status, 404, "{path}");
    }
}

#[test]
fn document_has_the_same_response_by_its_id_and_by_its_own_path() {
    let service = known(&settings().files(CONTENT));
    let by = |query: &str| get(&service, &format!("/api/resolve?site=main&{query}")).json();
    let by_path = by("pathname=/en/new%2520place/x&status=draft");
    let by_id = by("uid=api::page.page&documentId=p1&locale=en&status=draft");
    assert_eq!(by_path, by_id);
    assert_eq!(by_id["data"]["matched"]["rule"], "/{locale}/pages/{slug}");
    let published = by("uid=api::page.page&documentId=p1&locale=en");
    assert_eq!(published["data"]["canonicalPath"], "/en/old");
    assert_eq!(published["data"]["matched"]["params"], json!({"locale": "en"}));
}

#[test]
fn cms_is_asked_for_the_value_with_and_without_a_slash_in_front() {
    let cms = Cms::start(|target| match target.split('?').next() {
        _ if !target.contains("status=draft") => Script::silence(),
        Some("/api/page") if target.contains("customPath") => list(
            &[("p", r#","locale":"de","slug":"s","customPath":"/a b","hidden":false"#)],
            100,
            1,
        ),
        _ => list(&[], 100, 0),
    });
    let service = settings().strapi(&cms).singular_endpoints().start();
    let found = data(&service, "/api/resolve?site=main&pathname=/deutsch/a%2520b&status=draft");
    assert_eq!(
        (&found["documentId"], &found["canonicalPath"]),
        (&json!("p"), &json!("/deutsch/a%20b"))
    );
    let asked = cms.targets();
    let drafts: Vec<&String> = asked.iter().filter(|own| own.contains("status=draft")).collect();
    let first = drafts[0];
    assert!(first.starts_with("/api/page?") && first.contains("locale=de"), "{drafts:?}");
    for value in ["[customPath][$eq]=a%20b", "[customPath][$eq]=%2Fa%20b"] {
        assert!(first.contains(value), "{value} {first}");
    }
}
