//! Environment variables that are settings: `FRONTEND_MAP__SERVER__LISTEN` is `listen` of
//! `[server]`.

use std::collections::BTreeMap;

use super::Environment;
use super::value::{Kind, Origin, Table, Value};
use super::variable_names::SECRETS;

const PREFIX: &str = "frontend_map__";
const SEPARATOR: &str = "__";

/// Adds the variables to the table; they win over the file. Their values are text, which is
/// converted when it is deserialized.
pub(super) fn add(table: &mut Table, environment: &Environment) {
    // In order, so that the outcome is the same at each start.
    let environment: BTreeMap<_, _> = environment.iter().collect();
    for (name, text) in environment {
        let lower = name.to_lowercase();
        let Some(path) = lower.strip_prefix(PREFIX).filter(|_| !SECRETS.contains(&name.as_str()))
        else {
            continue;
        };
        let path: Vec<&str> = path.split(SEPARATOR).collect();
        let origin = Origin::Variable(name.clone());
        insert(table, &path, Value { kind: Kind::Text(text.clone()), origin });
    }
}

fn insert(table: &mut Table, path: &[&str], value: Value) {
    match path {
        [] => {}
        [key] => {
            table.insert((*key).to_owned(), value);
        }
        [section, rest @ ..] => {
            let empty = Value { kind: Kind::Table(Table::new()), origin: value.origin.clone() };
            let section = table.entry((*section).to_owned()).or_insert(empty);
            match &mut section.kind {
                Kind::Table(table) => insert(table, rest, value),
                // The problem is reported where the list is read.
                Kind::List(_) => *section = value,
                // The file has a problem of its own here.
                _ => {}
            }
        }
    }
}
