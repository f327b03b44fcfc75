//! The pointer of a snapshot, which names the published version and its base.

use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::{SharedSnapshotId, SharedSnapshots, WITHIN};
use crate::redis::{self, Chunks};
use crate::snapshot_position::Position;
use frontend_map_catalog::hex;

/// The most bytes of a sealed pointer, which has names and numbers alone.
const MAX_BYTES: usize = 64 << 10;

/// The sealed content of a pointer: a published version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pointer {
    pub(super) position: Position,
    /// The content hash of the snapshot.
    #[serde(with = "hex")]
    pub(super) hash: u128,
    /// The hash of the URLs of the snapshot.
    #[serde(with = "hex")]
    pub(super) urls_hash: u128,
    pub(super) rows: usize,
    /// When its walk began, by Redis's clock.
    pub(super) walked_at: i64,
    /// When what is newest in it was read from the CMS, by Redis's clock.
    pub(super) as_of: i64,
    pub(super) took_ms: u64,
    /// When it was published, by Redis's clock.
    pub(super) published_at: i64,
    pub(super) base: Base,
}

/// The whole of a version, to which deltas are applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) position: Position,
    #[serde(with = "hex")]
    pub(super) hash: u128,
    pub(super) chunks: Chunks,
}

/// What was found at the key of a pointer.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The position as text, which scripts compare; empty if there is none. It has no seal of its
    /// own.
    pub(super) at: String,
    /// `None`: there is none, or it is damaged.
    pub(super) pointer: Option<Pointer>,
}

impl SharedSnapshots {
    pub(super) fn seal_pointer(&self, id: &SharedSnapshotId, pointer: &Pointer) -> Vec<u8> {
        self.redis.seal_json(&context(id), pointer)
    }

    pub(super) async fn find(&self, id: &SharedSnapshotId) -> Result<Found, redis::Error> {
        let key = self.pointer_key(id);
        let [at, sealed] = self.redis.fields(&key, ["at", "pointer"], MAX_BYTES, WITHIN).await?;
        let at = position_text(at);
        let open = |sealed: Vec<u8>| self.redis.open_json(&context(id), &sealed);
        let pointer: Option<Pointer> = sealed.and_then(open);
        let pointer = pointer.filter(|pointer| pointer.position.to_string() == at);
        Ok(Found { at, pointer })
    }

    /// The position that each snapshot's pointer has now, as text; empty where there is none, or a
    /// foreign value. `None`: Redis refuses to read it.
    pub(super) async fn positions(
        &self,
        ids: &[SharedSnapshotId],
    ) -> Result<Vec<Option<String>>, redis::Error> {
        let position = async |id: &SharedSnapshotId| {
            let key = self.pointer_key(id);
            match self.redis.fields(&key, ["at"], MAX_BYTES, WITHIN).await {
                Ok([at]) => Ok(Some(position_text(at))),
                Err(redis::Error::Refused(_)) => Ok(None),
                Err(error) => Err(error),
            }
        };
        try_join_all(ids.iter().map(position)).await
    }
}

/// A position as text. Other bytes than ASCII count as none, also in the script that publishes.
fn position_text(at: Option<Vec<u8>>) -> String {
    let at = at.and_then(|at| String::from_utf8(at).ok());
    at.filter(|at| at.is_ascii()).unwrap_or_default()
}

fn context(id: &SharedSnapshotId) -> String {
    format!("pointer of {id}")
}
