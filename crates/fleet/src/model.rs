//! The protocol of a fleet as a model that is checked exhaustively within bounds: leases, epochs,
//! versions, adoption, and the cursors of the change log.
//!
//! The decisions are those of the product: `lead::role`, `adoption::choose`, `plan::decide`,
//! `follow::judge`, `readiness::answer` and the `ChangeLog` of the catalog. The scripts are
//! [`scripts`], which tests compare with the real ones.
//!
//! A state has three instances, one list, one reader of its changes, and the CMS, whose content is a
//! number that grows with each edit; the number is also the clock. Not in the model: deltas and bases (a
//! version is adopted as a whole, or not), other settings, instances without Redis, and the times
//! after which an instance adopts an older version (15 s) and answers readers of all pages although it is
//! behind a new log (10 s).
//!
//! # Bounds
//!
//! All states of these are visited, with two threads, in 17 s on two busy cores:
//!
//! | bounds | states | depth |
//! |---|---|---|
//! | lists: 2 edits, a flush | 50,764 | 25 |
//! | lists: 2 edits, a pause | 3,011 | 20 |
//! | lists: 2 edits, a restart, an expiry | 14,290 | 21 |
//! | lists: 2 edits, a lost answer, an expiry | 15,967 | 22 |
//! | changes: an edit, a pause | 5,856 | 20 |
//! | changes: an edit, a restart, an expiry | 43,881 | 21 |
//! | changes: 2 edits, a lost answer | 45,051 | 22 |
//!
//! Larger bounds are ignored tests, which take two minutes in a release build:
//!
//! | bounds | states | depth |
//! |---|---|---|
//! | lists: 3 edits, a flush | 377,839 | 31 |
//! | lists: 3 edits, a restart, an expiry | 80,197 | 25 |
//! | lists: 2 edits, a flush, an expiry | 1,808,685 | 31 |
//! | lists: 2 edits, a flush, a pause | 2,514,769 | 32 |
//! | lists: 2 edits, a flush, a restart, a lost answer | 2,231,268 | 34 |
//! | changes: 2 edits, a pause | 214,282 | 28 |
//! | changes: an edit, a flush | 2,175,002 | 27 |
//!
//! The states to be visited are in memory: 3 edits with a flush and a pause need more than 9 GB.

pub(crate) mod scripts;
mod state;

use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Property};

use self::state::{Action, ModelState, RemainingEvents, Safeguard, Violations};

/// The protocol, within bounds, perhaps without one of its safeguards.
struct Protocol {
    remaining: RemainingEvents,
    /// Whether there is a reader of the changes; otherwise the log is left out.
    has_reader: bool,
    without: Option<Safeguard>,
}

impl Model for Protocol {
    type State = ModelState;
    type Action = Action;

    fn init_states(&self) -> Vec<ModelState> {
        vec![ModelState::new(self.remaining, self.has_reader)]
    }

    fn actions(&self, state: &ModelState, actions: &mut Vec<Action>) {
        state.actions(actions);
    }

    fn next_state(&self, state: &ModelState, action: Action) -> Option<ModelState> {
        let mut next = state.clone();
        next.run(action, self.without).then(|| next.canonical())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let never = |name, is: fn(&Self, &ModelState) -> bool| Property::always(name, is);
        vec![
            never(BACKWARD, |_, state| !state.violations.contains(Violations::BACKWARD)),
            never(TWO_LEADERS, |_, state| !state.violations.contains(Violations::TWO_LEADERS)),
            never(LOST, |_, state| !state.violations.contains(Violations::LOST)),
            never(INVENTED, |_, state| !state.violations.contains(Violations::INVENTED)),
            Property::sometimes("the last edit arrives", |model: &Self, state: &ModelState| {
                let last = model.remaining.edits + 1;
                if model.has_reader { state.reader_has(last) } else { state.all_serve(last) }
            }),
        ]
    }
}

const BACKWARD: &str = "no list goes backward";
const TWO_LEADERS: &str = "no two leaders' writes both count";
const LOST: &str = "no change is lost";
const INVENTED: &str = "no change is invented";

/// Checks all states within these bounds, and that these things happen in some of them.
fn check(remaining: RemainingEvents, has_reader: bool) {
    let begun = Instant::now();
    let model = Protocol { remaining, has_reader, without: None };
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!(
        "{remaining:?}, reader: {has_reader}: {} states, depth {}, {:.1} s",
        checker.unique_state_count(),
        checker.max_depth(),
        begun.elapsed().as_secs_f64()
    );
    checker.assert_properties();
}

/// Finds a counterexample to a property if the protocol lacks a rule.
fn refute(
    without: Safeguard,
    property: &'static str,
    remaining: RemainingEvents,
    has_reader: bool,
) {
    let model = Protocol { remaining, has_reader, without: Some(without) };
    let found = HasDiscoveries::AnyOf([property].into());
    let checker = model.checker().threads(2).finish_when(found).spawn_bfs().join();
    let states = checker.unique_state_count();
    let path = checker.discovery(property);
    let others = checker.discoveries().into_iter().map(|(name, path)| (name, path.into_actions()));
    let others: Vec<_> = others.collect();
    let path = path.unwrap_or_else(|| panic!("{without:?}: {property}: {states}, {others:?}"));
    println!("without {without:?}, {states} states: {:?}", path.into_actions());
}

#[test]
fn model_of_lists_holds_with_a_flush() {
    check(RemainingEvents { edits: 2, flushes: 1, ..RemainingEvents::NONE }, false);
}

#[test]
fn model_of_lists_holds_with_a_pause() {
    check(RemainingEvents { edits: 2, pauses: 1, ..RemainingEvents::NONE }, false);
}

#[test]
fn model_of_lists_holds_with_a_restart() {
    check(RemainingEvents { edits: 2, restarts: 1, expiries: 1, ..RemainingEvents::NONE }, false);
}

#[test]
fn model_of_lists_holds_with_a_lost_answer() {
    check(RemainingEvents { edits: 2, lost: 1, expiries: 1, ..RemainingEvents::NONE }, false);
}

#[test]
#[ignore = "minutes: cargo test --release -p frontend-map-fleet model -- --ignored --nocapture"]
fn model_of_changes_holds_with_a_flush() {
    check(RemainingEvents { edits: 1, flushes: 1, ..RemainingEvents::NONE }, true);
}

#[test]
fn model_of_changes_holds_with_a_pause() {
    check(RemainingEvents { edits: 1, pauses: 1, ..RemainingEvents::NONE }, true);
}

#[test]
fn model_of_changes_holds_with_a_restart() {
    check(RemainingEvents { edits: 1, restarts: 1, expiries: 1, ..RemainingEvents::NONE }, true);
}

#[test]
fn model_of_changes_holds_with_a_lost_answer() {
    check(RemainingEvents { edits: 2, lost: 1, ..RemainingEvents::NONE }, true);
}

#[test]
fn model_without_the_lease_of_a_writer_has_two_leaders() {
    refute(
        Safeguard::Lease,
        TWO_LEADERS,
        RemainingEvents { edits: 1, pauses: 1, ..RemainingEvents::NONE },
        false,
    );
}

#[test]
fn model_without_growing_epochs_has_two_leaders() {
    let remaining = RemainingEvents { edits: 2, flushes: 1, expiries: 1, ..RemainingEvents::NONE };
    refute(Safeguard::Epochs, TWO_LEADERS, remaining, false);
}

#[test]
fn model_without_the_version_of_a_writer_goes_backward() {
    refute(
        Safeguard::Version,
        BACKWARD,
        RemainingEvents { edits: 2, lost: 1, ..RemainingEvents::NONE },
        false,
    );
}

#[test]
fn model_without_the_order_of_versions_holds_by_their_times() {
    let remaining = RemainingEvents { edits: 1, failovers: 1, ..RemainingEvents::NONE };
    let model = Protocol { remaining, has_reader: false, without: Some(Safeguard::Order) };
    // Each list of the model is a walk, whose time protects as well; an update has the time of its walk.
    model.checker().threads(2).spawn_bfs().join().assert_no_discovery(BACKWARD);
}

#[test]
fn model_without_the_time_of_a_list_goes_backward() {
    refute(
        Safeguard::Freshness,
        BACKWARD,
        RemainingEvents { edits: 1, flushes: 1, ..RemainingEvents::NONE },
        false,
    );
}

#[test]
fn model_without_the_base_of_a_log_invents_changes() {
    refute(
        Safeguard::Base,
        INVENTED,
        RemainingEvents { edits: 2, lost: 1, ..RemainingEvents::NONE },
        true,
    );
}

#[test]
fn model_without_a_wait_for_the_list_loses_changes() {
    refute(
        Safeguard::Wait,
        LOST,
        RemainingEvents { edits: 1, restarts: 1, ..RemainingEvents::NONE },
        true,
    );
}

#[test]
#[ignore = "minutes: cargo test --release -p frontend-map-fleet model -- --ignored --nocapture"]
fn model_holds_within_larger_bounds() {
    for remaining in [
        RemainingEvents { edits: 3, flushes: 1, ..RemainingEvents::NONE },
        RemainingEvents { edits: 3, restarts: 1, expiries: 1, ..RemainingEvents::NONE },
        RemainingEvents { edits: 2, flushes: 1, expiries: 1, ..RemainingEvents::NONE },
        RemainingEvents { edits: 2, flushes: 1, pauses: 1, ..RemainingEvents::NONE },
        RemainingEvents { edits: 2, flushes: 1, restarts: 1, lost: 1, ..RemainingEvents::NONE },
    ] {
        check(remaining, false);
    }
    check(RemainingEvents { edits: 2, pauses: 1, ..RemainingEvents::NONE }, true);
}
