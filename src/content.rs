//! Documents and where they come from.

mod projection;
pub mod strapi;

pub use crate::rules::{Document, DocumentLocale};
pub use projection::{BadItem, Projection};

use crate::rules::ContentTypeUid;

/// Which version of a document (D18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The version that editors work on.
    Draft,
    /// The version that readers see.
    Published,
}

impl Status {
    /// The value of the `status` parameter, here and in Strapi.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
        }
    }
}

/// A content type, and which of its fields are needed.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The content type.
    pub uid: ContentTypeUid,
    /// The fields.
    pub projection: Projection,
}

/// Why there is no content (D27). The text is ours alone: no body, address or token of the CMS.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// It cannot be reached, broke off, or says that it cannot answer now: 503.
    #[error("the CMS is not available")]
    Unavailable {
        /// After how many seconds it wants to be asked again, if it says so.
        retry_after: Option<u64>,
    },
    /// It did not answer in time: 504.
    #[error("the CMS did not answer in time")]
    TimedOut,
    /// It answered something that cannot be used: 502.
    #[error("the CMS gave an unusable answer: {0}")]
    Unusable(&'static str),
}
