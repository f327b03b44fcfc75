//! Keeps snapshots fresh: one for each content type of each site, refreshed in the background and built
//! once however many requests wait for it.
//!
//! A request reads the present snapshot and never waits for the CMS once there is one. A walk replaces
//! it as a whole; an event of the CMS names documents, which are read by themselves and put into it
//! (`incremental_update`). Of two reads of a version, the one that began later is used. What was not
//! read completely is never shown.
//!
//! # Design
//!
//! - **Built by one complete walk, swapped as a whole.** A walk is a task of its own
//!   (single-flight): neither a disconnected client nor a client's deadline cancels it.
//! - **One walk for all sites.** `TypeGroup` has the sites that list a content type and what all
//!   of them need; `MemberParts` gives each row to the parts of those sites whose locale is
//!   walked. Each site keeps its own cache entry, with its waiters, its counters and its place in
//!   a reload: a walk serves the entries that were in use when it began, and ends early when all
//!   of them are orphaned and have no waiters.
//! - **A share of the CMS's time.** Requests and invalidations only mark an entry; the refresher
//!   starts one walk at a time when `BackgroundWalks` permits it. `RefreshInterval` computes the
//!   resulting interval.
//! - **One request at a time, one page ahead.** Locales are walked one after another, so that a
//!   walk occupies the CMS no more than one client does. The request for the next page is sent as
//!   soon as the proof has seen a page's keys.
//! - **Changes without an event** (D60). `refresher::probes` requests the number and the newest
//!   versions of each content type, and the pure `unannounced` compares two of these responses
//!   with what events have named. What differs is sent to all instances like an event of the CMS.
//!   After an outage all types are due.
//! - **Invalidation.** Documents that a webhook names, and those that read them, are read by
//!   themselves and put into a copy of the snapshot (incremental update); a walk that began
//!   before gets them when it completes. Reads may overlap: those of named documents, lists of
//!   dependents, walks. A read contains every change that was known when it began. So of two
//!   reads of a version, the one that began later is used, whichever ends first. Where a read has
//!   found versions that read a document which has changed since it began, the change is looked at
//!   again. A walk whose list cannot be put together with the updates since it began is withheld and
//!   repeated at once, up to three times.
//! - **One way to replace a snapshot.** `install` tells the observers in one order; `entry::state` is
//!   the table of what each event does to an entry.
//! - **Links in content** have scans of their own (`links`), which no walk waits for.

mod cached_snapshot;
mod document_cache;
mod entry;
mod file_cache;
mod fleet;
mod incremental_update;
mod install;
mod invalidation;
mod links;
mod lookup;
mod refresh;
mod refresher;
mod settings;
mod site_cache;
mod snapshot_cache;
mod status;
mod triggers;

pub use cached_snapshot::{CacheStatus, CachedSnapshot, KnownSnapshot, Served, SitemapFiles};
pub use document_cache::{DocumentCache, DocumentLimits, FoundDocument, LastGoodDocuments, Stale};
pub use file_cache::FileCache;
pub use fleet::{follow_roles, follow_snapshots};
pub use incremental_update::apply_invalidations;
pub use links::{LinkRegistry, SiteLinks};
pub use refresh::{FAILED_WALK, no_snapshot, walk_failure};
pub use refresher::{Probes, keep_fresh};
pub use settings::{Freshness, ProcessState, Settings};
pub use site_cache::PathIndexState;
pub use snapshot_cache::{SnapshotCache, follow_store};
pub use status::TypeStatus;
pub use triggers::RefreshTriggers;
