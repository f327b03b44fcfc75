//! The form of the paths of a site.

use super::TrailingSlash;
use crate::locale::{LocalePrefix, Locales};

/// What the paths of a site have in common.
#[derive(Clone, Copy)]
pub(crate) struct PathForm<'s> {
    pub(crate) locales: &'s Locales,
    /// Whether the first locale is omitted.
    pub(crate) prefix: LocalePrefix,
    /// Whether they end with a slash.
    pub(crate) trailing_slash: TrailingSlash,
}
