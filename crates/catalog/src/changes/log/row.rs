//! A change as responses and webhooks have it.

use serde::Serialize;

use super::entry::{Change, Kind};
use crate::moved::entries::as_written;
use crate::snapshot::timestamp_text;

/// A change, without the log that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeRow {
    /// What has happened.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The content type.
    pub content_type: String,
    /// The `documentId`; of a page outside the CMS its name.
    pub document_id: String,
    /// The code of the locale.
    pub locale: String,
    /// The path on the frontend; of a redirect, one that ends with `/*` stands for all paths below.
    pub path: String,
    /// The path before a move; of a redirect its path, or the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// When the service noticed it (RFC 3339).
    pub at: String,
}

impl From<Change<'_>> for ChangeRow {
    fn from(change: Change<'_>) -> Self {
        let written = |path: &str| match change.kind {
            Kind::Redirect => as_written(path),
            _ => path.to_owned(),
        };
        Self {
            kind: change.kind,
            content_type: change.uid.to_owned(),
            document_id: change.document_id.to_owned(),
            locale: change.locale.to_owned(),
            path: written(change.path),
            from: change.from.map(written),
            // Only times beyond the year 9999 have no text.
            at: timestamp_text(change.at).unwrap_or_default(),
        }
    }
}
