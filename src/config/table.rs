//! Takes sections out of the table of all settings, and reports every unknown key in them.

use config::{Map, Value};
use serde::de::DeserializeOwned;

use super::Problems;

/// Sections by name, not yet checked.
pub(super) type Table = Map<String, Value>;

/// Takes a section in which every setting has a default. A section with a problem is replaced by the
/// defaults, so that the problems of other sections are found too.
pub(super) fn read<T: DeserializeOwned + Default>(
    table: &mut Table,
    name: &str,
    problems: &mut Problems,
) -> T {
    let value = table.remove(name);
    value.and_then(|value| one(value, name, problems)).unwrap_or_default()
}

/// Deserializes one value.
pub(super) fn one<T: DeserializeOwned>(
    value: Value,
    place: &str,
    problems: &mut Problems,
) -> Option<T> {
    let read = serde_ignored::deserialize(value, |path| {
        problems.add(place, format_args!("`{path}` is not a setting"));
    });
    problems.take(place, read)
}

/// Takes the entries of a list of tables, `[[name]]`.
pub(super) fn list(
    table: &mut Table,
    name: &str,
    place: &str,
    problems: &mut Problems,
) -> Vec<Value> {
    let value = table.remove(name).map(Value::into_array);
    value.and_then(|list| problems.take(place, list)).unwrap_or_default()
}
