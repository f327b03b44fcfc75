//! The snapshot of a content type that was published last, by whatever settings and version of the
//! service: a leader with other ones continues its owners of paths (D22).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::pointer::Found;
use super::reading::Frame;
use super::{NotAdopted, SharedSnapshotId, SharedSnapshots, WITHIN};
use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::snapshot::{Builder, Snapshot};
use frontend_map_store::SnapshotKey;

/// The most bytes of a sealed name.
const MAX_BYTES: usize = 64 << 10;

/// The sealed value: which snapshot it is, and the locales of its site.
#[derive(Debug, Serialize, Deserialize)]
struct Name {
    list: String,
    locales: LocaleNames,
}

impl SharedSnapshots {
    /// The snapshot that was published last for a content type of a site, with the names of
    /// its locales. `None`: it is `own`, or there is none.
    ///
    /// # Errors
    /// [`NotAdopted`].
    pub async fn read_last(
        &self,
        key: &SnapshotKey,
        own: &SharedSnapshotId,
        builder: Builder,
    ) -> Result<Option<(Arc<Snapshot>, LocaleNames)>, NotAdopted> {
        let name_key = self.name_key(key);
        let [sealed] = self.redis.fields(&name_key, ["list"], MAX_BYTES, WITHIN).await?;
        let Some(sealed) = sealed else { return Ok(None) };
        let text = self.redis.open(&context(key), &sealed).map_err(NotAdopted::refused)?;
        let name: Name = serde_json::from_slice(text).map_err(NotAdopted::refused)?;
        let list = SharedSnapshotId::parse(&name.list);
        let Some(list) = list.filter(|list| list != own) else { return Ok(None) };
        let Found { pointer: Some(pointer), .. } = self.find(&list).await? else { return Ok(None) };
        let frame = Frame { id: &list, listing: None, builder };
        let snapshot = self.version(frame, None, &pointer).await?.walked.snapshot;
        if !snapshot.has_locales(name.locales.count()) {
            return Err(NotAdopted::refused("the snapshot has other locales than its name says"));
        }
        Ok(Some((snapshot, name.locales)))
    }

    /// The key of the name: one for each content type of each site of a CMS.
    pub(super) fn name_key(&self, key: &SnapshotKey) -> String {
        let mut hash = Xxh3::new();
        hash.update(&key.source.to_le_bytes());
        for text in [&key.site, &key.content_type] {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        self.redis.key(&format!("newest:{:032x}", hash.digest128()))
    }

    pub(super) fn seal_name(&self, list: &SharedSnapshotId, key: &SnapshotKey) -> Vec<u8> {
        let name = Name { list: list.as_str().to_owned(), locales: key.locales.clone() };
        self.redis.seal_json(&context(key), &name)
    }
}

fn context(SnapshotKey { site, content_type, source, .. }: &SnapshotKey) -> String {
    format!("last list of {content_type} of {site}, {source:032x}")
}
