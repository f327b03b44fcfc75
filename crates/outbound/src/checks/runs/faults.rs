//! The faults of the pages of a run, by the positions of their URLs.

use std::collections::BTreeMap;

use crate::checks::CheckResult;
use crate::checks::content::{
    Fault, FaultTally, Judged, UnreadableRobots, dead_canonicals, mark_dead,
};

/// Faults whose details are kept: a site with more of them has one fault, not ten thousand.
const MAX_DETAILS: usize = 10_000;

/// What a run has found in its pages.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultLog {
    by_position: BTreeMap<usize, Box<[Fault]>>,
    tally: FaultTally,
    details: usize,
    robots: Vec<UnreadableRobots>,
}

impl FaultLog {
    /// What another process has found.
    pub(super) fn of_parts(
        read: u64,
        faults: impl Iterator<Item = (usize, Vec<Fault>)>,
        robots: Vec<UnreadableRobots>,
    ) -> Self {
        let mut log = Self { robots, ..Self::default() };
        for (position, faults) in faults {
            log.push(position, Judged { is_read: false, faults });
        }
        log.tally.read = read;
        log
    }

    pub(super) fn set_robots(&mut self, robots: Vec<UnreadableRobots>) {
        self.robots = robots;
    }

    /// The files that cannot be read.
    pub(super) fn robots(&self) -> &[UnreadableRobots] {
        &self.robots
    }

    /// Adds the judgement of the page at a position.
    pub(super) fn push(&mut self, position: usize, judged: Judged) {
        let Judged { is_read, mut faults } = judged;
        self.tally.add(is_read, &faults);
        if faults.is_empty() {
            return;
        }
        for fault in &mut faults {
            if self.details == MAX_DETAILS {
                fault.detail = Box::default();
            } else {
                self.details += usize::from(!fault.detail.is_empty());
            }
        }
        self.by_position.insert(position, faults.into());
    }

    /// The faults of the page at a position, in the order of reports.
    pub(super) fn of(&self, position: usize) -> &[Fault] {
        self.by_position.get(&position).map_or(&[], |faults| faults)
    }

    /// All positions with faults, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &[Fault])> {
        self.by_position.iter().map(|(position, faults)| (*position, &**faults))
    }

    pub(super) fn tally(&self) -> &FaultTally {
        &self.tally
    }

    /// Marks the canonical links that lead to dead URLs, after the results of all URLs are known.
    pub(super) fn mark_dead_canonicals(
        &mut self,
        checked: impl Iterator<Item = (String, CheckResult)>,
    ) {
        let dead = dead_canonicals(self.by_position.values().flatten(), checked);
        for fault in self.by_position.values_mut().flatten() {
            let from = fault.kind;
            if mark_dead(fault, &dead) {
                self.tally.recount(from, fault.kind);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::content::FaultKind;

    fn judged(kind: FaultKind, detail: &str) -> Judged {
        Judged { is_read: true, faults: vec![Fault::new(kind, detail)] }
    }

    #[test]
    fn details_of_the_first_faults_are_kept_and_all_are_counted() {
        let mut log = FaultLog::default();
        for position in 0..MAX_DETAILS + 2 {
            log.push(position, judged(FaultKind::Noindex, "x"));
        }
        log.push(MAX_DETAILS + 2, Judged { is_read: true, faults: Vec::new() });
        let count = MAX_DETAILS as u64 + 2;
        assert_eq!(log.tally().kinds, BTreeMap::from([(FaultKind::Noindex, count)]));
        assert_eq!(log.tally().read, count + 1);
        assert_eq!(&*log.of(MAX_DETAILS - 1)[0].detail, "x");
        assert_eq!(&*log.of(MAX_DETAILS)[0].detail, "");
        assert!(log.of(MAX_DETAILS + 2).is_empty());
    }

    #[test]
    fn canonical_link_to_a_dead_url_is_counted_as_such() {
        let mut log = FaultLog::default();
        log.push(3, judged(FaultKind::CanonicalElsewhere, "https://a.example/x"));
        let dead = CheckResult::Response { status: 404, location: None, retry_after: None };
        log.mark_dead_canonicals(std::iter::once(("https://a.example/x".to_owned(), dead)));
        assert_eq!(log.of(3)[0].to_string(), "canonical_dead: https://a.example/x: 404");
        assert_eq!(log.tally().kinds, BTreeMap::from([(FaultKind::CanonicalDead, 1)]));
        let copy = FaultLog::of_parts(
            log.tally().read,
            log.iter().map(|(position, faults)| (position, faults.to_vec())),
            Vec::new(),
        );
        assert_eq!(copy.tally(), log.tally());
    }
}
