use std::time::{SystemTime, UNIX_EPOCH};

use futures::FutureExt;

use super::*;
use frontend_map_catalog::snapshot::{Builder, Listing, Patch, Snapshot};
use frontend_map_cms::{ContentError, Projection};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

mod invalidations;
mod reads_in_flight;

const UID: &str = "api::a.a";
const FRESHNESS: Freshness = Freshness {
    soft: Duration::from_mins(1),
    hard: Duration::from_hours(1),
    check: Duration::from_mins(10),
    at_start: false,
    ready: Duration::from_secs(30),
    cms_share: 0.1,
};
const FAILURE: ContentError = ContentError::TimedOut;

fn entry() -> Entry {
    let uid = ContentTypeUid::parse(UID).unwrap();
    let query = ContentQuery::new(uid, Projection::new(Vec::new()));
    Entry::new("main".to_owned(), query, Arc::default())
}

/// The one URL `/<slug>`.
fn snapshot(slug: &str) -> Snapshot {
    let rule = Rule::new(ContentTypeUid::parse(UID).unwrap(), Template::parse("/{slug}").unwrap());
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    let rules = RuleSet::new(locales, LocalePrefix::Always, vec![rule]);
    let base = BaseUrl::parse("https://www.example.com").unwrap();
    let hosts = Hosts::one(base, rules.locales().as_slice().len());
    let mut part = Listing { rules: &rules, hosts: &hosts, uid: UID }.part();
    part.add(&Document {
        id: "d".into(),
        locale: DocumentLocale::None,
        unpublished: false,
        fields: FieldPath::parse("slug").into_iter().collect(),
        values: vec![FieldValue::Text(slug.to_owned().into())],
    });
    Builder { path_table: false }.finish(vec![part]).unwrap()
}

/// The snapshot that a refresh makes of it.
fn cached(entry: &Entry, slug: &str) -> CachedSnapshot {
    CachedSnapshot::new(snapshot(slug), Arc::from([]), Instant::now(), entry.cached().as_ref())
}

fn begin(entry: &Entry) -> Arc<Flight> {
    entry.join_or_begin(None, false).1.expect("no refresh is in flight")
}

/// Ends the refresh in flight, as `install` does.
fn complete(entry: &Entry, outcome: Outcome) -> Completed {
    match outcome {
        Ok(cached) => {
            let replaced = entry.replace(cached, Event::Walked).expect("a walk is used");
            let Replaced { cached, failed_before, .. } = replaced;
            Completed { orphaned: cached.orphaned, outcome: Ok(cached), failed_before }
        }
        Err(error) => entry.fail(error),
    }
}

/// A refresh that begins now, and its end, as if no time had passed.
fn refresh(entry: &Entry, result: Result<&str, ContentError>) -> Completed {
    let flight = begin(entry);
    let completed = complete(entry, result.map(|slug| cached(entry, slug)));
    flight.complete(completed.outcome.clone());
    completed
}

/// What a waiter has now.
fn outcome(waiter: Waiter) -> Option<Outcome> {
    waiter.outcome().now_or_never()
}

#[test]
fn requests_follow_the_refresh_in_flight() {
    let entry = entry();
    let flight = begin(&entry);
    let (waiter, second) = entry.join_or_begin(Some(FRESHNESS), false);
    assert!(second.is_none());
    flight.complete(complete(&entry, Ok(cached(&entry, "x"))).outcome);
    let cached = outcome(waiter).expect("it is complete").expect("a snapshot");
    assert_eq!(cached.snapshot.listed_count(), 1);
    begin(&entry);
}

#[test]
fn snapshot_that_is_adopted_after_the_first_look_is_not_waited_for() {
    let entry = entry();
    assert!(matches!(entry.look_up(FRESHNESS), Lookup::Missing));
    assert!(entry.replace(cached(&entry, "x"), Event::Adopted).is_some());
    let (waiter, flight) = entry.join_or_begin(Some(FRESHNESS), true);
    assert!(flight.is_none() && !entry.is_refreshing(), "the next publication may come much later");
    assert!(matches!(outcome(waiter), Some(Ok(_))));
}

#[test]
fn snapshot_that_is_adopted_after_a_refresh_has_begun_ends_it() {
    for follows in [true, false] {
        let entry = entry();
        let (waiter, flight) = entry.join_or_begin(Some(FRESHNESS), follows);
        let flight = flight.expect("none was in flight");
        let replaced = entry.replace(cached(&entry, "x"), Event::Adopted).expect("it is used");
        let ended = replaced.flight.expect("it was in flight");
        assert!(Arc::ptr_eq(&ended, &flight) && !entry.is_in_flight(&flight));
        ended.complete(Ok(replaced.cached));
        assert!(matches!(outcome(waiter), Some(Ok(_))));
        // The instance has become a follower in the meantime.
        assert!(!entry.apply_to(&flight, Event::Follow) && !entry.is_refreshing());
    }
}

#[test]
fn event_about_a_refresh_that_has_ended_concerns_no_later_one() {
    let entry = entry();
    let ended = begin(&entry);
    complete(&entry, Err(FAILURE));
    let (_waiter, next) = entry.join_or_begin(None, true);
    let next = next.expect("none is in flight");
    for event in [Event::Walk, Event::Abandoned] {
        assert!(!entry.apply_to(&ended, event));
        assert!(entry.is_following() && entry.is_in_flight(&next));
    }
    assert!(entry.apply_to(&next, Event::Walk) && !entry.is_following());
}

#[test]
fn waiters_of_a_refresh_that_is_abandoned_get_an_error() {
    let entry = entry();
    let (waiter, flight) = entry.join_or_begin(None, false);
    let flight = flight.expect("none was in flight");
    assert!(entry.apply_to(&flight, Event::Abandoned));
    drop(flight);
    assert!(matches!(outcome(waiter), Some(Err(ContentError::Unavailable { .. }))));
    begin(&entry);
}

#[test]
fn refresh_knows_whether_the_one_before_failed() {
    let entry = entry();
    assert!(!refresh(&entry, Err(FAILURE)).failed_before);
    assert!(refresh(&entry, Err(FAILURE)).failed_before);
    assert!(refresh(&entry, Ok("x")).failed_before);
    assert!(!refresh(&entry, Ok("x")).failed_before);
}

#[test]
fn snapshot_of_the_store_takes_the_place_of_no_other_one() {
    let entry = entry();
    assert!(entry.replace(cached(&entry, "x"), Event::Stored).is_some());
    assert!(entry.replace(cached(&entry, "y"), Event::Stored).is_none());
    assert!(entry.has_pending_refresh());
}

#[test]
fn date_changes_with_the_listed_urls() {
    let entry = entry();
    let changed = |slug| {
        refresh(&entry, Ok(slug));
        entry.cached().unwrap().changed
    };
    let first = changed("x");
    assert_eq!(changed("x"), first);
    entry.locked.lock().state.cached.as_mut().unwrap().changed = UNIX_EPOCH;
    assert_eq!(changed("x"), UNIX_EPOCH, "the URLs are the same");
    assert_ne!(changed("y"), UNIX_EPOCH);
}

#[test]
fn date_is_a_whole_second_later_than_any_other_list() {
    let entry = entry();
    let before = SystemTime::now();
    refresh(&entry, Ok("x"));
    let changed = entry.cached().unwrap().changed;
    let since = changed.duration_since(UNIX_EPOCH).unwrap();
    assert_eq!(since.subsec_nanos(), 0);
    // A client that got another list before has an earlier date.
    assert!(changed > before && changed <= SystemTime::now() + Duration::from_secs(1));
}

#[test]
fn patches_are_kept_for_the_refresh_in_flight_alone() {
    let entry = entry();
    let patch = |id: &str| Patch { id: id.to_owned(), versions: Vec::new(), is_partial: false };
    let ids = |since: Instant| -> Vec<String> {
        entry.patches_since(since).into_iter().map(|patch| patch.id).collect()
    };
    let begun = Instant::now();
    let later = begun + Duration::from_secs(1);
    entry.keep_patches(later, &[patch("a")]);
    assert!(ids(begun).is_empty(), "no refresh is in flight that could have missed it");
    for outcome in [Err(FAILURE), Ok(cached(&entry, "x"))] {
        let _flight = begin(&entry);
        entry.keep_patches(begun, &[patch("a"), patch("b")]);
        assert!(ids(begun).is_empty(), "the refresh began then");
        entry.keep_patches(later, &[patch("a")]);
        entry.keep_patches(later, &[patch("a")]);
        assert_eq!(ids(begun), ["a"]);
        complete(&entry, outcome);
        assert!(ids(begun).is_empty(), "the next refresh reads it itself");
    }
}

#[test]
fn last_tried_is_the_beginning_of_the_snapshot_or_a_later_failure() {
    let entry = entry();
    assert_eq!(entry.last_tried(), None);
    refresh(&entry, Ok("a"));
    assert_eq!(entry.last_tried(), entry.cached().map(|cached| cached.begun));
    refresh(&entry, Err(FAILURE));
    assert!(entry.last_tried() > entry.cached().map(|cached| cached.begun));
    refresh(&entry, Ok("b"));
    assert_eq!(entry.last_tried(), entry.cached().map(|cached| cached.begun));
}

#[test]
fn snapshot_of_an_orphaned_entry_has_no_date() {
    let entry = entry();
    let (waiter, flight) = entry.join_or_begin(None, false);
    entry.orphan();
    let completed = complete(&entry, Ok(cached(&entry, "x")));
    assert!(completed.orphaned);
    flight.expect("none was in flight").complete(completed.outcome);
    let cached = outcome(waiter).expect("it is complete").expect("a snapshot");
    assert_eq!(cached.last_modified(cached.changed), None, "another list is in use as well");
    refresh(&entry, Ok("y"));
    let cached = entry.cached().expect("for its waiter");
    assert_eq!(cached.last_modified(cached.changed), None);
}

#[test]
fn refresh_is_abandoned_when_its_entry_is_orphaned_and_all_waiters_have_left() {
    let entry = entry();
    let (waiter, flight) = entry.join_or_begin(None, false);
    let flight = flight.expect("none was in flight");
    let is_abandoned = |flight: &Flight| entry.abandoned(flight).now_or_never().is_some();
    assert!(!is_abandoned(&flight));
    entry.orphan();
    assert!(!is_abandoned(&flight), "one waits");
    drop(waiter);
    assert!(is_abandoned(&flight));
    assert!(!entry.is_refreshing());
}

#[test]
fn refresh_without_waiters_continues_while_its_entry_is_in_use() {
    let entry = entry();
    let flight = begin(&entry);
    assert!(!flight.has_waiters());
    assert!(entry.abandoned(&flight).now_or_never().is_none());
}

#[test]
fn entry_that_adopts_another_one_has_its_snapshot_and_no_refresh_in_flight() {
    let previous = entry();
    refresh(&previous, Ok("x"));
    let _in_flight = begin(&previous);
    let entry = Entry::adopting(&previous);
    assert!(entry.has_pending_refresh() && !entry.is_refreshing());
    let changed = |entry: &Entry| entry.cached().expect("a snapshot").changed;
    assert_eq!(changed(&entry), changed(&previous));
}
