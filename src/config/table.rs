//! Takes sections out of the table of all settings, and reports every unknown key in them.

use std::cell::RefCell;

use serde::de::DeserializeOwned;

use super::Problems;
use super::deserialize::Setting;
use super::value::{Kind, Origin, Table, Value};

/// Takes a section in which every setting has a default. A section with a problem is replaced by the
/// defaults, so that the problems of other sections are found too.
pub(super) fn read<T: DeserializeOwned + Default>(
    table: &mut Table,
    name: &'static str,
    problems: &mut Problems,
) -> T {
    // An empty section has the defaults too, and its keys are learned for suggestions.
    let value = table.remove(name).unwrap_or_else(Value::empty);
    one(value, name, name, problems).unwrap_or_default()
}

/// Deserializes one value, the section of this name or an entry of its list.
pub(super) fn one<T: DeserializeOwned>(
    value: Value,
    section: &'static str,
    place: &str,
    problems: &mut Problems,
) -> Option<T> {
    let origin = value.origin.clone();
    let keys = RefCell::default();
    let read = T::deserialize(Setting::new(value, &keys));
    let keys = keys.into_inner();
    if let Some(known) = keys.known {
        problems.known_keys().add(section, known);
    }
    for key in &keys.unknown {
        problems.add_unknown_key(place, key);
    }
    let error = match read {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    let origin = error.origin.unwrap_or(origin);
    problems.add_written(&origin, &joined(place, &error.key), error.what);
    None
}

/// The name of a key in problems: `server.listen`, or `site "main", locales` in an entry of a list.
fn joined(place: &str, key: &str) -> String {
    let last = place.rsplit(", ").next().unwrap_or_default();
    match key {
        "" => place.to_owned(),
        _ if key.starts_with('[') => format!("{place}{key}"),
        _ if last.contains(' ') => format!("{place}, {key}"),
        _ => format!("{place}.{key}"),
    }
}

/// Takes the entries of a list of tables, `[[header]]`.
pub(super) fn list(
    table: &mut Table,
    name: &str,
    header: &str,
    place: &str,
    problems: &mut Problems,
) -> Vec<Value> {
    let Some(value) = table.remove(name) else {
        return Vec::new();
    };
    match (value.kind, value.origin) {
        (Kind::List(list), _) => return list,
        (_, origin @ Origin::Variable(_)) => {
            let what = format!("[[{header}]] can be set in the settings file only");
            problems.add_written(&origin, place, what);
        }
        (Kind::Table(_), origin) => {
            let what =
                format!("[{header}] needs double brackets, since it is a list: [[{header}]]");
            problems.add_written(&origin, place, what);
        }
        (_, origin) => {
            let what = format!("must be a list of tables, each under the header [[{header}]]");
            problems.add_written(&origin, place, what);
        }
    }
    Vec::new()
}
