//! The change logs in Redis, as an instance follows them.
//!
//! The log of a site has the same identity and the same sequence numbers on all instances, so that a
//! cursor of one is valid on all. An instance that records changes by itself, because Redis is
//! unavailable, continues its copy as a branch with an identity of its own.

use super::parts::Part;
use super::site_log::LogHead;
use super::{ChangeLog, Cursor};

/// What has become of changes that an instance got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// They are in the log.
    Appended,
    /// They were in the log before.
    Known,
    /// They are of another log, or overlap with other ones.
    Refused,
}

impl ChangeLog {
    /// The log of this site is the one that Redis has with this identity and source. A copy of it
    /// is continued without what the instance has recorded by itself; in place of another log an empty
    /// one begins. Returns the sequence number after which changes are to be read.
    pub fn follow(&self, site: &str, log: u64, source: u128) -> u64 {
        let state = &mut *self.state.lock();
        let own = state.site(site);
        if !own.rejoin(log) {
            let head = LogHead { log, source, last: 0 };
            *own = super::SiteLog::stored(head, std::collections::VecDeque::new());
            self.changed.send_modify(|version| *version += 1);
        }
        own.set_source(source);
        own.present().sequence
    }

    /// Appends changes that Redis has, to a log that is followed. If changes before them are no
    /// longer kept, the log begins with these.
    pub fn apply(&self, site: &str, part: Part) -> Applied {
        let state = &mut *self.state.lock();
        let keep = state.keep;
        let log = state.site(site);
        let present = log.present();
        if !log.is_stored() || present.log != part.log {
            return Applied::Refused;
        }
        if part.last() <= present.sequence {
            return Applied::Known;
        }
        if part.first <= present.sequence {
            return Applied::Refused;
        }
        log.append_after(part.first - 1, part.entries, keep);
        self.changed.send_modify(|version| *version += 1);
        Applied::Appended
    }

    /// The log of this site begins again, with an identity of its own: what the instance knows does not
    /// fit what it has given out.
    pub fn forget(&self, site: &str) {
        self.restart(site);
        self.changed.send_modify(|version| *version += 1);
    }

    /// Whether a cursor is of the log that a site has now, after the changes that are known here: it may be
    /// from an instance that has read more of Redis's log.
    pub fn is_ahead(&self, site: &str, cursor: Cursor) -> bool {
        let state = &mut *self.state.lock();
        let log = state.site(site);
        let present = log.present();
        log.is_stored() && cursor.log == present.log && cursor.sequence > present.sequence
    }
}
