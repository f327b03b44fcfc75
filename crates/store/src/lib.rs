//! What survives a restart, in one file: the last snapshots, the path history, the change log, the results
//! of URL checks, the paths that were not found and the links in content.
//!
//! A thread of its own writes, and nothing waits for it: where the file cannot be used, the service
//! goes on with what it has in memory, and says so. The file has paths, ids and dates of published
//! documents; no token, no draft, and no content beyond these.
//!
//! # Design
//!
//! - **Serialized from the logical content.** The catalog's `snapshot::serialized` writes the rows
//!   of a snapshot in columns (flags, rules, locales, dates, paths, ids, references), compressed,
//!   behind a checksum. It is read into a draft that `Builder` makes a snapshot of, like the documents of a walk:
//!   orders, indexes and hashes are computed again, so that bytes from outside cannot contradict
//!   them. An id stands once for each document, and a reference names its document by position,
//!   so that little is stored that cannot be compressed. Titles are one more column, which the
//!   store leaves out.
//! - **The queue keeps the last snapshot** of each content type of each site. It shares the
//!   snapshot with the cache (`Arc`), so that snapshots which cannot be written cost memory only
//!   once the cache has replaced them.
//! - **A file that fails is closed.** After an error the database is closed, opened again and
//!   checked, as after a crash. When it has been opened for the first time, after another process
//!   has released it or after a failure, the cache's `follow_store` takes the snapshots from it
//!   that are missing, and stores the others.
//! - **redb**, because it is one file, is written in Rust alone, survives a kill at any moment,
//!   and checks each page when it is opened. A row for each snapshot suffices: a snapshot is
//!   written as a whole.

mod changes;
mod file;
mod file_slot;
mod history_copy;
mod persisted_instant;
mod queue;
mod snapshot_key;
mod store;
mod stored_snapshot;
mod writer;

pub use file::{CONTENT_RUN, RowKey};
pub use file_slot::StoreState;
pub use history_copy::{CopyRow, HistoryCopy};
pub use snapshot_key::SnapshotKey;
pub use store::Store;
pub use stored_snapshot::{StoredSnapshot, Urgency, made_by};
