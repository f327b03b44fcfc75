//! From a document's values to a path (D12–D14).

mod absent_key;
mod own_path;
mod path_builder;
mod path_form;
mod placeholder_value;
mod trailing_slash;

pub(super) use path_builder::built_segments;
pub use path_builder::{BuiltSegment, NoPath, SegmentOutput, UnusableValue};
pub(super) use path_form::PathForm;
pub use placeholder_value::{PlaceholderValue, TemplateValues};
pub use trailing_slash::TrailingSlash;
