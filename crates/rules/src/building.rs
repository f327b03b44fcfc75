//! From a document's values to a path (D12–D14).

mod absent_key;
mod own_path;
mod path_builder;
mod placeholder_value;
mod trailing_slash;

pub(super) use path_builder::built_segments;
pub use path_builder::{BuiltSegment, NoPath, SegmentOutput, UnusableValue};
pub use placeholder_value::{PlaceholderValue, TemplateValues};
pub use trailing_slash::TrailingSlash;

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
