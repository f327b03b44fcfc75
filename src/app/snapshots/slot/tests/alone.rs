//! Walks that are only for those who wait for them.

use futures::FutureExt;

use super::*;

#[test]
fn a_walk_that_was_parted_from_is_for_those_who_wait() {
    let slot = slot();
    let (waiting, old) = slot.join(CLIENT);
    let old = old.expect("none is under way");
    assert!(!slot.part(CLIENT), "its own client has not changed");
    assert!(slot.part(CLIENT + 1) && !slot.part(CLIENT + 1));
    let (_, new) = slot.join(CLIENT + 1);
    let new = new.expect("nobody joins the old one");
    assert!(slot.join(CLIENT).1.is_none(), "who comes late joins the new one");
    let landed = slot.land(Ok(kept(&slot, "old")), &old);
    assert!(landed.alone && !landed.again);
    let found = landed.outcome.clone().expect("what it has found");
    assert_eq!(found.dated(found.changed), None, "others may be given another list");
    old.tell(landed.outcome);
    assert!(waiting.borrow().as_ref().expect("told").is_ok());
    assert!(slot.kept().is_none() && slot.is_under_way(), "the new one goes on");
    let landed = slot.land(Ok(kept(&slot, "new")), &new);
    let hash = landed.outcome.expect("good").snapshot.listing_hash();
    for late in [Ok(kept(&slot, "old")), Err(FAILURE)] {
        let landed = slot.land(late, &old).outcome.expect("what is newer");
        assert_eq!(landed.snapshot.listing_hash(), hash);
        assert!(landed.dated(landed.changed).is_some());
    }
    assert!(slot.kept().is_some() && !slot.is_failing());
}

#[test]
fn who_comes_with_a_later_client_parts_from_a_walk_by_an_earlier_one() {
    let slot = slot();
    let (_waiting, old) = slot.join(CLIENT);
    let (_, new) = slot.join(CLIENT + 1);
    assert!(new.is_some());
    assert!(old.expect("none is under way").is_alone());
}

#[test]
fn lists_of_a_retired_place_have_no_date() {
    let slot = slot();
    slot.retire();
    walk(&slot, Ok("x"));
    let kept = slot.kept().expect("for who waited");
    assert_eq!(kept.dated(kept.changed), None);
}

#[test]
fn a_walk_alone_is_given_up_when_all_have_left() {
    let slot = slot();
    let (waiting, old) = slot.join(CLIENT);
    let old = old.expect("none is under way");
    assert!(slot.given_up(&old).now_or_never().is_none());
    slot.part(CLIENT + 1);
    let (_new_waiting, new) = slot.join(CLIENT + 1);
    let new = new.expect("another one");
    assert!(slot.given_up(&old).now_or_never().is_none(), "one waits");
    drop(waiting);
    assert!(slot.given_up(&old).now_or_never().is_some());
    assert!(slot.given_up(&new).now_or_never().is_none());
    assert!(slot.is_under_way());
}
