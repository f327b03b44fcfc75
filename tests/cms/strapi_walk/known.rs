//! Documents of the previous snapshot that a walk has not seen are requested by their ids.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::{SITEMAP, articles, list, refusal, setup, urls};
use crate::support::http;
use crate::support::service::Service;
use crate::support::wait::{until, until_so};

const SECRET: &str = "a-secret-of-the-test";

fn service(cms: &Cms, locales: &[&str]) -> Service {
    let setup = setup(&articles().locales(locales).strapi(cms));
    setup.env("FRONTEND_MAP__HOOKS__SECRET", SECRET).start()
}

/// Says that something has changed, which causes a walk.
fn hint(service: &Service) {
    let bearer = format!("Bearer {SECRET}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Length", "0")];
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &headers).status, 202);
}

/// Locale and ids of the lists of documents by their ids.
fn by_ids(cms: &Cms) -> Vec<(String, Vec<String>)> {
    let targets = cms.targets();
    let queries = targets.iter().filter_map(|target| Query::parse(target));
    let by_ids = queries.filter(|query| !query.ids.is_empty());
    by_ids.map(|query| (query.locale, query.ids)).collect()
}

fn until_count(service: &Service, count: usize) {
    until("a fresh list", || {
        let found = urls(&http::get(service.addr(), SITEMAP)).len();
        (found == count).then_some(())
    });
}

#[test]
fn unpublished_documents_are_requested_by_their_ids_in_lists_of_a_hundred() {
    let content = Content::many(&["en", "de"], 250);
    let cms = content.start();
    let service = service(&cms, &["en", "de"]);
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 500);
    assert_eq!(by_ids(&cms), [], "nothing was known before the first walk");
    (0..120).for_each(|n| content.unpublish("en", &format!("d{n:05}")));
    content.unpublish("de", "d00007");
    hint(&service);
    until_count(&service, 379);
    let lists = by_ids(&cms);
    let sizes: Vec<_> = lists.iter().map(|(locale, ids)| (locale.as_str(), ids.len())).collect();
    assert_eq!(sizes, [("en", 100), ("en", 20), ("de", 1)]);
    assert_eq!(lists[2].1, ["d00007"], "each locale has its own documents");
    let mut ids: Vec<_> = lists[..2].iter().flat_map(|(_, ids)| ids.clone()).collect();
    ids.sort();
    assert_eq!(ids, (0..120).map(|n| format!("d{n:05}")).collect::<Vec<_>>());
    for target in cms.targets().iter().filter(|target| target.contains("[$in]")) {
        assert!(target.contains("pagination[withCount]=false"), "{target}");
        assert!(target.len() < 12_000, "{}", target.len());
    }
}

#[test]
fn document_that_full_pages_leave_out_while_the_totals_move_is_not_lost() {
    let content = Content::many(&["en"], 250);
    let served = content.clone();
    let (lossy, skipped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (is_lossy, times) = (Arc::clone(&lossy), Arc::clone(&skipped));
    let cms = Cms::start(move |target| {
        let query = Query::parse(target).expect("only lists are asked for");
        if !is_lossy.load(Ordering::Relaxed) || !query.ids.is_empty() {
            return served.answer(target);
        }
        // In two walks, document 150 is neither on its page nor in a total, and one that the walk
        // has seen is unpublished.
        let walk = times.load(Ordering::Relaxed);
        if walk == 2 || !("d00099".."d00150").contains(&query.after.as_str()) {
            return served.answer(target);
        }
        served.unpublish("en", "d00150");
        let answer = served.answer(target);
        served.publish("en", "d00150", "s150");
        served.unpublish("en", &format!("d{walk:05}"));
        times.fetch_add(1, Ordering::Relaxed);
        answer
    });
    let service = service(&cms, &["en"]);
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 250);
    lossy.store(true, Ordering::Relaxed);
    hint(&service);
    until_so("two walks that lose a document", || skipped.load(Ordering::Relaxed) == 2);
    until_count(&service, 248);
    let found = urls(&http::get(service.addr(), SITEMAP));
    assert!(found.contains(&"https://www.example.com/en/articles/s150".to_owned()));
    let asked = by_ids(&cms);
    assert!(asked.iter().filter(|(_, ids)| ids.contains(&"d00150".to_owned())).count() >= 2);
}

#[test]
fn documents_without_locale_are_requested_without_one() {
    let content = Content::many(&[""], 3);
    let served = content.clone();
    let cms = Cms::start(move |target| {
        if target.contains("=locale") {
            return refusal(400, "ValidationError", r#"{"key":"locale"}"#);
        }
        served.answer(target)
    });
    let service = service(&cms, &["en", "de"]);
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 3);
    content.unpublish("", "d00001");
    hint(&service);
    until_count(&service, 2);
    assert_eq!(by_ids(&cms), [(String::new(), vec!["d00001".to_owned()])]);
}

#[test]
fn cms_that_ignores_the_filter_is_believed_only_where_the_totals_are_equal() {
    let content = Content::many(&["en"], 3);
    let served = content.clone();
    let moves = Arc::new(AtomicBool::new(false));
    let moving = Arc::clone(&moves);
    let cms = Cms::start(move |target| {
        let query = Query::parse(target).expect("only lists are asked for");
        if !query.ids.is_empty() {
            return list(&[("d00000", r#","locale":"en""#)], 1, None);
        }
        // The last total is larger than the first by one document.
        if query.size == 1 && moving.load(Ordering::Relaxed) {
            return list(&[], 1, 4);
        }
        served.answer(target)
    });
    let service = service(&cms, &["en"]);
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 3);
    content.unpublish("en", "d00001");
    hint(&service);
    until_count(&service, 2);
    moves.store(true, Ordering::Relaxed);
    content.unpublish("en", "d00002");
    hint(&service);
    until("a marked snapshot", || {
        let answer = http::get(service.addr(), SITEMAP);
        assert_eq!(urls(&answer).len(), 2);
        let status = answer.header("cache-status").unwrap_or_default();
        status.ends_with("detail=\"the CMS fails\"").then_some(())
    });
    moves.store(false, Ordering::Relaxed);
    until_count(&service, 1);
}
