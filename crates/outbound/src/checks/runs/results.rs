//! The result log of a run: 12 bytes a URL, and the text of redirect targets.

use crate::checks::report::{Class, Tally};
use crate::checks::{CheckResult, Failure};

/// In place of an index: the result has no redirect target.
const NO_LOCATION: u32 = u32::MAX;
/// Outcomes from here on are failures, by index into [`FAILURES`]; those below are HTTP statuses.
const FIRST_FAILURE: u16 = 1000;

const FAILURES: [Failure; 8] = [
    Failure::Timeout,
    Failure::Dns,
    Failure::Refused,
    Failure::Reset,
    Failure::Tls,
    Failure::InvalidResponse,
    Failure::AddressNotAllowed,
    Failure::NotChecked,
];

/// What a result says of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A page or a redirect.
    Alive,
    /// Another response, or none.
    Dead,
    /// The URL was not requested before the deadline: nothing is known.
    NotChecked,
}

/// The results of a run, in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct ResultLog {
    entries: Vec<Entry>,
    locations: Vec<Box<str>>,
    tally: Tally,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    position: u32,
    location: u32,
    outcome: u16,
}

impl ResultLog {
    /// An empty log with room for `count` results.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self { entries: Vec::with_capacity(count), ..Self::default() }
    }

    /// Adds the result of the URL at a position. Its `retry_after` is not stored.
    pub(super) fn push(&mut self, position: usize, checked: CheckResult) {
        self.tally.add(&checked);
        let outcome = code(&checked);
        let location = match checked {
            CheckResult::Response { location, .. } => location,
            CheckResult::Failed(_) => None,
        };
        let location = location.map_or(NO_LOCATION, |text| {
            self.locations.push(text.into());
            index(self.locations.len() - 1)
        });
        self.entries.push(Entry { position: index(position), location, outcome });
    }

    /// The number of results.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The counters over all results.
    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The `nth` result, from 0, with its position.
    pub(super) fn get(&self, nth: usize) -> Option<(usize, CheckResult)> {
        self.entries.get(nth).map(|entry| self.read(*entry))
    }

    /// All results with their positions, in the order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, CheckResult)> {
        self.entries.iter().map(|entry| self.read(*entry))
    }

    /// What the `nth` result says of its URL.
    pub(super) fn outcome(&self, nth: usize) -> Outcome {
        let code = self.entries[nth].outcome;
        match code.checked_sub(FIRST_FAILURE).map(|failure| FAILURES[usize::from(failure)]) {
            Some(Failure::NotChecked) => Outcome::NotChecked,
            Some(_) => Outcome::Dead,
            None if Class::of(Some(code)).is_dead() => Outcome::Dead,
            None => Outcome::Alive,
        }
    }

    /// The arguments of [`ResultLog::get`], sorted by position.
    pub(super) fn by_position(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..index(self.entries.len())).collect();
        order.sort_unstable_by_key(|nth| self.entries[*nth as usize].position);
        order
    }

    fn read(&self, entry: Entry) -> (usize, CheckResult) {
        let location = self.locations.get(entry.location as usize).map(ToString::to_string);
        let checked = checked(entry.outcome, location);
        (entry.position as usize, checked.expect("only codes of results are in the log"))
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("a snapshot indexes its URLs with 32 bits")
}

/// The status, or the number of a failure.
pub(super) fn code(checked: &CheckResult) -> u16 {
    let failure = match checked {
        CheckResult::Response { status, .. } => return *status,
        CheckResult::Failed(failure) => failure,
    };
    let codes = (FIRST_FAILURE..).zip(FAILURES);
    let mut found = codes.filter(|(_, known)| known == failure);
    found.next().expect("every failure is in FAILURES").0
}

/// The result with this code; `None`: there is no such failure.
pub(super) fn checked(code: u16, location: Option<String>) -> Option<CheckResult> {
    match code.checked_sub(FIRST_FAILURE) {
        Some(failure) => FAILURES.get(usize::from(failure)).map(|own| CheckResult::Failed(*own)),
        None => Some(CheckResult::Response { status: code, location, retry_after: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushed_results_are_read_back_unchanged() {
        let answered = |status, location: Option<&str>| CheckResult::Response {
            status,
            location: location.map(str::to_owned),
            retry_after: None,
        };
        let answers = [answered(301, Some("/en")), answered(999, None), answered(302, Some(""))];
        let all: Vec<CheckResult> =
            FAILURES.map(CheckResult::Failed).into_iter().chain(answers).collect();
        let mut log = ResultLog::default();
        for (nth, checked) in all.iter().enumerate() {
            log.push(1000 - nth, checked.clone());
        }
        for (nth, checked) in all.iter().enumerate() {
            assert_eq!(log.get(nth), Some((1000 - nth, checked.clone())));
        }
        let outcomes: Vec<Outcome> = (0..all.len()).map(|nth| log.outcome(nth)).collect();
        let mut expected = vec![Outcome::Dead; FAILURES.len()];
        expected[7] = Outcome::NotChecked;
        expected.extend([Outcome::Alive, Outcome::Dead, Outcome::Alive]);
        assert_eq!(outcomes, expected);
        assert_eq!((log.len(), log.get(all.len())), (all.len(), None));
        assert!(log.iter().eq((0..all.len()).filter_map(|nth| log.get(nth))));
        assert_eq!(log.tally().count, 11);
        assert_eq!(log.by_position(), (0..11).rev().collect::<Vec<u32>>());
    }
}
