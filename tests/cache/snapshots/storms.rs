//! Many webhooks at once: nothing is lost, and the CMS gets few requests.

use std::sync::{Arc, Mutex};

use super::dependents::{CATEGORY, Fixture};
use super::hook::post_all;
use super::{paths, sitemap};
use crate::support::wait::until_so;

const ARTICLE: &str = "plugin::cms.article";

/// `STORM_EVENTS=10000 cargo test --test cache storms` sends as many.
fn storm_size() -> usize {
    std::env::var("STORM_EVENTS").map_or(500, |count| count.parse().expect("a number"))
}

/// `STORM_DEPENDENTS=40000` gives one category as many articles.
fn dependents() -> usize {
    std::env::var("STORM_DEPENDENTS").map_or(400, |count| count.parse().expect("a number"))
}

fn ids(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("d{n:05}")).collect()
}

fn articles<'a>(
    ids: &'a [String],
    category: &'static str,
    slug: &'static str,
) -> Vec<(&'a str, &'static str, &'static str)> {
    ids.iter().map(|id| (&**id, category, slug)).collect()
}

fn event(uid: &str, id: &str) -> String {
    format!(r#"{{"event":"entry.publish","uid":"{uid}","entry":{{"documentId":"{id}"}}}}"#)
}

/// Sends these events in a few seconds; returns the requests with a filter meanwhile, and the walks.
fn storm(fixture: &Fixture, events: &[String]) -> (usize, usize) {
    let (filtered, walks) = (fixture.filtered().len(), fixture.walks());
    post_all(&fixture.service, events);
    (fixture.filtered().len() - filtered, fixture.walks() - walks)
}

#[test]
fn storm_of_events_for_some_documents_costs_few_requests() {
    let ids = ids(50);
    let fixture = Fixture::start(&articles(&ids, "c1", "old"));
    fixture.set(&articles(&ids, "c2", "new"));
    let events: Vec<String> =
        (0..storm_size()).map(|n| event(ARTICLE, &ids[n % ids.len()])).collect();
    let begun = std::time::Instant::now();
    storm(&fixture, &events);
    let expected: Vec<String> = ids.iter().map(|id| format!("/new/{id}")).collect();
    until_so("all of them", || paths(&sitemap(&fixture.service)) == expected);
    // A round each second and one more, with the documents and the relation.
    let rounds = usize::try_from(begun.elapsed().as_secs()).expect("no year") + 3;
    let filtered = fixture.filtered().len();
    assert!(filtered <= rounds * 3, "{filtered} requests in {rounds} rounds");
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn storm_of_events_for_a_document_with_most_dependents_is_followed_by_walks() {
    let ids = ids(dependents());
    let fixture = Fixture::start(&articles(&ids, "c1", "old"));
    let mut new = articles(&ids, "c1", "new");
    (new[0].1, new[0].2) = ("", "");
    fixture.set(&new);
    let events = vec![event(CATEGORY, "c1"); storm_size()];
    let (filtered, walks) = storm(&fixture, &events);
    let expected: Vec<String> = ids[1..].iter().map(|id| format!("/new/{id}")).collect();
    until_so("all of them", || paths(&sitemap(&fixture.service)) == expected);
    assert!(walks <= filtered + 1, "{walks} walks after {filtered} lists");
}

#[test]
fn storm_of_events_for_unknown_documents_hides_no_other() {
    let ids = ids(50);
    let fixture = Fixture::start(&articles(&ids, "c1", "old"));
    fixture.set(&articles(&ids, "c1", "new"));
    let mut events: Vec<String> =
        (0..storm_size()).map(|n| event(ARTICLE, &format!("unknown{n}"))).collect();
    events.insert(events.len() / 2, event(CATEGORY, "c1"));
    storm(&fixture, &events);
    let expected: Vec<String> = ids.iter().map(|id| format!("/new/{id}")).collect();
    until_so("all of them", || paths(&sitemap(&fixture.service)) == expected);
}

#[test]
fn dependents_that_change_while_they_are_listed_are_all_found() {
    // The dependents of the category are less than a quarter, and do not fit on one page.
    let (ids, others) = (ids(150), (0..600).map(|n| format!("o{n:05}")).collect::<Vec<_>>());
    let with = |own: Vec<(&str, &'static str, &'static str)>| {
        let mut all: Vec<(String, &'static str, &'static str)> =
            own.into_iter().map(|(id, category, slug)| (id.to_owned(), category, slug)).collect();
        all.extend(others.iter().map(|id| (id.clone(), "c2", "two")));
        all
    };
    let fixture = Fixture::start(&[]);
    *fixture.articles.lock().expect("no panic") = with(articles(&ids, "c1", "old"));
    fixture.hint("media.update", "", "");
    until_so("all of them", || paths(&sitemap(&fixture.service)).len() == 750);
    *fixture.articles.lock().expect("no panic") = with(articles(&ids, "c1", "new"));
    let (content, left) = (fixture.articles.clone(), Arc::<Mutex<Vec<String>>>::default());
    let leaving = Arc::clone(&left);
    fixture.intercept(move |target, script| {
        // Two documents leave the category after each page that is read, four in all.
        let mut leaving = leaving.lock().expect("no panic");
        if target.contains("[category][documentId]") && leaving.len() < 4 {
            let mut articles = content.lock().expect("no panic");
            for one in articles.iter_mut().filter(|one| one.1 == "c1").take(2) {
                (one.1, one.2) = ("", "");
                leaving.push(one.0.clone());
            }
        }
        script
    });
    fixture.hint("entry.publish", CATEGORY, "c1");
    until_so("they have moved", || left.lock().expect("no panic").len() == 4);
    let events: Vec<String> =
        left.lock().expect("no panic").iter().map(|id| event(ARTICLE, id)).collect();
    storm(&fixture, &events);
    let mut expected: Vec<String> = ids[4..].iter().map(|id| format!("/new/{id}")).collect();
    expected.extend(others.iter().map(|id| format!("/two/{id}")));
    until_so("those that are left", || paths(&sitemap(&fixture.service)) == expected);
}
