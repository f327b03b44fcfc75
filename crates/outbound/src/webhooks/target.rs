//! The targets of webhooks, and the timing of requests to them.

use std::fmt;
use std::time::Duration;

use reqwest::Url;

use super::indexnow::IndexNow;
use super::signing_key::SigningKey;
use frontend_map_catalog::changes::log::Kind;

/// A target of webhooks.
#[derive(PartialEq)]
pub struct Target {
    /// Its name in the log and in metrics: the host, without anything that may be secret.
    pub name: String,
    /// Where requests are sent. Its path and query are often secret.
    pub url: Url,
    /// What it gets.
    pub kind: TargetKind,
    /// The sites whose changes are sent.
    pub sites: Vec<String>,
    /// The kinds of changes that are sent.
    pub kinds: Vec<Kind>,
    /// Whether to send changes of pages that sitemaps leave out, too.
    pub unlisted: bool,
}

/// Without the URL, which may have a secret.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a target gets (`notify.kind`).
#[derive(PartialEq)]
pub enum TargetKind {
    /// The changes, signed by this key.
    Changes(SigningKey),
    /// The URLs of the changes.
    IndexNow(IndexNow),
}

/// Time-outs, and the pauses between attempts.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// For a connection.
    pub connect: Duration,
    /// For a request until the head of its response.
    pub request: Duration,
    /// The pause after the first failure. It doubles with each further one.
    pub first_pause: Duration,
    /// The longest pause.
    pub max_pause: Duration,
    /// How long a request is retried until a reset replaces the changes.
    pub give_up: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(15),
            first_pause: Duration::from_millis(200),
            max_pause: Duration::from_mins(10),
            give_up: Duration::from_hours(24),
        }
    }
}
