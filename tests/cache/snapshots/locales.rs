//! Locales are walked one after another, and a type that is not localized is walked once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{in_two_locales, paths, sitemap};
use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::{articles, list, refusal, setup};
use crate::support::http;
use crate::support::script::Script;
use crate::support::service::Setup;
use crate::support::settings::site;

#[test]
fn locales_are_walked_in_the_order_of_the_site() {
    let content = Content::many(&["en", "de"], 120);
    let cms = content.start();
    let service = in_two_locales(&cms).start();
    assert_eq!(paths(&sitemap(&service)).len(), 240);
    let targets = cms.targets();
    let queries = targets.iter().map(|target| Query::parse(target).expect("only lists"));
    let requests: Vec<_> = queries.map(|query| (query.locale, query.size)).collect();
    let walk = |locale: &str| [100, 100, 1].map(|size| (locale.to_owned(), size));
    assert_eq!(requests, [walk("en"), walk("de")].concat(), "two pages and a total each");
}

#[test]
fn type_whose_documents_have_no_locale_is_walked_once() {
    let cms = Cms::start(|_| list(&[("a", r#","slug":"x""#)], 100, 1));
    let service = in_two_locales(&cms).start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x"]);
    assert_eq!(cms.targets().len(), 2, "one page and the total");
}

#[test]
fn type_that_refuses_locales_is_walked_once_over_all_pages() {
    let content = Content::many(&[""], 250);
    let refused = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&refused);
    let cms = Cms::start(move |target| {
        if target.contains("fields[1]=locale") {
            counted.fetch_add(1, Ordering::Relaxed);
            return refusal(400, "ValidationError", r#"{"key":"locale"}"#);
        }
        assert!(!target.contains("locale"), "{target}");
        content.answer(target)
    });
    let service = in_two_locales(&cms).start();
    assert_eq!(paths(&sitemap(&service)).len(), 250);
    assert_eq!(refused.load(Ordering::Relaxed), 1, "asked with a locale once");
    assert_eq!(cms.targets().len(), 5, "refused, three pages, the total");
}

#[test]
fn empty_first_locale_does_not_end_the_walk() {
    let content = Content::new(&[("de", "a", "x")]);
    let cms = content.start();
    let service = in_two_locales(&cms).start();
    assert_eq!(paths(&sitemap(&service)), ["/de/articles/x"]);
}

/// `api::homepage.homepage` as a single type.
fn homepage(cms: &Cms) -> Setup {
    site("main")
        .locales(&["en", "de", "fr"])
        .rule("api::homepage.homepage", "/{locale}/{slug}")
        .strapi(cms)
        .without_endpoints()
        .more(
            "[[content_type]]\nuid = \"api::homepage.homepage\"\nendpoint = \"homepage\"\n\
             kind = \"single\"",
        )
        .setup()
}

fn homepages(cms: &Cms) -> Vec<String> {
    let service = homepage(cms).start();
    let target = "/api/build-sitemap?site=main&contentType=api::homepage.homepage";
    paths(&http::get(service.addr(), target))
}

#[test]
fn single_type_has_one_url_for_each_of_its_locales() {
    let cms = Cms::start(|target| {
        assert!(!target.contains("sort") && !target.contains("pagination"), "{target}");
        if target.contains("locale=de") {
            return refusal(404, "NotFoundError", "{}");
        }
        let locale = if target.contains("locale=fr") { "fr" } else { "en" };
        let document = format!(r#"{{"documentId":"h","locale":"{locale}","slug":"home"}}"#);
        Script::json(200, &format!(r#"{{"data":{document}}}"#))
    });
    assert_eq!(homepages(&cms), ["/en/home", "/fr/home"]);
    assert_eq!(cms.targets().len(), 3, "one for each locale");
}

#[test]
fn single_type_without_locales_is_requested_once() {
    let cms = Cms::start(|_| Script::json(200, r#"{"data":{"documentId":"h","slug":"home"}}"#));
    assert_eq!(homepages(&cms), ["/en/home"]);
    assert_eq!(cms.targets().len(), 1);
}

#[test]
fn walk_completes_with_one_request_at_a_time() {
    let content = Content::many(&["en", "de"], 120);
    let cms = content.start();
    let service = in_two_locales(&cms).env("FRONTEND_MAP__LIMITS__CMS_REQUESTS", "1").start();
    assert_eq!(paths(&sitemap(&service)).len(), 240);
    // The last row cannot be read, so that the key guessed for the next page is wrong.
    let cms = Cms::start(|target| {
        let bad = r#"x","documentId":5,"y":""#;
        match Query::parse(target).expect("only lists are asked for") {
            Query { size: 1, .. } => list(&[], 1, 3),
            Query { after, .. } if after == "a" => list(&[(bad, ""), ("c", EN)], 100, 2),
            _ => list(&[("a", EN), (bad, "")], 2, 3),
        }
    });
    let one = setup(&articles().strapi(&cms));
    let setup = one.env("FRONTEND_MAP__LIMITS__CMS_REQUESTS", "1");
    let service = setup.env("FRONTEND_MAP__LIMITS__WALK_DEADLINE_MS", "20000").start();
    assert_eq!(sitemap(&service).status, 200);
}

const EN: &str = r#","locale":"en","slug":"s""#;
