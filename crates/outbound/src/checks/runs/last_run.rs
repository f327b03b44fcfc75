//! The last run of each content type, and since when each of its dead URLs has been dead.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::results::Outcome;
use super::run::Run;

/// The dead URLs of a content type that are kept and reported, at most. A site with more of them has
/// one fault, not ten thousand.
const MAX_DEAD: usize = 10_000;

/// A run that has ended, with what earlier runs of the same content type said of its dead URLs.
pub struct LastRun {
    /// The run.
    pub run: Arc<Run>,
    begun: SystemTime,
    ended: SystemTime,
    /// The first dead URLs by position.
    dead: Vec<Dead>,
    /// URLs that this run has not checked and that were dead before: nothing else is known of them.
    not_checked: Vec<Dead>,
    truncated: bool,
}

/// A dead URL.
#[derive(Clone, Copy, Debug)]
pub struct Dead {
    /// Its position among the URLs of the run.
    pub position: usize,
    /// The end of the first of the runs, without a gap, that found it dead.
    pub since: SystemTime,
}

impl LastRun {
    /// The record of a run that has ended, after that of the run before it.
    pub(super) fn new(run: Arc<Run>, previous: Option<&Self>) -> Option<Self> {
        let (begun, ended) = run.times()?;
        let known: HashMap<String, SystemTime> =
            previous.map(|previous| previous.known().collect()).unwrap_or_default();
        let (mut dead, mut not_checked) = (Vec::new(), Vec::new());
        let mut truncated = false;
        for (position, outcome) in run.outcomes().into_iter().enumerate() {
            let known = || known.get(&run.targets().url(position)).copied();
            match outcome {
                Outcome::Alive => {}
                Outcome::Dead if dead.len() == MAX_DEAD => truncated = true,
                Outcome::Dead => dead.push(Dead { position, since: known().unwrap_or(ended) }),
                Outcome::NotChecked => {
                    not_checked.extend(known().map(|since| Dead { position, since }));
                }
            }
        }
        not_checked.truncate(MAX_DEAD - dead.len());
        Some(Self { run, begun, ended, dead, not_checked, truncated })
    }

    /// A record of another process.
    pub(super) fn of_parts(
        run: Arc<Run>,
        begun: SystemTime,
        ended: SystemTime,
        dead: Vec<Dead>,
        not_checked: Vec<Dead>,
        truncated: bool,
    ) -> Self {
        Self { run, begun, ended, dead, not_checked, truncated }
    }

    pub(super) fn not_checked(&self) -> &[Dead] {
        &self.not_checked
    }

    fn known(&self) -> impl Iterator<Item = (String, SystemTime)> {
        let all = self.dead.iter().chain(&self.not_checked);
        all.map(|dead| (self.run.targets().url(dead.position), dead.since))
    }

    /// When the run began.
    pub fn begun(&self) -> SystemTime {
        self.begun
    }

    /// When the run ended.
    pub fn ended(&self) -> SystemTime {
        self.ended
    }

    /// The first 10,000 dead URLs, in the order of the URLs. A URL that was not checked is not
    /// among them.
    pub fn dead(&self) -> &[Dead] {
        &self.dead
    }

    /// Whether there are more dead URLs than [`LastRun::dead`] has.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// The positions of the URLs of a document, in the order of the site's locales.
    pub fn positions_of<'r>(&'r self, document_id: &'r str) -> impl Iterator<Item = usize> {
        self.run.targets().positions_of(document_id)
    }
}
