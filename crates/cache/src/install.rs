//! Installation: the one way in which a snapshot takes the place of the one before.
//!
//! Who needs to know is told in this order:
//!
//! 1. the store, of a snapshot that is from it: what it saves next continues from there;
//! 2. the entry: from here on, lists have the snapshot;
//! 3. the path history, before the path index: a path that the index no longer has is in the history;
//! 4. the path index: from here on, paths lead to the documents of the snapshot;
//! 5. change log, store and other instances: what they report can be read here by now;
//! 6. log, metrics, and the search for edits that no event has announced;
//! 7. the requests that wait for the snapshot.

use std::sync::Arc;

use tokio::spawn;

use crate::cached_snapshot::CachedSnapshot;
use crate::entry::{Completed, Event, Replaced};
use crate::refresh::{Member, count_later, record, suspects, suspects_among};
use crate::triggers::RefreshTriggers;
use frontend_map_store::Urgency;

/// Why a snapshot is installed, with what its observers need.
pub(crate) enum Cause<'c> {
    /// The refresh in flight has walked the content type.
    Walk(&'c Arc<RefreshTriggers>),
    /// These documents were read again; all others are as in the snapshot before.
    Update(&'c [&'c str], &'c Arc<RefreshTriggers>),
    /// Another instance has published it.
    Adoption,
    /// A process before this one has stored it. The caller rebuilds the path index, once for all content
    /// types.
    Store,
}

impl Cause<'_> {
    fn event(&self) -> Event {
        match self {
            Self::Walk(_) => Event::Walked,
            Self::Update(..) => Event::Updated,
            Self::Adoption => Event::Adopted,
            Self::Store => Event::Stored,
        }
    }
}

/// Installs a snapshot, whose owners of paths are decided. The caller has locked the entry for updates,
/// except for [`Cause::Store`]. Returns whether it is in use: one of the store never takes the place of
/// another one.
pub(crate) fn install(member: &Member, cached: CachedSnapshot, cause: &Cause<'_>) -> bool {
    let Member { site, entry } = member;
    let event = cause.event();
    if event == Event::Stored {
        site.continue_store(entry, &cached);
    }
    let Some(replaced) = entry.replace(cached, event) else { return false };
    let Replaced { before, cached, flight, failed_before } = replaced;
    let is_changed =
        before.as_ref().is_none_or(|one| !Arc::ptr_eq(&one.snapshot, &cached.snapshot));
    if let Some(history) = &site.history
        && is_changed
        && !cached.orphaned
    {
        let (uid, before) = (&entry.query.uid, before.as_ref().map(|before| &*before.snapshot));
        match cause {
            Cause::Walk(_) | Cause::Adoption => {
                history.record_refresh(uid, before, &cached.snapshot);
            }
            Cause::Update(ids, _) => {
                history.record_update(uid, before, &cached.snapshot, ids);
            }
            Cause::Store => {}
        }
    }
    // Also where it is the same one again: the index has its age.
    if event != Event::Stored {
        site.rebuild_index();
    }
    match cause {
        Cause::Walk(_) => site.save(entry, &cached, Urgency::Now),
        Cause::Update(..) => site.save(entry, &cached, Urgency::Debounced),
        Cause::Adoption => site.store_snapshot(entry, &cached, Urgency::Debounced),
        Cause::Store => site.loaded(entry, &cached),
    }
    if let Cause::Walk(_) = cause {
        let (outcome, orphaned) = (Ok(cached.clone()), cached.orphaned);
        record(site, entry, &Completed { outcome, failed_before, orphaned });
    }
    look_for_unannounced(member, before.as_ref(), &cached, cause);
    if let Some(flight) = flight {
        flight.complete(Ok(cached));
    }
    true
}

/// Counts the edits in a snapshot that no event has announced, when the last event may have arrived.
fn look_for_unannounced(
    member: &Member,
    before: Option<&CachedSnapshot>,
    after: &CachedSnapshot,
    cause: &Cause<'_>,
) {
    let Some(before) = before.filter(|_| !after.orphaned) else { return };
    let (suspects, triggers) = match cause {
        Cause::Walk(triggers) => (suspects(member, before, &after.snapshot, triggers), triggers),
        Cause::Update(ids, triggers) => {
            (suspects_among(member, ids, before, &after.snapshot, triggers), triggers)
        }
        Cause::Adoption | Cause::Store => return,
    };
    if let Some(suspects) = suspects {
        spawn(count_later(suspects, member.clone(), Arc::clone(triggers)));
    }
}
