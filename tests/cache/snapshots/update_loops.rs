//! Reads of named documents and lists of their dependents at the same time: neither waits for the
//! other, and an older read never replaces a newer one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dependents::{CATEGORY, Fixture};
use super::{paths, sitemap};
use crate::support::front_of_cms::refusal;
use crate::support::wait::until_so;

const ARTICLE: &str = "plugin::cms.article";
const OF_C1: &str = "filters[category][documentId][$eq]=c1";
const UPDATED: &str = "documents were updated";

/// Holds the first response to a request with this text, as it is when the request arrives.
struct Held(Arc<AtomicBool>);

impl Held {
    fn first(fixture: &Fixture, text: &'static str) -> Self {
        let (held, is_first) = (Arc::new(AtomicBool::new(true)), AtomicBool::new(true));
        let waits = Arc::clone(&held);
        fixture.intercept(move |target, script| {
            if target.contains(text) && is_first.swap(false, Ordering::Relaxed) {
                until_so("the test lets it go", || !waits.load(Ordering::Relaxed));
            }
            script
        });
        Self(held)
    }

    fn release(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

fn is_requested(fixture: &Fixture, text: &str) {
    until_so("the request", || fixture.filtered().iter().any(|target| target.contains(text)));
}

fn updates(fixture: &Fixture) -> usize {
    fixture.service.log().matches(UPDATED).count()
}

#[test]
fn named_document_does_not_wait_for_a_list_of_dependents() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c2", "two")]);
    let held = Held::first(&fixture, OF_C1);
    fixture.set(&[("a", "c1", "new"), ("b", "c2", "two")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    is_requested(&fixture, OF_C1);
    fixture.set(&[("a", "c1", "new"), ("b", "c3", "three")]);
    fixture.hint("entry.publish", ARTICLE, "b");
    fixture.lists(&["/old/a", "/three/b"]);
    held.release();
    fixture.lists(&["/new/a", "/three/b"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn list_of_dependents_does_not_replace_a_document_that_was_read_later() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c1", "old")]);
    fixture.set(&[("a", "c1", "new"), ("b", "c1", "new")]);
    let held = Held::first(&fixture, OF_C1);
    fixture.hint("entry.publish", CATEGORY, "c1");
    is_requested(&fixture, OF_C1);
    fixture.set(&[("a", "c2", "two"), ("b", "c1", "new")]);
    fixture.hint("entry.publish", ARTICLE, "a");
    fixture.lists(&["/old/b", "/two/a"]);
    held.release();
    fixture.lists(&["/new/b", "/two/a"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn named_document_does_not_replace_a_list_that_was_read_later() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c1", "old")]);
    // From then on it is known where the relation leads.
    fixture.hint("entry.publish", CATEGORY, "c1");
    is_requested(&fixture, OF_C1);
    let held = Held::first(&fixture, "filters[documentId][$eq]=a");
    fixture.hint("entry.publish", ARTICLE, "a");
    is_requested(&fixture, "filters[documentId][$eq]=a");
    fixture.set(&[("a", "c1", "new"), ("b", "c1", "new")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    fixture.lists(&["/new/a", "/new/b"]);
    let before = updates(&fixture);
    held.release();
    until_so("the older read ends", || updates(&fixture) > before);
    assert_eq!(paths(&sitemap(&fixture.service)), ["/new/a", "/new/b"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn relation_that_a_read_in_flight_finds_is_updated_after_the_withdrawal_of_its_target() {
    let fixture = Fixture::start(&[("a", "c2", "two"), ("b", "c2", "two"), ("d", "c1", "one")]);
    fixture.set(&[("a", "c1", "one"), ("b", "c2", "two"), ("d", "c1", "one")]);
    let held = Held::first(&fixture, "filters[documentId][$eq]=a");
    fixture.hint("entry.publish", ARTICLE, "a");
    is_requested(&fixture, "filters[documentId][$eq]=a");
    // No snapshot knows yet that "a" reads the category.
    fixture.set(&[("a", "", ""), ("b", "c2", "two"), ("d", "", "")]);
    fixture.hint("entry.unpublish", CATEGORY, "c1");
    held.release();
    fixture.lists(&["/two/b"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn hint_that_arrives_while_dependents_are_listed_is_followed_by_another_list() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c1", "old")]);
    fixture.set(&[("a", "c1", "new"), ("b", "c1", "new")]);
    let held = Held::first(&fixture, OF_C1);
    fixture.hint("entry.publish", CATEGORY, "c1");
    is_requested(&fixture, OF_C1);
    fixture.set(&[("a", "c1", "newest"), ("b", "", "")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    held.release();
    fixture.lists(&["/newest/a"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn list_that_fails_does_not_delay_another_one() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c2", "old")]);
    let fails = Arc::new(AtomicBool::new(true));
    let is_failing = Arc::clone(&fails);
    fixture.intercept(move |target, script| {
        if target.contains(OF_C1) && is_failing.load(Ordering::Relaxed) {
            return refusal(500, "InternalServerError", "{}");
        }
        script
    });
    fixture.set(&[("a", "c1", "new"), ("b", "c2", "new")]);
    // As far as the responses show, these types are different ones.
    fixture.send("entry.publish", CATEGORY, "c1");
    fixture.send("entry.publish", "api::tag.tag", "c2");
    fixture.lists(&["/new/b", "/old/a"]);
    fails.store(false, Ordering::Relaxed);
    fixture.lists(&["/new/a", "/new/b"]);
    assert_eq!(fixture.walks(), 1);
}
