//! Titles of documents, for reports: the text of the field that a rule names.

use frontend_map_rules::{Document, FieldValue, Rule};

/// The longest title, in bytes, so that its length fits into a byte of an entry.
const MAX_BYTES: usize = u8::MAX as usize;
/// The end of a title that was cut.
const ELLIPSIS: &str = "…";

/// The title of a document in two parts, cut to [`MAX_BYTES`] where it is longer; empty where the
/// rule has no title field, or the field no text.
pub(super) fn title<'d>(rule: &Rule, document: &'d Document<'_>) -> [&'d str; 2] {
    let field = rule.title.as_ref().map(|field| document.field(field));
    let Some(FieldValue::Text(text)) = field else { return ["", ""] };
    if text.len() <= MAX_BYTES {
        return [text, ""];
    }
    [&text[..text.floor_char_boundary(MAX_BYTES - ELLIPSIS.len())], ELLIPSIS]
}
