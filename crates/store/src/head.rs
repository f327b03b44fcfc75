//! What is written in front of a stored snapshot: what it is a snapshot of, and from when.

use serde::{Deserialize, Serialize};

use crate::made_by;
use crate::moment::Moment;
use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::site::Site;

/// What a snapshot is a snapshot of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The key of the site.
    pub site: String,
    /// The content type.
    pub content_type: String,
    /// The fingerprint of the site and of the version of the service: a snapshot by other rules must
    /// not be served.
    #[serde(with = "hex")]
    pub fingerprint: u128,
    /// Which CMS the documents are from.
    #[serde(with = "hex")]
    pub source: u128,
    /// The locales of the site, in the order in which the snapshot has their positions.
    pub locales: LocaleNames,
}

impl Head {
    /// What a snapshot is a snapshot of that the present settings build for a content type of a site.
    #[must_use]
    pub fn of(site: &Site, uid: &str) -> Self {
        Self {
            site: site.key.clone(),
            content_type: uid.to_owned(),
            fingerprint: made_by(site.fingerprint),
            source: site.source,
            locales: LocaleNames::of(site.rules.locales(), &site.hosts),
        }
    }
}

/// The text in front of the snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HeadWithTimes {
    pub(super) head: Head,
    pub(super) times: Times,
}

/// From when a snapshot is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Times {
    /// When its walk began.
    pub(super) begun: Moment,
    /// How long its walk took.
    pub(super) took_ms: u64,
}

/// Numbers of 128 bits, which JSON does not have.
mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(value: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{value:032x}"))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16).map_err(de::Error::custom)
    }
}
