//! `[limits]`: timeouts, deadlines and sizes (D3, D27, D28).

use std::time::Duration;

use crate::config::section::Section;
use crate::config::value::{millis, whole};
use frontend_map_cms::StrapiLimits;
use frontend_map_service::server::Timeouts;

/// The most concurrent requests that can be set: a higher limit would not protect any machine or CMS.
const MAX_REQUESTS: u64 = 10_000;

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
    /// The most memory of the links in the content of one site, in bytes.
    pub links: usize,
}

/// The least memory that can be set for links: some thousands of them.
const MIN_LINKS_BYTES: u64 = 1 << 20;
/// The most: numbers of links have 32 bits.
const MAX_LINKS_BYTES: u64 = 4 << 30;

/// The default of [`Limits::requests`]: a thousand requests that wait for one URL check fit into three
/// quarters of it.
pub const DEFAULT_REQUESTS: usize = 2_048;

pub(in crate::config) fn read(limits: &mut Section<'_>) -> Limits {
    Limits {
        timeouts: Timeouts {
            head: limits.get("head_timeout_ms", millis(1..)),
            idle: limits.get("idle_timeout_ms", millis(1..)),
            write: limits.get("write_timeout_ms", millis(1..)),
        },
        requests: limits.get("requests", whole(1..=MAX_REQUESTS)),
        document_deadline: limits.get("document_deadline_ms", millis(1..)),
        walk_deadline: limits.get("walk_deadline_ms", millis(1..)),
        last_good: limits.get("last_good_ms", millis(..)),
        cms_requests: limits.get("cms_requests", whole(1..=MAX_REQUESTS)),
        cms: StrapiLimits {
            connect: limits.get("cms_connect_ms", millis(1..)),
            request: limits.get("cms_request_ms", millis(1..)),
            page_bytes: limits.get("cms_page_bytes", whole(1..)),
        },
        links: limits.get("links_bytes", whole(MIN_LINKS_BYTES..=MAX_LINKS_BYTES)),
    }
}
