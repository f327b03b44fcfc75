//! Invalidations during a refresh.

use super::*;
use crate::invalidation::{Change, Invalidation};

fn hint(id: usize) -> Invalidation {
    let (uid, document_id) = ("api::b.b".to_owned(), format!("d{id}"));
    Invalidation { uid, document_id, change: Change::Written }
}

#[test]
fn copy_lacks_what_is_known_since_its_walk_began() {
    let entry = entry();
    let before = Instant::now();
    assert!(!entry.may_lack(before), "the first walk has not begun");
    let flight = begin(&entry);
    assert!(entry.may_lack(before), "the walk may be past the document");
    let completed = entry.complete(Ok(copy(&entry, "a")));
    flight.complete(completed.outcome);
    assert!(!entry.may_lack(before));
    assert!(entry.may_lack(Instant::now()));
}

#[test]
fn hint_is_kept_once_until_it_is_forgotten() {
    let entry = entry();
    let (begun, hints) = (Instant::now(), [hint(1), hint(2)]);
    let [first, second] = &hints;
    entry.keep_hints(Instant::now(), &[first]);
    assert!(entry.hints_since(begun).is_empty(), "no refresh is in flight");
    let flight = begin(&entry);
    entry.keep_hints(Instant::now(), &[first, second]);
    entry.keep_hints(Instant::now(), &[first]);
    assert_eq!(entry.hints_since(begun).len(), 2);
    entry.forget_hints(&[first]);
    assert_eq!(
        entry.hints_since(begun).into_iter().map(|(_, hint)| hint).collect::<Vec<_>>(),
        std::slice::from_ref(second)
    );
    drop(flight);
}

#[test]
fn more_hints_than_are_kept_during_a_refresh_cause_another_one() {
    let entry = entry();
    let flight = begin(&entry);
    let begun = Instant::now();
    let hints: Vec<Invalidation> = (0..20_001).map(hint).collect();
    let hints: Vec<&Invalidation> = hints.iter().collect();
    entry.keep_hints(Instant::now(), &hints[..20_000]);
    entry.keep_hints(Instant::now(), &hints[..20_000]);
    assert_eq!(entry.hints_since(begun).len(), 20_000);
    entry.keep_hints(Instant::now(), &hints[20_000..]);
    assert!(entry.hints_since(begun).is_empty());
    let completed = entry.complete(Ok(copy(&entry, "a")));
    flight.complete(completed.outcome);
    assert!(entry.is_refresh_wanted());
}
