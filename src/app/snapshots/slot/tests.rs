use std::time::{SystemTime, UNIX_EPOCH};

use super::*;
use crate::content::Projection;
use crate::frontend_url::BaseUrl;
use crate::rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};
use crate::snapshot::{Builder, Listing, Snapshot};

const UID: &str = "api::a.a";
const CLIENT: u64 = 0;
const FRESHNESS: Freshness =
    Freshness { soft: Duration::from_mins(1), hard: Duration::from_hours(1), at_start: false };
const FAILURE: ContentError = ContentError::TimedOut;

fn slot() -> Slot {
    let uid = ContentTypeUid::parse(UID).unwrap();
    let ask =
        ContentQuery { uid, projection: Projection::new(Vec::new()), alternatives: Vec::new() };
    Slot::new("main".to_owned(), ask)
}

/// The one URL `/<slug>`.
fn snapshot(slug: &str) -> Snapshot {
    let rule = Rule::new(ContentTypeUid::parse(UID).unwrap(), Template::parse("/{slug}").unwrap());
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    let rules = RuleSet::new(locales, LocalePrefix::Always, vec![rule]);
    let base = BaseUrl::parse("https://www.example.com").unwrap();
    let mut part = Listing { rules: &rules, base: Some(&base), uid: UID }.part();
    part.add(&Document {
        id: "d".into(),
        locale: DocumentLocale::None,
        unpublished: false,
        fields: FieldPath::parse("slug").into_iter().collect(),
        values: vec![FieldValue::Text(slug.to_owned().into())],
    });
    Builder { owners: false }.finish(vec![part]).unwrap()
}

/// What a walk makes of it.
fn kept(slot: &Slot, slug: &str) -> Kept {
    let snapshot = snapshot(slug);
    Kept::new(snapshot, None, Instant::now(), slot.kept().as_ref())
}

/// A walk that begins now, and its end, however many seconds it took.
fn walk(slot: &Slot, result: Result<&str, ContentError>) -> Landed {
    let (_, sender) = slot.join(CLIENT);
    let sender = sender.expect("none is under way");
    let landed = slot.land(result.map(|slug| kept(slot, slug)), &sender);
    sender.tell(landed.outcome.clone());
    landed
}

/// Lets seconds pass.
fn pass(slot: &Slot, seconds: u64) {
    let earlier = |moment: &mut Instant| {
        *moment = moment.checked_sub(Duration::from_secs(seconds)).expect("the clock began before");
    };
    let mut state = slot.state();
    state.failed.iter_mut().for_each(earlier);
    if let Some(kept) = &mut state.kept {
        earlier(&mut kept.begun);
        earlier(&mut kept.landed);
    }
}

/// Whether there is a copy, and then whether the last walk failed and whether one is due.
fn found(slot: &Slot) -> Option<(bool, bool)> {
    match slot.find(FRESHNESS) {
        Found::Copy { failing, due, .. } => Some((failing, due)),
        Found::Nothing => None,
    }
}

#[test]
fn a_copy_ages_from_fresh_to_due_to_nothing() {
    let slot = slot();
    assert_eq!(found(&slot), None);
    assert!(walk(&slot, Ok("x")).outcome.is_ok());
    assert_eq!(found(&slot), Some((false, false)));
    pass(&slot, 59);
    assert_eq!(found(&slot), Some((false, false)));
    pass(&slot, 1);
    assert_eq!(found(&slot), Some((false, true)));
    pass(&slot, 3600 - 61);
    assert_eq!(found(&slot), Some((false, true)));
    pass(&slot, 1);
    assert_eq!(found(&slot), None);
    assert!(slot.kept().is_some(), "an index may still use it");
}

#[test]
fn all_join_the_walk_under_way() {
    let slot = slot();
    let (_, sender) = slot.join(CLIENT);
    let sender = sender.expect("the first one begins");
    let (landing, second) = slot.join(CLIENT);
    assert!(second.is_none());
    let landed = slot.land(Ok(kept(&slot, "x")), &sender);
    sender.tell(landed.outcome);
    let outcome = landing.borrow().clone().expect("told").expect("good");
    assert_eq!(outcome.snapshot.listed_count(), 1);
    assert!(slot.join(CLIENT).1.is_some(), "the next one begins anew");
}

#[test]
fn nothing_is_due_while_a_walk_is_under_way() {
    let slot = slot();
    walk(&slot, Ok("x"));
    pass(&slot, 60);
    let under_way = slot.join(CLIENT);
    assert_eq!(found(&slot), Some((false, false)));
    // Its task has died without a word.
    drop(under_way);
    assert_eq!(found(&slot), Some((false, true)));
    assert!(slot.join(CLIENT).1.is_some());
}

#[test]
fn who_waits_for_a_walk_that_dies_is_told() {
    let slot = slot();
    let (mut landing, sender) = slot.join(CLIENT);
    drop(sender);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert!(runtime.block_on(landing.wait_for(Option::is_some)).is_err());
}

#[test]
fn the_next_walk_begins_no_sooner_than_the_last_one_took() {
    let slot = slot();
    let begun = Instant::now().checked_sub(Duration::from_mins(5)).unwrap();
    let (_, sender) = slot.join(CLIENT);
    slot.land(Ok(Kept { begun, ..kept(&slot, "x") }), &sender.expect("none is under way"));
    assert_eq!(found(&slot), Some((false, false)), "older than the soft limit, but just landed");
    pass(&slot, 299);
    assert_eq!(found(&slot), Some((false, false)));
    pass(&slot, 2);
    assert_eq!(found(&slot), Some((false, true)));
}

#[test]
fn after_a_failure_the_next_walk_waits_while_there_is_a_copy() {
    let slot = slot();
    walk(&slot, Ok("x"));
    pass(&slot, 60);
    let landed = walk(&slot, Err(FAILURE));
    assert!(landed.outcome.is_err() && !landed.failed_before && !landed.again);
    assert_eq!(found(&slot), Some((true, false)));
    pass(&slot, AFTER_FAILURE.as_secs());
    assert_eq!(found(&slot), Some((true, true)));
    assert!(walk(&slot, Err(FAILURE)).failed_before);
    pass(&slot, AFTER_FAILURE.as_secs());
    assert!(walk(&slot, Ok("x")).failed_before);
    assert_eq!(found(&slot), Some((false, false)));
}

#[test]
fn a_hint_makes_the_copy_due() {
    let slot = slot();
    walk(&slot, Ok("x"));
    pass(&slot, 1);
    slot.outdate();
    assert_eq!(found(&slot), Some((false, true)));
    assert!(!walk(&slot, Ok("x")).again);
    assert_eq!(found(&slot), Some((false, false)));
}

#[test]
fn a_hint_during_a_walk_asks_for_another_one() {
    let slot = slot();
    walk(&slot, Ok("x"));
    let (_, sender) = slot.join(CLIENT);
    slot.outdate();
    assert!(slot.land(Ok(kept(&slot, "x")), &sender.expect("none is under way")).again);
    assert!(!walk(&slot, Ok("x")).again, "the one after it is enough");
}

#[test]
fn a_hint_that_met_a_failure_is_kept_until_a_walk_is_good() {
    let slot = slot();
    walk(&slot, Ok("x"));
    slot.outdate();
    for _ in 0..2 {
        assert!(!walk(&slot, Err(FAILURE)).again, "not at once");
        assert_eq!(found(&slot), Some((true, false)));
        pass(&slot, AFTER_FAILURE.as_secs());
        assert_eq!(found(&slot), Some((true, true)));
    }
    walk(&slot, Ok("x"));
    assert_eq!(found(&slot), Some((false, false)));
}

#[test]
fn the_list_has_changed_when_other_urls_are_listed() {
    let slot = slot();
    let changed = |slug| {
        walk(&slot, Ok(slug));
        slot.kept().unwrap().changed
    };
    let first = changed("x");
    assert_eq!(changed("x"), first);
    slot.state().kept.as_mut().unwrap().changed = UNIX_EPOCH;
    assert_eq!(changed("x"), UNIX_EPOCH, "as long as nothing changes");
    assert_ne!(changed("y"), UNIX_EPOCH);
}

#[test]
fn a_date_in_whole_seconds_is_never_that_of_an_earlier_list() {
    let slot = slot();
    let before = SystemTime::now();
    walk(&slot, Ok("x"));
    let changed = slot.kept().unwrap().changed;
    let since = changed.duration_since(UNIX_EPOCH).unwrap();
    assert_eq!(since.subsec_nanos(), 0);
    // Whoever was given another list before had an earlier second.
    assert!(changed > before && changed <= SystemTime::now() + Duration::from_secs(1));
}

#[test]
fn what_was_read_by_itself_is_remembered_for_the_walk_under_way_alone() {
    let slot = slot();
    let reread = |id: &str| Reread { id: id.to_owned(), versions: Vec::new() };
    let ids = |since: Instant| -> Vec<String> {
        slot.reread_since(since).into_iter().map(|document| document.id).collect()
    };
    let begun = Instant::now();
    let later = begun + Duration::from_secs(1);
    slot.remember(later, vec![reread("a")]);
    assert!(ids(begun).is_empty(), "no walk is under way that could have missed it");
    for outcome in [Err(FAILURE), Ok(kept(&slot, "x"))] {
        let (_, sender) = slot.join(CLIENT);
        slot.remember(begun, vec![reread("a"), reread("b")]);
        assert!(ids(begun).is_empty(), "the walk began then");
        slot.remember(later, vec![reread("a")]);
        slot.remember(later, vec![reread("a")]);
        assert_eq!(ids(begun), ["a"]);
        slot.land(outcome, &sender.expect("none is under way"));
        assert!(ids(begun).is_empty(), "the next one sees it by itself");
    }
}

mod alone;
