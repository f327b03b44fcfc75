//! What several instances share through Redis or Valkey: who leads, the published snapshots, events of
//! the CMS, change logs, the path history, missed paths, links in content and URL checks.
//!
//! [`redis`] is the client: availability, leases with epochs, sealed values, chunks, the stream of
//! events. Nothing else speaks to Redis. While it is unavailable, each instance works alone and says so.
//! A value that this version did not write is refused by its length or its seal, replaced and
//! reported.
//!
//! # A walk and an edit, with two instances
//!
//! A walk:
//!
//! 1. While Redis is available, each heartbeat of `redis` gets or renews the leases. Of the instances
//!    with the same settings, the one with their lease has the role `Leader` (`Lead`), all others have
//!    the role `Follower`. Without Redis the role of each instance is `Alone`, and the next steps do
//!    not happen.
//! 2. A request on the follower finds its snapshot due for a refresh. It is answered from that
//!    snapshot, and an event asks the leader for the refresh: the follower's refresher starts none.
//!    A request that finds no snapshot waits for the next adoption (`refresh::followed` of the
//!    cache), or for the event that the leader's walk has failed. The leader acknowledges the
//!    request by another event. A follower that gets neither an acknowledgement nor a publication
//!    for 10 to 14 seconds walks by itself (`groups`). A leader whose walks of all content types
//!    fail releases its lease for another instance.
//! 3. The leader walks the CMS, as an instance without `[shared]` does, and puts the snapshot into
//!    its cache entry. Each snapshot that is written to the store also becomes a publish request of
//!    `snapshots`: the publisher computes the delta to the version that is published, and
//!    uploads a new base if there is none or the deltas have become large.
//! 4. One script writes the pointer, the delta, the changes of the site and the event that
//!    announces the version, but only if the lease and the pointer still have the values that
//!    the leader knows.
//! 5. The follower reads the event, the pointer and the deltas that it does not have. It opens each
//!    seal, applies the deltas to its snapshot, compares the content hash with that of the pointer
//!    and parses each path. Then the result replaces the cached snapshot, as after a refresh: path
//!    history, path index, store and sitemap files are updated, and the requests that wait are
//!    answered. A follower whose own snapshot is later keeps it; if that may lack changes of the
//!    version, another event asks the leader for a walk.
//!
//! An edit:
//!
//! 1. Strapi sends the webhook to any instance, which appends an event to the event stream and
//!    responds.
//! 2. Each instance reads the event and drops the last good responses about the document. The
//!    leader's update loops read the document and its dependents once, and change its snapshot.
//! 3. The leader publishes the changed snapshot like that of a walk; its delta has the changed
//!    documents.

pub mod changes;
pub mod checks;
pub mod cms_events;
mod event;
mod fleet;
mod groups;
pub mod history;
mod known_groups;
mod lead;
pub mod links;
pub mod misses;
#[cfg(test)]
mod model;
pub mod positions;
pub mod redis;
mod role;
mod snapshot_id;
mod snapshot_position;
pub mod snapshots;
pub mod status;

pub use event::{FleetEvent, Gap};
pub use fleet::Fleet;
pub use groups::{SnapshotGroup, WalkFailure};
pub use lead::Lead;
pub use role::Role;
pub use snapshot_id::{SharedSnapshotId, SnapshotId};
