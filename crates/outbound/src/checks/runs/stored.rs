//! A run in the store: its URLs as a serialized snapshot, with the results in front of it.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::faults::FaultLog;
use super::last_run::{Dead, LastRun};
use super::results::{checked, code};
use super::run::{Findings, Run};
use super::run_key::RunKind;
use crate::checks::content::{Fault, UnreadableRobots};
use crate::checks::{CheckResult, Targets};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::sitemap::HiddenUrls;
use frontend_map_catalog::snapshot::{Builder, Listing, Serialized, Snapshot, Titles};
use frontend_map_platform::clock::unix_ms_of;
use frontend_map_store::made_by;

/// What is written in front of the snapshot. Times are in milliseconds since 1970, positions those of
/// the URLs.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunHeader {
    site: String,
    content_type: String,
    /// The fingerprint of the settings and of the version of the service, in hexadecimal digits.
    made_by: String,
    begun: i64,
    ended: i64,
    /// The outcomes in the order of the URLs, each with the number of URLs in a row that have it.
    outcomes: Vec<(u16, usize)>,
    locations: Vec<(usize, String)>,
    dead: Vec<(usize, i64)>,
    not_checked: Vec<(usize, i64)>,
    truncated: bool,
    /// The positions of the listed URLs that redirects hide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<u32>,
    /// What the run found in the pages, if it judged them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<StoredContent>,
}

/// What a run found in pages.
#[derive(Serialize, Deserialize)]
struct StoredContent {
    read: u64,
    /// The faults by the positions of their URLs, in order.
    faults: Vec<(usize, Vec<Fault>)>,
    robots: Vec<UnreadableRobots>,
}

/// A run of another process.
pub(super) struct Stored {
    pub(super) findings: Findings,
    pub(super) record: Record,
}

/// What this run and those before it have found of its dead URLs.
pub(super) struct Record {
    times: (SystemTime, SystemTime),
    dead: Vec<Dead>,
    not_checked: Vec<Dead>,
    truncated: bool,
}

/// The bytes from which [`read`] gets the run again.
pub(super) fn serialize(last_run: &LastRun, site_fingerprint: u128) -> Vec<u8> {
    let Targets { site, content_type, snapshot, hidden, .. } = last_run.run.targets();
    let (mut outcomes, mut locations) = (Vec::<(u16, usize)>::new(), Vec::new());
    let results = (0..).map_while(|position| last_run.run.in_order(position));
    for (position, result) in results {
        let outcome = code(&result);
        match outcomes.last_mut().filter(|(last, _)| *last == outcome) {
            Some((_, count)) => *count += 1,
            None => outcomes.push((outcome, 1)),
        }
        if let CheckResult::Response { location: Some(location), .. } = result {
            locations.push((position, location));
        }
    }
    let dead =
        |all: &[Dead]| all.iter().map(|dead| (dead.position, unix_ms_of(dead.since))).collect();
    let head = RunHeader {
        site: site.key.clone(),
        content_type: content_type.clone(),
        made_by: hex(site_fingerprint),
        begun: unix_ms_of(last_run.begun()),
        ended: unix_ms_of(last_run.ended()),
        outcomes,
        locations,
        dead: dead(last_run.dead()),
        not_checked: dead(last_run.not_checked()),
        truncated: last_run.is_truncated(),
        hidden: hidden.as_ref().map_or_else(Vec::new, |hidden| hidden.listed().to_vec()),
        content: last_run.run.fault_log().map(|log| StoredContent {
            read: log.tally().read,
            faults: log.iter().map(|(position, faults)| (position, faults.to_vec())).collect(),
            robots: log.robots().to_vec(),
        }),
    };
    let head = serde_json::to_string(&head).expect("texts and numbers are JSON");
    // The settings have the pages outside the CMS.
    let none = Snapshot::default();
    let snapshot = if content_type == PAGES { &none } else { &**snapshot };
    snapshot.serialize(&head, Titles::LeftOut)
}

/// The run of these bytes, which may take at most `max_bytes` once they are decompressed. `None`: other
/// settings or another version of the service made it, or the bytes are malformed.
pub(super) fn read(
    bytes: &[u8],
    max_bytes: usize,
    site: &Arc<Site>,
    content_type: &str,
    kind: RunKind,
) -> Option<Stored> {
    let serialized = Serialized::read(bytes).ok()?;
    let head: RunHeader = serde_json::from_str(serialized.head).ok()?;
    let is_own = head.site == site.key
        && head.content_type == content_type
        && head.made_by == hex(site.fingerprint)
        && head.content.is_some() == (kind == RunKind::Content);
    if !is_own {
        return None;
    }
    let snapshot = if content_type == PAGES {
        Arc::clone(site.pages.snapshot())
    } else {
        let listing = Listing { rules: &site.rules, hosts: &site.hosts, uid: content_type };
        let snapshot = serialized.snapshot_within(max_bytes, Builder { path_table: false }).ok()?;
        Arc::new(Some(snapshot).filter(|snapshot| snapshot.fits(listing))?)
    };
    let hidden = match &*head.hidden {
        [] => None,
        positions => Some(Arc::new(HiddenUrls::of_listed(&snapshot, positions)?)),
    };
    let targets = Targets::new(site, content_type, snapshot).without(hidden);
    let results = results(&head, targets.count())?;
    let dead = |all: &[(usize, i64)]| -> Option<Vec<Dead>> {
        let dead = |(position, since): &(usize, i64)| {
            let since = system_time(*since)?;
            (*position < targets.count()).then_some(Dead { position: *position, since })
        };
        all.iter().map(dead).collect()
    };
    let (dead, not_checked) = (dead(&head.dead)?, dead(&head.not_checked)?);
    let times = (system_time(head.begun)?, system_time(head.ended)?);
    let record = Record { times, dead, not_checked, truncated: head.truncated };
    let faults = head.content.map(|content| {
        let faults = content.faults.into_iter().filter(|(position, _)| *position < results.len());
        FaultLog::of_parts(content.read, faults, content.robots)
    });
    Some(Stored { findings: Findings { targets, results, faults, times }, record })
}

impl Stored {
    /// The record of the run, which ended at this time.
    pub(super) fn into_last_run(self, at: Instant) -> LastRun {
        self.record.of(Run::ended(self.findings, at))
    }
}

impl Record {
    /// The record of this run.
    pub(super) fn of(self, run: Arc<Run>) -> LastRun {
        let Self { times: (begun, ended), dead, not_checked, truncated } = self;
        LastRun::of_parts(run, begun, ended, dead, not_checked, truncated)
    }
}

/// The results in the order of the URLs.
fn results(head: &RunHeader, count: usize) -> Option<Vec<CheckResult>> {
    let mut locations = head.locations.iter().peekable();
    let mut results = Vec::with_capacity(count);
    for (outcome, times) in &head.outcomes {
        for _ in 0..(*times).min(count + 1 - results.len()) {
            let is_next = |(position, _): &&(usize, String)| *position == results.len();
            let location = locations.next_if(is_next).map(|(_, location)| location.clone());
            results.push(checked(*outcome, location)?);
        }
    }
    (results.len() == count).then_some(results)
}

fn hex(site_fingerprint: u128) -> String {
    format!("{:032x}", made_by(site_fingerprint))
}

fn system_time(milliseconds: i64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(milliseconds).ok()?))
}
