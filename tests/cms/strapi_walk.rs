//! Walks through the real binary: their requests, and the proof that no document is missing.

mod counts;
mod known;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::cms::Cms;
use crate::support::front_of_cms::{
    ID, SITEMAP, articles, assert_failure, in_front_of, list, one_url, refusal, setup, urls,
};
use crate::support::http;
use crate::support::script::Script;

#[test]
fn walk_pages_by_key_until_a_short_page_and_then_requests_the_total() {
    let cms = Cms::start(|target| {
        let row = r#","locale":"en","slug":"s","publishedAt":"2024"#;
        let row = format!("{row}\"");
        if target.contains("pageSize]=1&") {
            list(&[("a", &row)], 1, 3)
        } else if target.contains("[$gt]=b") {
            list(&[("c", r#","locale":"en","slug":"t""#)], 2, 1)
        } else {
            list(&[("a", &row), ("b", r#","locale":"en","slug":"u""#)], 2, 3)
        }
    });
    let service = in_front_of(&cms);
    let found = urls(&http::get(service.addr(), SITEMAP));
    let base = "https://www.example.com/en/articles/";
    assert_eq!(found, ["s", "t", "u"].map(|slug| format!("{base}{slug}")));
    let paging = "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=";
    let fields =
        "locale=en&fields[0]=publishedAt&fields[1]=locale&fields[2]=slug&fields[3]=updatedAt";
    let count = "pagination[withCount]=true";
    let expected = [
        format!("/api/cms/articles?{paging}100&{count}&{fields}"),
        format!("/api/cms/articles?{paging}100&{count}&filters[documentId][$gt]=b&{fields}"),
        format!("/api/cms/articles?{paging}1&{count}&fields[0]=documentId&locale=en"),
    ];
    assert_eq!(cms.targets(), expected);
}

#[test]
fn walk_starts_again_where_rows_and_totals_disagree() {
    let walks = AtomicUsize::new(0);
    let cms = Cms::start(move |target| {
        let row = r#","locale":"en","slug":"s""#;
        if target.contains("pageSize]=1&") {
            return list(&[("a", row)], 1, 1);
        }
        let total = if walks.fetch_add(1, Ordering::Relaxed) == 0 { 2 } else { 1 };
        if total == 2 { list(&[], 100, total) } else { list(&[("a", row)], 100, total) }
    });
    let service = in_front_of(&cms);
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 1);
    assert_eq!(cms.targets().len(), 3, "a page without its rows, a page, the total");
}

#[test]
fn totals_that_keep_moving_are_503_and_totals_that_are_always_wrong_are_502() {
    let asked = AtomicUsize::new(0);
    let cms = Cms::start(move |_| list(&[], 100, 5 + asked.fetch_add(1, Ordering::Relaxed)));
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_failure(&response, 503, "ServiceUnavailableError");
    assert_eq!(cms.targets().len(), 4, "one walk and three more");
    let cms = Cms::start(|_| list(&[], 100, 5));
    assert_failure(&http::get(in_front_of(&cms).addr(), SITEMAP), 502, "BadGatewayError");
}

#[test]
fn bad_item_behind_the_last_key_of_a_page_is_counted_once() {
    let cms = Cms::start(|target| {
        let row = |slug: &str| format!(r#","locale":"en","slug":"{slug}""#);
        let bad = r#"x","documentId":5,"y":""#;
        if target.contains("pageSize]=1&") {
            list(&[], 1, 3)
        } else if target.contains("[$gt]=a") {
            list(&[(bad, ""), ("c", &row("c"))], 100, 2)
        } else {
            list(&[("a", &row("a")), (bad, "")], 2, 3)
        }
    });
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_eq!(urls(&response).len(), 2);
    assert_eq!(response.header("x-skipped-documents").as_deref(), Some("1"));
}

#[test]
fn type_that_is_not_localized_is_walked_once_under_the_default_locale() {
    let cms = Cms::start(|target| {
        if target.contains("=locale") {
            let details = r#"{"key":"locale","path":"locale","source":"query","param":"fields"}"#;
            return refusal(400, "ValidationError", details);
        }
        assert!(!target.contains("locale"), "{target}");
        if target.contains(ID) {
            return Script::json(200, &format!(r#"{{"data":{{"documentId":"{ID}","slug":"s"}}}}"#));
        }
        list(&[(ID, r#","slug":"s""#)], 100, 1)
    });
    let url = format!("http://{}", cms.addr());
    let service = setup(&articles().locales(&["de", "en", "fr"]).strapi_at(&url)).start();
    let found = urls(&http::get(service.addr(), SITEMAP));
    assert_eq!(found, ["https://www.example.com/de/articles/s"]);
    assert_eq!(cms.targets().len(), 3, "refused, page, total");
    for (requests, locale) in [(4, "en"), (5, "fr")] {
        let response = http::get(service.addr(), &format!("{}&locale={locale}", one_url()));
        assert_eq!(response.json()["data"]["path"], "/de/articles/s");
        assert_eq!(cms.targets().len(), requests, "the refusal is remembered");
    }
}

#[test]
fn documents_of_another_locale_of_the_site_are_502() {
    let cms = Cms::start(|_| list(&[(ID, r#","locale":"en","slug":"s""#)], 100, 1));
    let service = setup(&articles().locales(&["en", "de"]).strapi(&cms)).start();
    assert_failure(&http::get(service.addr(), SITEMAP), 502, "BadGatewayError");
}

#[test]
fn documents_all_of_other_locales_are_502_on_a_site_of_one_locale() {
    let rows = [("a", r#","locale":"de","slug":"s""#), ("b", r#","locale":"xx","slug":"t""#)];
    let cms = Cms::start(move |_| list(&rows, 100, 2));
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_failure(&response, 502, "BadGatewayError");
}

#[test]
fn single_document_of_another_locale_is_skipped() {
    let rows = [("a", r#","locale":"de","slug":"s""#), ("b", r#","locale":"en","slug":"t""#)];
    let cms = Cms::start(move |_| list(&rows, 100, 2));
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_eq!(urls(&response), ["https://www.example.com/en/articles/t"]);
    assert_eq!(response.header("x-skipped-documents").as_deref(), Some("1"));
}

#[test]
fn document_in_another_locale_than_requested_is_404() {
    let body = format!(r#"{{"data":{{"documentId":"{ID}","locale":"de","slug":"s"}}}}"#);
    let cms = Cms::start(move |_| Script::json(200, &body));
    let service = setup(&articles().locales(&["en", "de"]).strapi(&cms)).start();
    assert_failure(&http::get(service.addr(), &one_url()), 404, "NotFoundError");
}

#[test]
fn type_that_is_localized_in_only_one_response_is_502() {
    let row = r#","locale":"en","slug":"s""#;
    // The CMS refuses the locale in the second walk, or on the second page.
    for at in ["locale=de", "[$gt]=a"] {
        let cms = Cms::start(move |target| match target {
            _ if target.contains(at) => refusal(400, "ValidationError", r#"{"key":"locale"}"#),
            _ if target.contains("[$gt]") => list(&[], 1, 0),
            _ => list(&[("a", row)], 1, 1),
        });
        let service = setup(&articles().locales(&["en", "de"]).strapi(&cms)).start();
        let response = http::get(service.addr(), SITEMAP);
        assert_failure(&response, 502, "BadGatewayError");
    }
}
