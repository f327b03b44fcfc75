//! Hashes that stand for documents.

use xxhash_rust::xxh3::xxh3_64;

/// Scatters documents evenly, in the same way on every instance and in every version. It needs no
/// seed, because clients do not choose the ids of documents.
pub(super) fn document_hash(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}
