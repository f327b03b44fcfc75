//! Invalidations during a refresh.

use super::*;
use crate::invalidation::Invalidation;

fn invalidation(id: usize) -> Invalidation {
    let (uid, document_id) = ("api::b.b".to_owned(), format!("d{id}"));
    Invalidation { uid, document_id, is_withdrawn: false }
}

#[test]
fn invalidation_is_kept_once_until_it_is_forgotten() {
    let entry = entry();
    let (begun, invalidations) = (Instant::now(), [invalidation(1), invalidation(2)]);
    let [first, second] = &invalidations;
    entry.keep_invalidations(Instant::now(), &[first]);
    assert!(entry.invalidations_since(begun).is_empty(), "no refresh is in flight");
    let flight = begin(&entry);
    entry.keep_invalidations(Instant::now(), &[first, second]);
    entry.keep_invalidations(Instant::now(), &[first]);
    assert_eq!(entry.invalidations_since(begun).len(), 2);
    entry.forget_invalidations(&[first]);
    assert_eq!(
        entry
            .invalidations_since(begun)
            .into_iter()
            .map(|(_, invalidation)| invalidation)
            .collect::<Vec<_>>(),
        std::slice::from_ref(second)
    );
    drop(flight);
}

#[test]
fn more_invalidations_than_are_kept_during_a_refresh_cause_another_one() {
    let entry = entry();
    let flight = begin(&entry);
    let begun = Instant::now();
    let invalidations: Vec<Invalidation> = (0..20_001).map(invalidation).collect();
    let invalidations: Vec<&Invalidation> = invalidations.iter().collect();
    entry.keep_invalidations(Instant::now(), &invalidations[..20_000]);
    entry.keep_invalidations(Instant::now(), &invalidations[..20_000]);
    assert_eq!(entry.invalidations_since(begun).len(), 20_000);
    entry.keep_invalidations(Instant::now(), &invalidations[20_000..]);
    assert!(entry.invalidations_since(begun).is_empty());
    let completed = complete(&entry, Ok(cached(&entry, "a")));
    flight.complete(completed.outcome);
    assert!(entry.is_wanted(Demand::Background));
}

#[test]
fn invalidation_is_kept_for_a_read_of_single_documents_until_it_ends() {
    let entry = Arc::new(entry());
    let begun = Instant::now();
    let (read, changed) = (entry.begin_read(begun), invalidation(1));
    entry.keep_invalidations(begun + Duration::from_secs(1), &[&changed]);
    assert_eq!(entry.invalidations_since(begun).len(), 1, "it may have found a dependent");
    drop(read);
    assert!(entry.invalidations_since(begun).is_empty());
}
