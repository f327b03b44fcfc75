//! `frontend-map pages` and `frontend-map problems`: the tables of the service, without the service.

mod csv;
pub(super) mod pages;
pub(super) mod problems;
mod text;

use std::io::{self, Write};
use std::sync::Arc;

use crate::snapshot::Snapshot;
use crate::snapshot_cache::CachedCopy;
use crate::tables::{Chunks, Rows};

/// The snapshots of the copies.
fn snapshots<T>(copies: Vec<(T, CachedCopy)>) -> Vec<Arc<Snapshot>> {
    copies.into_iter().map(|(_, copy)| copy.snapshot).collect()
}

/// Writes a table chunk by chunk.
fn write_chunks<R: Rows>(chunks: Chunks<R>, out: &mut dyn Write) -> io::Result<()> {
    chunks.into_iter().try_for_each(|chunk| out.write_all(chunk.as_bytes()))
}
