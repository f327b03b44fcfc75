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
    let query = ContentQuery {
        uid,
        projection: Projection::new(Vec::new()),
        alternatives: Vec::new(),
        selection: None,
    };
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
    entry.join_or_begin().1.expect("no refresh is in flight")
}

/// Ends the refresh in flight, as `install` does.
fn complete(entry: &Entry, outcome: Outcome) -> Completed {
    match outcome {
        Ok(cached) => {
            let replaced = entry.replace(cached, Source::Walk).expect("a walk is used");
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

/// Lets seconds pass.
fn pass(entry: &Entry, seconds: u64) {
    let earlier = |at: &mut Instant| {
        *at = at.checked_sub(Duration::from_secs(seconds)).expect("the clock began before");
    };
    let mut state = entry.state.lock();
    state.failed.iter_mut().for_each(earlier);
    if let Some(cached) = &mut state.cached {
        earlier(&mut cached.begun);
        earlier(&mut cached.completed);
    }
}

/// Whether there is a snapshot, and then whether the last refresh failed and whether one is due.
fn found(entry: &Entry) -> Option<(bool, bool)> {
    match entry.look_up(FRESHNESS) {
        Lookup::Found { failing, due, .. } => Some((failing, due)),
        Lookup::Missing => None,
    }
}

#[test]
fn copy_ages_from_fresh_to_due_to_nothing() {
    let entry = entry();
    assert_eq!(found(&entry), None);
    assert!(refresh(&entry, Ok("x")).outcome.is_ok());
    assert_eq!(found(&entry), Some((false, false)));
    pass(&entry, 59);
    assert_eq!(found(&entry), Some((false, false)));
    pass(&entry, 1);
    assert_eq!(found(&entry), Some((false, true)));
    pass(&entry, 3600 - 61);
    assert_eq!(found(&entry), Some((false, true)));
    pass(&entry, 1);
    assert_eq!(found(&entry), None);
    assert!(entry.cached().is_some(), "an index may still use it");
}

#[test]
fn requests_follow_the_refresh_in_flight() {
    let entry = entry();
    let flight = begin(&entry);
    let (waiter, second) = entry.join_or_begin();
    assert!(second.is_none());
    flight.complete(complete(&entry, Ok(cached(&entry, "x"))).outcome);
    let outcome = waiter.outcome().now_or_never().expect("it is complete").expect("a snapshot");
    assert_eq!(outcome.snapshot.listed_count(), 1);
    begin(&entry);
}

#[test]
fn no_refresh_is_due_while_one_is_in_flight() {
    let entry = entry();
    refresh(&entry, Ok("x"));
    pass(&entry, 60);
    let flight = begin(&entry);
    assert_eq!(found(&entry), Some((false, false)));
    // Its task has panicked.
    drop(flight);
    assert_eq!(found(&entry), Some((false, true)));
    begin(&entry);
}

#[test]
fn waiters_of_a_refresh_that_panics_get_an_error() {
    let entry = entry();
    let (waiter, flight) = entry.join_or_begin();
    drop(flight);
    let outcome = waiter.outcome().now_or_never().expect("it is over");
    assert!(matches!(outcome, Err(ContentError::Unavailable { .. })));
}

#[test]
fn next_refresh_is_due_no_sooner_than_the_last_one_took() {
    let entry = entry();
    let begun = Instant::now().checked_sub(Duration::from_mins(5)).unwrap();
    begin(&entry);
    complete(&entry, Ok(CachedSnapshot { begun, ..cached(&entry, "x") }));
    assert_eq!(found(&entry), Some((false, false)), "beyond the soft limit, but just complete");
    pass(&entry, 299);
    assert_eq!(found(&entry), Some((false, false)));
    pass(&entry, 2);
    assert_eq!(found(&entry), Some((false, true)));
}

#[test]
fn after_a_failure_the_next_refresh_waits_while_there_is_a_copy() {
    let entry = entry();
    refresh(&entry, Ok("x"));
    pass(&entry, 60);
    let failed = refresh(&entry, Err(FAILURE));
    assert!(failed.outcome.is_err() && !failed.failed_before && !entry.is_refresh_wanted());
    assert_eq!(found(&entry), Some((true, false)));
    pass(&entry, RETRY_DELAY.as_secs());
    assert_eq!(found(&entry), Some((true, true)));
    assert!(refresh(&entry, Err(FAILURE)).failed_before);
    pass(&entry, RETRY_DELAY.as_secs());
    assert!(refresh(&entry, Ok("x")).failed_before);
    assert_eq!(found(&entry), Some((false, false)));
}

#[test]
fn outdated_copy_is_due() {
    let entry = entry();
    refresh(&entry, Ok("x"));
    pass(&entry, 1);
    entry.mark_outdated();
    assert_eq!(found(&entry), Some((false, true)));
    refresh(&entry, Ok("x"));
    assert!(!entry.is_refresh_wanted());
    assert_eq!(found(&entry), Some((false, false)));
}

#[test]
fn invalidation_during_a_refresh_causes_one_more() {
    let entry = entry();
    refresh(&entry, Ok("x"));
    let _flight = begin(&entry);
    entry.mark_outdated();
    assert!(!entry.is_refresh_wanted(), "one is in flight");
    complete(&entry, Ok(cached(&entry, "x")));
    assert!(entry.is_refresh_wanted());
    refresh(&entry, Ok("x"));
    assert!(!entry.is_refresh_wanted());
}

#[test]
fn urgent_refresh_waits_for_the_one_in_flight_alone() {
    let entry = entry();
    refresh(&entry, Ok("x"));
    let _flight = begin(&entry);
    entry.mark_urgent();
    assert!(!entry.is_urgent(), "one is in flight");
    complete(&entry, Ok(cached(&entry, "x")));
    assert!(entry.is_urgent());
    refresh(&entry, Ok("x"));
    assert!(!entry.is_urgent() && !entry.is_refresh_wanted());
}

#[test]
fn refresh_is_asked_for_once() {
    let entry = entry();
    refresh(&entry, Ok("x"));
    assert!(entry.want_refresh() && entry.is_refresh_wanted());
    assert!(!entry.want_refresh(), "it is asked for");
    let _flight = begin(&entry);
    assert!(!entry.is_refresh_wanted());
}

#[test]
fn copy_stays_outdated_until_a_refresh_succeeds() {
    let entry = entry();
    refresh(&entry, Ok("x"));
    entry.mark_outdated();
    for _ in 0..2 {
        refresh(&entry, Err(FAILURE));
        assert!(!entry.is_refresh_wanted(), "not at once");
        assert_eq!(found(&entry), Some((true, false)));
        pass(&entry, RETRY_DELAY.as_secs());
        assert_eq!(found(&entry), Some((true, true)));
    }
    refresh(&entry, Ok("x"));
    assert_eq!(found(&entry), Some((false, false)));
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
    entry.state.lock().cached.as_mut().unwrap().changed = UNIX_EPOCH;
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

mod followed;
mod invalidations;
mod orphaned;
mod reads_in_flight;

#[test]
fn last_tried_is_the_beginning_of_the_copy_or_a_later_failure() {
    let entry = entry();
    assert_eq!(entry.last_tried(), None);
    refresh(&entry, Ok("a"));
    assert_eq!(entry.last_tried(), entry.cached().map(|cached| cached.begun));
    refresh(&entry, Err(FAILURE));
    assert!(entry.last_tried() > entry.cached().map(|cached| cached.begun));
    refresh(&entry, Ok("b"));
    assert_eq!(entry.last_tried(), entry.cached().map(|cached| cached.begun));
}
