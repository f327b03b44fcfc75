//! Strict reading of JSON objects.

use serde::Deserialize;

/// Reads one JSON object; `None` for anything else. A derived struct would accept a list in place
/// of an object.
pub(super) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    json.trim_ascii_start().starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
}
