//! `[limits]`: deadlines and sizes (D3, D27, D28).

use std::time::Duration;

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table::{self, Table};
use crate::content::StrapiLimits;
use crate::server::Timeouts;

/// More would be no limit to any CMS or machine, and far more than a semaphore can count.
const MOST_REQUESTS: usize = 10_000;

/// How long callers wait, and let us wait, and how much the CMS may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long callers may let us wait.
    pub timeouts: Timeouts,
    /// How many requests may be under way, of those that may take their time.
    pub requests: usize,
    /// How long a caller waits for one document.
    pub document_deadline: Duration,
    /// How long a caller waits for a walk over all documents of a type.
    pub walk_deadline: Duration,
    /// How long the last good answer about a document is good enough while the CMS fails.
    pub last_good: Duration,
    /// The most requests to the CMS in flight at a time.
    pub cms_requests: usize,
    /// The limits of one request to the CMS.
    pub cms: StrapiLimits,
}

/// [`Limits::requests`] without a setting: a thousand who wait for one run of URL checks find room in
/// three quarters of it.
pub const DEFAULT_REQUESTS: usize = 2_048;
/// [`Limits::cms_requests`] without a setting.
pub const DEFAULT_CMS_REQUESTS: usize = 16;

/// As written; milliseconds and bytes where the name says nothing else.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Raw {
    head_timeout_ms: u64,
    idle_timeout_ms: u64,
    write_timeout_ms: u64,
    requests: usize,
    document_deadline_ms: u64,
    walk_deadline_ms: u64,
    last_good_ms: u64,
    cms_connect_ms: u64,
    cms_request_ms: u64,
    cms_page_bytes: usize,
    cms_document_bytes: usize,
    cms_requests: usize,
}

impl Default for Raw {
    fn default() -> Self {
        Self {
            head_timeout_ms: 10_000,
            // Above the 60 s that balancers keep a connection: the client should be who closes it.
            idle_timeout_ms: 75_000,
            write_timeout_ms: 30_000,
            requests: DEFAULT_REQUESTS,
            document_deadline_ms: 10_000,
            walk_deadline_ms: 120_000,
            last_good_ms: 3_600_000,
            cms_connect_ms: 1_000,
            cms_request_ms: 5_000,
            cms_page_bytes: 16 << 20,
            cms_document_bytes: 1 << 20,
            cms_requests: DEFAULT_CMS_REQUESTS,
        }
    }
}

impl Raw {
    fn has_zero(&self) -> bool {
        let times = [
            self.head_timeout_ms,
            self.idle_timeout_ms,
            self.write_timeout_ms,
            self.document_deadline_ms,
            self.walk_deadline_ms,
            self.cms_connect_ms,
            self.cms_request_ms,
        ];
        let amounts =
            [self.requests, self.cms_page_bytes, self.cms_document_bytes, self.cms_requests];
        times.contains(&0) || amounts.contains(&0)
    }
}

pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Limits {
    let raw: Raw = table::read(table, "limits", problems);
    if raw.has_zero() {
        problems.add("limits", "each limit is at least 1");
    }
    for (name, number) in
        [("limits.requests", raw.requests), ("limits.cms_requests", raw.cms_requests)]
    {
        if number > MOST_REQUESTS {
            problems.add(name, format_args!("it is at most {MOST_REQUESTS}"));
        }
    }
    Limits {
        timeouts: Timeouts {
            head: Duration::from_millis(raw.head_timeout_ms),
            idle: Duration::from_millis(raw.idle_timeout_ms),
            write: Duration::from_millis(raw.write_timeout_ms),
        },
        requests: raw.requests,
        document_deadline: Duration::from_millis(raw.document_deadline_ms),
        walk_deadline: Duration::from_millis(raw.walk_deadline_ms),
        last_good: Duration::from_millis(raw.last_good_ms),
        cms_requests: raw.cms_requests,
        cms: StrapiLimits {
            connect: Duration::from_millis(raw.cms_connect_ms),
            request: Duration::from_millis(raw.cms_request_ms),
            page_bytes: raw.cms_page_bytes,
            document_bytes: raw.cms_document_bytes,
        },
    }
}
