use super::*;

/// Adopts a snapshot. Returns the refresh whose requests have waited for it.
fn adopt(entry: &Entry, slug: &str) -> Option<Arc<Flight>> {
    entry.replace(cached(entry, slug), Source::Adoption).expect("it is used").flight
}

#[test]
fn refresh_that_begins_just_before_an_adoption_ends_with_its_copy() {
    let entry = entry();
    let flight = begin(&entry);
    assert!(adopt(&entry, "a").is_none(), "it does not wait for it yet");
    let adopted = entry.follow().expect("the snapshot came before");
    assert!(Arc::ptr_eq(&adopted.snapshot, &entry.cached().expect("a snapshot").snapshot));
    assert!(!entry.is_in_flight(&flight), "the next snapshot may come much later");
    let next = begin(&entry);
    assert!(entry.follow().is_none());
    assert!(Arc::ptr_eq(&adopt(&entry, "b").expect("it waits for it"), &next));
}
