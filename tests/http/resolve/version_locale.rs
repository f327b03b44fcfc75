//! The locale of a path is that of the version that owns it, also where several templates of its rule, or
//! one template for several locales, match the path.

use serde_json::{Value, json};

use super::until;
use crate::support::api::data;
use crate::support::http;
use crate::support::settings::{Settings, site};

/// The version in the last locale has the path, and the version in the first one another path.
const CONTENT: &str = r#"{"api::t.t": [
  {"documentId": "d1", "locale": "en", "slug": "other", "status": "published"},
  {"documentId": "d1", "locale": "en", "slug": "other", "status": "draft"},
  {"documentId": "d1", "locale": "fr", "slug": "s2", "status": "published"},
  {"documentId": "d1", "locale": "fr", "slug": "s2", "status": "draft"},
  {"documentId": "d2", "locale": "en", "slug": "both", "status": "published"},
  {"documentId": "d2", "locale": "en", "slug": "both", "status": "draft"},
  {"documentId": "d2", "locale": "fr", "slug": "both", "status": "published"},
  {"documentId": "d2", "locale": "fr", "slug": "both", "status": "draft"}]}"#;

fn settings(prefix: &str, templates: &[&str], content: &str) -> Settings {
    let site = site("main")
        .locales(&["en", "de", "fr"])
        .set(&format!("locale_prefix = \"{prefix}\""))
        .resolve("documents");
    let with = |site: Settings, template: &&str| site.rule("api::t.t", template);
    templates.iter().fold(site, with).files(content)
}

/// The members that name the rule and the locale.
fn matched(found: &Value) -> Value {
    json!([found["locale"], found["matched"]["rule"], found["matched"]["params"]])
}

#[test]
fn locale_rule_and_params_are_those_of_the_version_that_owns_the_path() {
    for (prefix, templates, rule) in [
        // Templates of equal precedence, of one rule and of two.
        (
            "except-default",
            &[r#"{ en = "/{locale}/x/{slug}", fr = "/x/{slug}" }"#][..],
            "/x/{slug}",
        ),
        (
            "except-default",
            &[r#"{ en = "/{locale}/x/{slug}" }"#, r#"{ fr = "/x/{slug}" }"#],
            "/x/{slug}",
        ),
        // The template of the other locale is more specific.
        ("always", &[r#"{ en = "/x/{slug}", fr = "/{*slug}" }"#], "/{*slug}"),
        ("always", &[r#"{ en = "/x/{slug}" }"#, r#"{ fr = "/{*slug}" }"#], "/{*slug}"),
        // One template for both.
        ("always", &[r#"{ en = "/x/{slug}", fr = "/x/{slug}" }"#], "/x/{slug}"),
        ("always", &[r#""/x/{slug}""#], "/x/{slug}"),
    ] {
        let is_open = rule == "/{*slug}";
        let content =
            if is_open { CONTENT.replace("\"s2\"", "\"x/s2\"") } else { CONTENT.to_owned() };
        let service = settings(prefix, templates, &content).start();
        let path = "/api/resolve?site=main&pathname=/x/s2";
        until(&service, path, |response| response.json()["data"]["documentId"] == "d1");
        let slug = if is_open { "x/s2" } else { "s2" };
        let params = json!({"locale": "fr", "slug": slug});
        let expected = json!(["fr", rule, params]);
        for parameter in ["", "&locale=fr", "&locale=en"] {
            let found = data(&service, &format!("{path}{parameter}"));
            assert_eq!(matched(&found), expected, "{templates:?} {parameter}");
            assert_eq!(found["canonicalPath"], "/x/s2");
            let drafts = data(&service, &format!("{path}{parameter}&status=draft"));
            assert_eq!(matched(&drafts), expected, "{templates:?} {parameter}");
            let rules = path.replace("resolve", "get-content-type");
            let rules = data(&service, &format!("{rules}{parameter}"));
            assert_eq!(matched(&rules), expected, "{templates:?} {parameter}");
        }
        let by_id = "/api/resolve?uid=api::t.t&documentId=d1&locale=fr";
        assert_eq!(matched(&data(&service, by_id)), expected, "{templates:?}");
        let pages = data(&service, "/api/pages?site=main");
        let page = pages["pages"].as_array().expect("a list").iter();
        let page = { page }.find(|page| page["path"] == "/x/s2").expect("listed");
        assert_eq!(
            json!([page["locale"], page["rule"], page["params"]]),
            expected,
            "{templates:?}"
        );
        let explained = settings(prefix, templates, &content).run(&["explain", "--json", "/x/s2"]);
        let explained: Value = serde_json::from_str(&explained.stdout).expect("JSON");
        let decision = &explained["decision"];
        let document = (&decision["documentId"], &decision["locale"]);
        assert_eq!(document, (&json!("d1"), &json!("fr")), "{templates:?}");
        // One template for both locales does not determine which one.
        let locale = (prefix == "except-default" || is_open).then_some("fr");
        let found = (&explained["matched"]["rule"], &explained["matched"]["locale"]);
        assert_eq!(found, (&json!(rule), &json!(locale)), "{templates:?}");
    }
}

#[test]
fn locale_of_a_path_that_several_versions_have_is_that_of_the_parameter() {
    let service = settings("always", &["/x/{slug}"], CONTENT).start();
    let path = "/api/resolve?site=main&pathname=/x/both";
    until(&service, path, |response| response.json()["data"]["documentId"] == "d2");
    for (parameter, locale) in [("", "en"), ("&locale=fr", "fr"), ("&locale=es", "en")] {
        let found = http::get(service.addr(), &format!("{path}{parameter}")).json();
        assert_eq!(found["data"]["locale"], locale, "{parameter}");
        assert_eq!(found["data"]["matched"]["params"]["locale"], locale, "{parameter}");
    }
}
