//! Connections of callers.

use std::fmt;

use super::{Count, Counts, Page, number};

closed! {
    /// Why a connection ended.
    pub enum Ended {
        /// The client closed it, or asked for the close.
        Client => "client",
        /// The client broke off, or spoke something else than HTTP.
        Error => "error",
        /// A request's head took too long.
        Head => "head_timeout",
        /// The next request took too long.
        Idle => "idle_timeout",
        /// The client took too long to read.
        Write => "write_timeout",
        /// All seats were taken, and the connection had waited for its client for longest.
        Crowded => "crowded",
        /// The service stops.
        Stop => "stop",
    }
}

/// Connections of callers.
#[derive(Debug, Default)]
pub struct Connections {
    /// Connections that were accepted.
    pub accepted: Count,
    /// Those of them that have ended.
    pub ended: Counts<Ended>,
    /// Failed attempts to accept one.
    pub refused: Count,
}

impl Connections {
    /// How many are open.
    #[must_use]
    pub fn open(&self) -> u64 {
        // First those that have ended: one that ends meanwhile is no negative number.
        let ended: u64 = self.ended.iter().map(|(_, count)| count).sum();
        self.accepted.get().saturating_sub(ended)
    }

    pub(super) fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        page.one_count("connections_accepted", "Connections accepted", &self.accepted)?;
        page.counts("connections_closed", "Connections that have ended", "reason", &self.ended)?;
        page.one_count("accept_failures", "Failed attempts to accept a connection", &self.refused)?;
        let open = number(self.open());
        page.gauge("connections_open", "Connections that are open", [([], open)])
    }
}
