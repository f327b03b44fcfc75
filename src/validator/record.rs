//! What a run has found so far, compactly: 12 bytes a URL, and the text of redirect targets.

use super::report::Tally;
use super::{Checked, Failure};

/// No redirect target.
const NONE: u32 = u32::MAX;
/// From here on an outcome is a failure, which is no status.
const FAILURES: u16 = 1000;

/// All failures, by the outcome that stands for them.
const ALL: [Failure; 8] = [
    Failure::Timeout,
    Failure::Dns,
    Failure::Refused,
    Failure::Reset,
    Failure::Tls,
    Failure::InvalidResponse,
    Failure::AddressNotAllowed,
    Failure::NotChecked,
];

/// The results of a run, in the order in which they became known.
#[derive(Debug, Default)]
pub struct Record {
    known: Vec<Known>,
    locations: Vec<Box<str>>,
    tally: Tally,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    position: u32,
    location: u32,
    outcome: u16,
}

impl Record {
    /// Nothing yet, with room for this many results.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self { known: Vec::with_capacity(count), ..Self::default() }
    }

    /// Notes what came of the URL at a position. How long a peer wants to be left alone is not
    /// kept.
    pub fn push(&mut self, position: usize, checked: Checked) {
        self.tally.add(&checked);
        let (outcome, location) = match checked {
            Checked::Answered { status, location, .. } => (status, location),
            Checked::Failed(failure) => (outcome(failure), None),
        };
        let location = location.map_or(NONE, |text| {
            self.locations.push(text.into());
            short(self.locations.len() - 1)
        });
        self.known.push(Known { position: short(position), location, outcome });
    }

    /// How many results there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The counters over all of them.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The position and result that became known as the `nth`, from 0.
    #[must_use]
    pub fn get(&self, nth: usize) -> Option<(usize, Checked)> {
        let known = self.known.get(nth)?;
        let failure = known.outcome.checked_sub(FAILURES).map(|at| ALL[usize::from(at)]);
        let location = || Some(self.locations.get(known.location as usize)?.to_string());
        let checked = match failure {
            Some(failure) => Checked::Failed(failure),
            None => {
                Checked::Answered { status: known.outcome, location: location(), retry_after: None }
            }
        };
        Some((known.position as usize, checked))
    }

    /// What [`Record::get`] takes, by position.
    #[must_use]
    pub fn in_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..short(self.known.len())).collect();
        order.sort_unstable_by_key(|nth| self.known[*nth as usize].position);
        order
    }
}

/// Positions in a snapshot, which counts with as many bits.
fn short(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

fn outcome(failure: Failure) -> u16 {
    let at = (FAILURES..).zip(ALL).find(|(_, known)| *known == failure);
    at.map_or(FAILURES, |(outcome, _)| outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let answered = |status, location: Option<&str>| Checked::Answered {
            status,
            location: location.map(str::to_owned),
            retry_after: None,
        };
        let answers = [answered(301, Some("/en")), answered(999, None), answered(302, Some(""))];
        let all: Vec<Checked> = ALL.map(Checked::Failed).into_iter().chain(answers).collect();
        let mut record = Record::default();
        for (nth, checked) in all.iter().enumerate() {
            record.push(1000 - nth, checked.clone());
        }
        for (nth, checked) in all.iter().enumerate() {
            assert_eq!(record.get(nth), Some((1000 - nth, checked.clone())));
        }
        assert_eq!((record.len(), record.get(all.len())), (all.len(), None));
        assert_eq!(record.tally().count, 11);
        assert_eq!(record.in_order(), (0..11).rev().collect::<Vec<u32>>());
    }
}
