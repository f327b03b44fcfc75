//! A delta leads from one snapshot to another one exactly, or is refused.

use std::collections::BTreeSet;

use fastrand::Rng;
use proptest::prelude::*;

use super::serialized::{BUILDER, UID, facts, generated, hosts, rules, titles, version};
use crate::snapshot::{Delta, Listing, OtherSnapshot, Patch, Patched, Snapshot, Unreadable};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{Document, DocumentLocale, FieldValue};

/// More than any delta of these tests has.
const MAX_BYTES: usize = 10_000_000;

fn with_listing<T>(seed: u64, then: impl FnOnce(Listing<'_>, &mut Rng) -> T) -> T {
    let (rules, hosts) = (rules(), hosts(seed.is_multiple_of(2)));
    then(Listing { rules: &rules, hosts: &hosts, uid: UID }, &mut Rng::with_seed(seed))
}

fn empty(listing: Listing<'_>) -> Snapshot {
    BUILDER.finish(vec![listing.part()]).unwrap()
}

/// The delta after its bytes have been written and read.
fn sent(delta: &Delta) -> Delta {
    Delta::read(&delta.serialize(), MAX_BYTES).unwrap()
}

/// The delta between two snapshots leads from one to the other.
fn check(before: &Snapshot, after: &Snapshot) -> Result<(), TestCaseError> {
    let delta = sent(&Delta::between(before, after).unwrap());
    let applied = before.with_delta(&delta, BUILDER);
    let applied = applied.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let applied = applied.as_ref().unwrap_or(before);
    prop_assert_eq!(facts(applied), facts(after));
    prop_assert_eq!(titles(applied), titles(after));
    prop_assert_eq!(applied.content_hash(), after.content_hash());
    prop_assert_eq!(applied.first_host(), after.first_host());
    Ok(())
}

/// The whole of some documents, or single versions of them.
fn patches(rng: &mut Rng) -> Vec<Patch> {
    let documents = 1 + rng.usize(..40);
    let ids: BTreeSet<usize> = (0..rng.usize(..4)).map(|_| rng.usize(..documents)).collect();
    let patch = |n: usize| {
        let id = format!("id{n}");
        let version = |rng: &mut Rng| Document { id: id.clone().into(), ..version(rng, documents) };
        let versions = (0..rng.usize(..3)).map(|_| version(rng)).collect();
        Patch { id: id.clone(), versions, is_partial: rng.bool() }
    };
    ids.into_iter().map(patch).collect()
}

/// The snapshot after a change as the service makes them.
fn changed(before: &Snapshot, listing: Listing<'_>, rng: &mut Rng) -> Option<Snapshot> {
    match before.patched(&patches(rng), listing, BUILDER) {
        Patched::Changed(snapshot) => Some(*snapshot),
        Patched::Unchanged | Patched::NeedsWalk => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn delta_between_two_walks_leads_from_one_to_the_other(seed in any::<u64>()) {
        with_listing(seed, |listing, rng| {
            let (before, after) = (generated(rng, listing), generated(rng, listing));
            check(&before, &after)?;
            check(&after, &before)?;
            check(&empty(listing), &after)?;
            check(&after, &empty(listing))
        })?;
    }

    #[test]
    fn delta_after_updates_leads_to_the_updated_snapshot(seed in any::<u64>()) {
        with_listing(seed, |listing, rng| {
            let mut before = generated(rng, listing);
            // What another instance has, which only ever applies deltas.
            let mut adopted = None;
            for _ in 0..6 {
                let Some(after) = changed(&before, listing, rng) else { continue };
                check(&before, &after)?;
                let delta = sent(&Delta::between(&before, &after).unwrap());
                let own = adopted.as_ref().unwrap_or(&before);
                let next = own.with_delta(&delta, BUILDER).expect("a delta of each update");
                adopted = next.or(adopted);
                before = after;
            }
            Ok::<(), TestCaseError>(())
        })?;
    }

    #[test]
    fn delta_with_changed_bytes_is_refused_or_leads_to_the_same(seed in any::<u64>()) {
        with_listing(seed, |listing, rng| {
            let (before, after) = (generated(rng, listing), generated(rng, listing));
            let bytes = Delta::between(&before, &after).unwrap().serialize();
            for _ in 0..20 {
                let mut changed = bytes.clone();
                for _ in 0..rng.usize(1..3) {
                    let at = rng.usize(..changed.len());
                    changed[at] ^= 1 << rng.u8(..8);
                }
                changed.truncate(if rng.bool() { changed.len() } else { rng.usize(..changed.len()) });
                let Ok(delta) = Delta::read(&changed, MAX_BYTES) else { continue };
                if let Ok(applied) = before.with_delta(&delta, BUILDER) {
                    let applied = applied.as_ref().unwrap_or(&before);
                    prop_assert!([after.content_hash(), before.content_hash()].contains(&applied.content_hash()));
                }
            }
            Ok(())
        })?;
    }
}

#[test]
fn delta_of_equal_snapshots_is_empty_and_tiny() {
    for seed in 0..20 {
        with_listing(seed, |listing, rng| {
            let one = generated(rng, listing);
            let other = generated(&mut Rng::with_seed(seed), listing);
            let delta = sent(&Delta::between(&one, &other).unwrap());
            assert!(delta.is_empty());
            assert_eq!(delta.serialize().len(), 17);
            assert!(one.with_delta(&delta, BUILDER).unwrap().is_none());
            let others = generated(&mut Rng::with_seed(seed + 100), listing);
            assert_eq!(others.with_delta(&delta, BUILDER).err(), Some(OtherSnapshot));
        });
    }
}

#[test]
fn delta_of_one_edit_in_a_thousand_documents_has_that_document_alone() {
    with_listing(1, |listing, _| {
        let document = |n: usize, slug: String| {
            let texts = [slug, "c".to_owned(), "c1".to_owned(), format!("Title {n}")];
            let mut values: Vec<FieldValue<'static>> =
                texts.map(|text| FieldValue::Text(text.into())).into();
            values.resize(6, FieldValue::Missing);
            let id = format!("id{n}").into();
            Document {
                id,
                locale: DocumentLocale::Named("en".into()),
                values,
                ..version(&mut Rng::new(), 1)
            }
        };
        let mut part = listing.part();
        (0..1_000).for_each(|n| part.add(&document(n, format!("slug-{n}"))));
        let before = super::Builder { path_table: true }.finish(vec![part]).unwrap();
        let versions = vec![document(7, "moved".to_owned())];
        let patch = Patch { id: "id7".to_owned(), versions, is_partial: false };
        let Patched::Changed(after) = before.patched(&[patch], listing, BUILDER) else {
            panic!("the path has changed");
        };
        let delta = Delta::between(&before, &after).unwrap();
        let paths: Vec<&str> =
            delta.present().unwrap().urls().map(super::PublicUrl::path).collect();
        assert_eq!(paths, ["/en/c/moved"]);
        assert!(delta.serialize().len() < 200, "{} bytes", delta.serialize().len());
        // Another snapshot than the one before.
        let mut part = listing.part();
        (0..999).for_each(|n| part.add(&document(n, format!("slug-{n}"))));
        let other = BUILDER.finish(vec![part]).unwrap();
        assert_eq!(other.with_delta(&delta, BUILDER).err(), Some(OtherSnapshot));
    });
}

#[test]
fn delta_of_many_versions_without_a_url_leads_to_the_same_ones() {
    let (rules, hosts) = (rules(), Hosts::default());
    let listing = Listing { rules: &rules, hosts: &hosts, uid: UID };
    let walked = |numbers: std::ops::Range<usize>| {
        let mut part = listing.part();
        for n in numbers {
            let mut version = version(&mut Rng::with_seed(7), 3);
            version.id = format!("id{n}").into();
            version.locale = DocumentLocale::Named("en".into());
            version.values.fill(FieldValue::Missing);
            part.add(&version);
        }
        BUILDER.finish(vec![part]).unwrap()
    };
    let (before, after) = (walked(0..10_050), walked(30..10_090));
    assert_eq!(before.no_url().len(), 10_050);
    check(&before, &after).unwrap();
    check(&after, &before).unwrap();
    check(&before, &empty(listing)).unwrap();
}

#[test]
fn bytes_of_another_format_or_of_more_than_the_limit_are_refused() {
    with_listing(4, |listing, rng| {
        let bytes = Delta::between(&empty(listing), &generated(rng, listing)).unwrap().serialize();
        let mut other = bytes.clone();
        other[0] = 5;
        assert_eq!(Delta::read(&other, MAX_BYTES).err(), Some(Unreadable::OtherFormat(5)));
        assert_eq!(Delta::read(&bytes, 10).err(), Some(Unreadable::Malformed("it is too large")));
        for length in 0..bytes.len() {
            let read = Delta::read(&bytes[..length], MAX_BYTES);
            assert!(read.is_err() || length == 17, "{length} of {} bytes", bytes.len());
        }
    });
}
