//! `[limits]`: timeouts, deadlines and sizes (D3, D27, D28).

use std::time::Duration;

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::Table;
use frontend_map_cms::StrapiLimits;
use frontend_map_service::server::Timeouts;

/// The most concurrent requests that can be set: a higher limit would not protect any machine or CMS.
const MAX_REQUESTS: usize = 10_000;

/// The limits for clients, for requests and for the CMS.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long a connection waits for its client.
    pub timeouts: Timeouts,
    /// The most requests in flight, of those that may take long.
    pub requests: usize,
    /// How long a request waits for one document.
    pub document_deadline: Duration,
    /// How long a request waits for a walk over all documents of a content type.
    pub walk_deadline: Duration,
    /// How long the last good response about a document is served while the CMS fails.
    pub last_good: Duration,
    /// The most requests to the CMS in flight at a time.
    pub cms_requests: usize,
    /// The limits of one request to the CMS.
    pub cms: StrapiLimits,
}

/// The default of [`Limits::requests`]: a thousand requests that wait for one URL check fit into three
/// quarters of it.
pub const DEFAULT_REQUESTS: usize = 2_048;
/// The default of [`Limits::cms_requests`].
pub const DEFAULT_CMS_REQUESTS: usize = 16;

/// The section as it is written.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct LimitsToml {
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

impl Default for LimitsToml {
    fn default() -> Self {
        Self {
            head_timeout_ms: 10_000,
            // Load balancers close after 60 s: they should close first, so that no request is lost.
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

impl LimitsToml {
    /// The names of the limits that must not be 0 and are.
    fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let bytes = |bytes: usize| bytes as u64;
        let limits = [
            ("limits.head_timeout_ms", self.head_timeout_ms),
            ("limits.idle_timeout_ms", self.idle_timeout_ms),
            ("limits.write_timeout_ms", self.write_timeout_ms),
            ("limits.document_deadline_ms", self.document_deadline_ms),
            ("limits.walk_deadline_ms", self.walk_deadline_ms),
            ("limits.cms_connect_ms", self.cms_connect_ms),
            ("limits.cms_request_ms", self.cms_request_ms),
            ("limits.cms_page_bytes", bytes(self.cms_page_bytes)),
            ("limits.cms_document_bytes", bytes(self.cms_document_bytes)),
        ];
        limits.into_iter().filter(|(_, limit)| *limit == 0).map(|(name, _)| name)
    }
}

pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Limits {
    let toml: LimitsToml = table::read(table, "limits", problems);
    for name in toml.zeros() {
        problems.add(name, "must be at least 1");
    }
    for (name, number) in
        [("limits.requests", toml.requests), ("limits.cms_requests", toml.cms_requests)]
    {
        if !(1..=MAX_REQUESTS).contains(&number) {
            problems.add(name, format_args!("must be between 1 and {MAX_REQUESTS}"));
        }
    }
    Limits {
        timeouts: Timeouts {
            head: Duration::from_millis(toml.head_timeout_ms),
            idle: Duration::from_millis(toml.idle_timeout_ms),
            write: Duration::from_millis(toml.write_timeout_ms),
        },
        requests: toml.requests,
        document_deadline: Duration::from_millis(toml.document_deadline_ms),
        walk_deadline: Duration::from_millis(toml.walk_deadline_ms),
        last_good: Duration::from_millis(toml.last_good_ms),
        cms_requests: toml.cms_requests,
        cms: StrapiLimits {
            connect: Duration::from_millis(toml.cms_connect_ms),
            request: Duration::from_millis(toml.cms_request_ms),
            page_bytes: toml.cms_page_bytes,
            document_bytes: toml.cms_document_bytes,
        },
    }
}
