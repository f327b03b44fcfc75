//! Reads one section and notes every key that is not a setting.

use config::{Map, Value};
use serde::de::DeserializeOwned;

use super::Problems;

/// Settings by name, not yet checked.
pub(super) type Table = Map<String, Value>;

/// A section with a default for everything; on a problem the default stands in for it.
pub(super) fn read<T: DeserializeOwned + Default>(
    table: &mut Table,
    name: &str,
    problems: &mut Problems,
) -> T {
    let value = table.remove(name);
    value.and_then(|value| one(value, name, problems)).unwrap_or_default()
}

/// One value that has to have the shape of `T`.
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

/// The entries of a list of tables, `[[name]]`.
pub(super) fn list(
    table: &mut Table,
    name: &str,
    place: &str,
    problems: &mut Problems,
) -> Vec<Value> {
    let value = table.remove(name).map(Value::into_array);
    value.and_then(|list| problems.take(place, list)).unwrap_or_default()
}
