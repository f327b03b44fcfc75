use std::sync::Arc;

use super::*;

const FRESHNESS: Freshness = Freshness {
    soft: Duration::from_mins(1),
    hard: Duration::from_hours(1),
    check: Duration::from_mins(10),
    at_start: false,
    ready: Duration::from_secs(30),
    cms_share: 0.1,
};

/// Seconds since the start of a test.
struct Clock(Instant);

impl Clock {
    fn at(&self, seconds: u64) -> Instant {
        self.0 + Duration::from_secs(seconds)
    }

    /// A snapshot of a walk that took no time.
    fn snapshot(&self, begun: u64) -> CachedSnapshot {
        let (begun, completed) = (self.at(begun), self.at(begun));
        let cached = CachedSnapshot::of_settings(Arc::default(), Arc::default());
        CachedSnapshot { begun, completed, ..cached }
    }

    /// An entry that was walked at the start.
    fn walked(&self) -> State {
        let mut state = State { cached: Some(self.snapshot(0)), ..State::default() };
        state.on(Event::Walk, self.at(0));
        assert!(state.on(Event::Walked, self.at(0)));
        state
    }

    /// Whether there is a usable snapshot, and then whether the last refresh failed and whether one
    /// is due.
    fn found(&self, state: &State, seconds: u64) -> Option<(bool, bool)> {
        match state.look_up(FRESHNESS, self.at(seconds)) {
            Lookup::Found { failing, due, .. } => Some((failing, due)),
            Lookup::Missing => None,
        }
    }
}

fn clock() -> Clock {
    Clock(Instant::now())
}

#[test]
fn each_event_in_each_phase_leads_to_the_phase_of_the_table() {
    use Event::{
        Abandoned, Adopted, Failed, Follow, LeaderFailed, NotStarted, Stored, Updated, Walk, Walked,
    };
    let clock = clock();
    let (before, now) = (clock.at(0), clock.at(1));
    let idle = Phase::Idle;
    let walking = |begun| Phase::Walking { begun };
    let following = |begun| Phase::Following { begun };
    let phases = [idle, walking(before), following(before)];
    for (event, expected) in [
        (Walk, [walking(now), walking(now), walking(now)]),
        (Follow, [following(now), following(before), following(before)]),
        (Walked, [idle; 3]),
        (Failed, [idle; 3]),
        (Adopted, [idle; 3]),
        (Abandoned, [idle; 3]),
        (LeaderFailed, [idle, walking(before), idle]),
        (Updated, phases),
        (Stored, phases),
        (NotStarted, phases),
    ] {
        for (phase, expected) in phases.into_iter().zip(expected) {
            let mut state = State { phase, ..State::default() };
            let has_ended = state.on(event, now);
            assert_eq!(state.phase, expected, "{event:?} in {phase:?}");
            assert_eq!(has_ended, phase != idle && expected == idle, "{event:?} in {phase:?}");
        }
    }
}

#[test]
fn each_event_leads_from_each_demand_to_the_demand_and_the_failure_of_the_table() {
    use Demand::{AtOnce, Background, None as Nothing, OnRequest};
    let (clock, demands) = (clock(), [Nothing, OnRequest, Background, AtOnce]);
    let (before, now) = (clock.at(0), clock.at(1));
    let (as_before, never, failed_now) = (Some(before), None, Some(now));
    let after_a_walk = [Nothing, Background, Background, AtOnce];
    let after_a_failure = [OnRequest, Background, Background, AtOnce];
    let at_least_on_request = [OnRequest, OnRequest, Background, AtOnce];
    for (event, expected, failed) in [
        (Event::Walk, [Nothing; 4], as_before),
        (Event::Follow, demands, as_before),
        (Event::Walked, after_a_walk, never),
        (Event::Failed, after_a_failure, failed_now),
        (Event::Adopted, [Nothing; 4], never),
        (Event::Abandoned, demands, as_before),
        (Event::LeaderFailed, at_least_on_request, failed_now),
        (Event::Updated, demands, as_before),
        (Event::Stored, at_least_on_request, as_before),
        (Event::NotStarted, at_least_on_request, failed_now),
    ] {
        for (demand, expected) in demands.into_iter().zip(expected) {
            let phase = Phase::Following { begun: before };
            let mut state = State { phase, demand, failed: Some(before), ..State::default() };
            state.on(event, now);
            assert_eq!((state.demand, state.failed), (expected, failed), "{event:?} {demand:?}");
        }
    }
}

#[test]
fn refresh_that_begins_to_follow_reads_all_changes_before_and_one_that_walks_alone_fails_alone() {
    let now = clock().at(0);
    let mut state = State { demand: Demand::AtOnce, ..State::default() };
    state.on(Event::Follow, now);
    assert_eq!(state.demand, Demand::None);
    state.on(Event::Walk, now);
    assert!(!state.on(Event::LeaderFailed, now));
    assert_eq!((state.demand, state.failed), (Demand::None, None));
}

#[test]
fn snapshot_ages_from_fresh_to_due_to_missing() {
    let clock = clock();
    assert_eq!(clock.found(&State::default(), 0), None);
    let state = clock.walked();
    for (seconds, expected) in [
        (0, Some((false, false))),
        (59, Some((false, false))),
        (60, Some((false, true))),
        (3599, Some((false, true))),
        (3600, None),
    ] {
        assert_eq!(clock.found(&state, seconds), expected, "{seconds}");
    }
    assert!(state.cached.is_some(), "an index may still use it");
}

#[test]
fn no_refresh_is_due_while_one_is_in_flight() {
    let (clock, now) = (clock(), 60);
    for event in [Event::Walk, Event::Follow] {
        let mut state = clock.walked();
        state.on(event, clock.at(now));
        assert_eq!(clock.found(&state, now), Some((false, false)));
        state.on(Event::Abandoned, clock.at(now));
        assert_eq!(clock.found(&state, now), Some((false, true)));
    }
}

#[test]
fn next_refresh_is_due_no_sooner_than_the_last_one_took() {
    let clock = clock();
    let mut state = clock.walked();
    state.cached = Some(CachedSnapshot { completed: clock.at(300), ..clock.snapshot(0) });
    for (seconds, due) in [(300, false), (599, false), (600, true)] {
        assert_eq!(clock.found(&state, seconds), Some((false, due)), "{seconds}");
    }
}

#[test]
fn after_a_failure_the_next_refresh_waits_while_there_is_a_snapshot() {
    let clock = clock();
    let mut state = clock.walked();
    for failed in [60, 70] {
        state.on(Event::Walk, clock.at(failed));
        state.on(Event::Failed, clock.at(failed));
        assert!(!state.is_wanted(Demand::Background), "not at once");
        assert_eq!(clock.found(&state, failed), Some((true, false)));
        assert_eq!(clock.found(&state, failed + RETRY_DELAY.as_secs()), Some((true, true)));
    }
    state.on(Event::Walk, clock.at(80));
    state.cached = Some(clock.snapshot(80));
    state.on(Event::Walked, clock.at(80));
    assert_eq!(clock.found(&state, 80), Some((false, false)));
}

#[test]
fn refresh_that_is_asked_for_waits_for_the_one_in_flight_and_is_asked_for_once() {
    let clock = clock();
    for (asked, wanted) in [
        (Demand::OnRequest, Demand::Background),
        (Demand::Background, Demand::Background),
        (Demand::AtOnce, Demand::AtOnce),
    ] {
        let mut state = clock.walked();
        state.on(Event::Walk, clock.at(1));
        assert!(state.ask_for(asked) && !state.ask_for(asked));
        assert!(!state.is_wanted(wanted), "one is in flight");
        state.on(Event::Walked, clock.at(1));
        assert!(state.is_wanted(wanted));
        state.on(Event::Walk, clock.at(2));
        state.on(Event::Walked, clock.at(2));
        assert!(!state.is_wanted(Demand::OnRequest), "it is done");
    }
}

#[test]
fn outdated_snapshot_is_due_at_once_and_refreshed_by_a_request() {
    let clock = clock();
    let mut state = clock.walked();
    state.ask_for(Demand::OnRequest);
    assert_eq!(clock.found(&state, 1), Some((false, true)));
    assert!(state.has_pending_refresh() && !state.is_wanted(Demand::Background));
}

#[test]
fn background_refresh_without_a_snapshot_waits_for_a_request() {
    let mut state = State::default();
    assert!(state.ask_for(Demand::Background));
    assert!(state.is_wanted(Demand::OnRequest) && !state.is_wanted(Demand::Background));
    assert!(state.ask_for(Demand::AtOnce) && state.is_wanted(Demand::AtOnce));
}

#[test]
fn entry_that_adopts_a_snapshot_has_its_failure_and_a_pending_refresh_but_none_in_flight() {
    let clock = clock();
    assert!(!State::default().adopted().has_pending_refresh());
    let mut previous = clock.walked();
    previous.on(Event::Walk, clock.at(1));
    let adopted = previous.adopted();
    assert_eq!(clock.found(&adopted, 1), Some((false, true)));
    assert!(adopted.has_pending_refresh());
    previous.on(Event::Failed, clock.at(1));
    assert_eq!(clock.found(&previous.adopted(), 1), Some((true, false)));
    let mut first = State::default();
    first.on(Event::Walk, clock.at(0));
    assert!(first.adopted().has_pending_refresh(), "what it finds does not reach this one");
}

#[test]
fn snapshot_lacks_what_is_known_since_its_walk_began() {
    let clock = clock();
    let mut state = State::default();
    assert!(!state.may_lack(clock.at(0)), "the first walk has not begun");
    state.on(Event::Walk, clock.at(1));
    assert!(state.may_lack(clock.at(0)), "the walk may be past the document");
    state.cached = Some(clock.snapshot(1));
    state.on(Event::Walked, clock.at(2));
    assert!(!state.may_lack(clock.at(0)));
    assert!(state.may_lack(clock.at(1)));
}

#[test]
fn last_beginning_is_that_of_the_refresh_in_flight_or_of_the_snapshot() {
    let clock = clock();
    let mut state = clock.walked();
    assert_eq!(state.last_begun(), Some(clock.at(0)));
    state.on(Event::Follow, clock.at(1));
    assert_eq!(state.last_begun(), Some(clock.at(1)));
    assert_eq!(State::default().last_begun(), None);
}
