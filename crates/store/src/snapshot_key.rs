//! The key of a snapshot (what it is a snapshot of), its form in the file, and the header of a stored
//! snapshot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::made_by;
use crate::persisted_instant::PersistedInstant;
use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::changes::log::Baseline;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::Snapshot;

/// Names a snapshot: the content type of a site, built by these rules from this CMS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotKey {
    /// The key of the site.
    pub site: String,
    /// The content type.
    pub content_type: String,
    /// The fingerprint of the site and of the version of the service: a snapshot by other rules must
    /// not be served.
    #[serde(with = "frontend_map_catalog::hex")]
    pub fingerprint: u128,
    /// Which CMS the documents are from.
    #[serde(with = "frontend_map_catalog::hex")]
    pub source: u128,
    /// The locales of the site, in the order in which the snapshot has their positions.
    pub locales: LocaleNames,
}

impl SnapshotKey {
    /// The key of the snapshots that the present settings build for a content type of a site.
    pub fn of(site: &Site, uid: &str) -> Self {
        Self {
            site: site.key.clone(),
            content_type: uid.to_owned(),
            fingerprint: made_by(site.fingerprint),
            source: site.source,
            locales: LocaleNames::of(site.rules.locales(), &site.hosts),
        }
    }

    /// What the changes of a snapshot are found from; `is_stored`: it has no titles.
    pub fn baseline(&self, snapshot: Arc<Snapshot>, is_stored: bool) -> Baseline {
        Baseline {
            snapshot,
            locales: self.locales.clone(),
            fingerprint: self.fingerprint,
            source: self.source,
            is_stored,
        }
    }
}

/// The key of a row in the file: the text orders rows of one site and content type together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoredKey(pub(super) String);

/// The beginning of the keys of one content type of a site. Neither name has a character below `!`.
pub(super) fn prefix(site: &str, uid: &str) -> String {
    format!("{site} {uid} ")
}

impl StoredKey {
    pub(super) fn of(key: &SnapshotKey) -> Self {
        Self(format!("{}{:032x}", prefix(&key.site, &key.content_type), key.fingerprint))
    }
}

/// The header of a stored snapshot: the text in front of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredHeader {
    pub(super) key: SnapshotKey,
    /// When its walk began.
    pub(super) begun: PersistedInstant,
    /// How long its walk took.
    pub(super) took_ms: u64,
}
