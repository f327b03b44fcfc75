//! Strict reading of JSON objects, and of those with schemas.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Reads one JSON object; `None` for anything else. A derived struct would accept a list in place
/// of an object.
pub(super) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    json.trim_ascii_start().starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
}

/// What a response says about a schema, and the UID of its content type or component.
pub(super) fn schema<T: DeserializeOwned>(json: &str) -> Option<(Option<String>, T)> {
    #[derive(Deserialize)]
    struct SchemaResponse<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Data<'a> {
        uid: Option<String>,
        #[serde(borrow)]
        schema: &'a RawValue,
    }
    let response: SchemaResponse<'_> = object(json)?;
    let data: Data<'_> = object(response.data.get())?;
    Some((data.uid, object(data.schema.get())?))
}
