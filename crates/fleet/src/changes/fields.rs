//! The fields of the hash in Redis that describes the change log of a site, its head. Each
//! field is sealed, so that none can be forged; a script compares them as whole values.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::redis;

/// The most bytes of a field: a [`LogValue`] has the names of all content types.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// The field with the [`LogValue`].
pub(super) const LOG: &str = "log";
/// The field with the [`LastValue`].
pub(super) const LAST: &str = "last";
/// The beginning of the names of fields with a [`BaseValue`]; the content type follows.
const BASE: &str = "base:";

/// The identity of a log, and what stays the same until it begins again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogValue {
    /// The identity of the log.
    pub(crate) log: u64,
    /// The content types that the site had then: the pages of their first snapshots are not added.
    pub(crate) types: Vec<String>,
    /// The key of the lease whose holder appends to the log; empty if it was not known.
    pub(crate) lease: String,
}

/// The end of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LastValue {
    pub(crate) log: u64,
    /// The sequence number of its last change.
    pub(crate) last: u64,
}

/// The version up to which a log has the changes of a content type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BaseValue {
    pub(crate) log: u64,
    /// The position of the version.
    pub(crate) position: String,
}

/// The name of the field with the base of a content type.
pub(super) fn base_field(uid: &str) -> String {
    format!("{BASE}{uid}")
}

/// The content type of the field with a base; `None`: it is another field.
pub(super) fn uid_of(field: &str) -> Option<&str> {
    field.strip_prefix(BASE)
}

/// The context of the seal of a field.
fn context(site: &str, field: &str) -> String {
    format!("change log {field} of {site}")
}

pub(super) fn seal<T: Serialize>(
    redis: &redis::Client,
    site: &str,
    field: &str,
    value: &T,
) -> Vec<u8> {
    redis.seal_json(&context(site, field), value)
}

/// `None`: the field is damaged or forged, or another version of the service has written it.
pub(super) fn open<T: DeserializeOwned>(
    redis: &redis::Client,
    site: &str,
    field: &str,
    sealed: &[u8],
) -> Option<T> {
    redis.open_json(&context(site, field), sealed)
}
