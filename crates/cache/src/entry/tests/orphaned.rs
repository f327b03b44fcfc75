//! Refreshes of an orphaned entry, and the entry that adopts its snapshot.

use super::*;

#[test]
fn waiters_of_an_orphaned_entry_get_its_copy_without_a_date() {
    let entry = entry();
    let (waiter, flight) = entry.join_or_begin();
    entry.orphan();
    entry.mark_outdated();
    let completed = complete(&entry, Ok(cached(&entry, "x")));
    assert!(completed.orphaned && !entry.is_refresh_wanted());
    flight.expect("none was in flight").complete(completed.outcome);
    let cached = waiter.outcome().now_or_never().expect("it is complete").expect("a snapshot");
    assert_eq!(cached.last_modified(cached.changed), None, "another list is in use as well");
}

#[test]
fn refresh_that_begins_after_the_orphaning_has_no_date() {
    let entry = entry();
    entry.orphan();
    refresh(&entry, Ok("x"));
    let cached = entry.cached().expect("for its waiter");
    assert_eq!(cached.last_modified(cached.changed), None);
}

#[test]
fn refresh_is_abandoned_when_its_entry_is_orphaned_and_all_waiters_have_left() {
    let entry = entry();
    let (waiter, flight) = entry.join_or_begin();
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
fn adopting_entry_has_the_copy_and_refreshes_it() {
    let previous = entry();
    refresh(&previous, Ok("x"));
    let _in_flight = begin(&previous);
    let entry = Entry::adopting(&previous);
    assert_eq!(found(&entry), Some((false, true)), "it has no part in the refresh in flight");
    assert!(entry.has_pending_refresh());
    let changed = |entry: &Entry| entry.cached().expect("a snapshot").changed;
    assert_eq!(changed(&entry), changed(&previous));
    assert!(Entry::adopting(&super::entry()).cached().is_none());
}

#[test]
fn adopting_entry_is_failing_like_the_one_before() {
    let previous = entry();
    refresh(&previous, Ok("x"));
    refresh(&previous, Err(FAILURE));
    assert_eq!(found(&Entry::adopting(&previous)), Some((true, false)));
}
