//! The layers of the settings, from the lowest: built-in defaults, the file, and environment variables,
//! where `FRONTEND_MAP__SERVER__LISTEN` is `listen` of `[server]`. Names of variables are in any letter
//! case.

use std::collections::BTreeMap;
use std::mem::swap;
use std::path::Path;
use std::slice::from_ref;

use config::{ConfigError, Source, Value, ValueKind};

use super::environment::Environment;
use super::value::{Table, elements, text};
use super::variable_names::{PREFIX, is_secret};
use super::{Problems, file};

/// The defaults are the values that the tables of the example write out; its lists are examples.
const EXAMPLE: &str = include_str!("../../../../config/settings.example.toml");

/// The keys of paths that do not end with `_file`.
const FILES: [(&str, &str); 2] = [("cms", "path"), ("moved", "import")];

/// Values that win over those of the layers below.
#[derive(Clone, Debug)]
struct Layer(Table);

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Table, ConfigError> {
        Ok(self.0.clone())
    }

    /// In place of the merging of `config::Config`, which takes dots and brackets in keys for paths,
    /// and forgets the origins of tables.
    fn collect_to(&self, below: &mut Value) -> Result<(), ConfigError> {
        put_above(below, Value::new(None, self.0.clone()));
        Ok(())
    }
}

/// Merges tables, and replaces anything else. A table does not replace a single value, whose problem
/// is reported, unless that is a default.
fn put_above(below: &mut Value, mut above: Value) {
    let is_default = below.origin().is_none();
    match (&mut below.kind, &mut above.kind) {
        (ValueKind::Table(lower), ValueKind::Table(upper)) => {
            for (key, value) in upper.drain() {
                match lower.get_mut(&key) {
                    Some(lower) => put_above(lower, value),
                    None => drop(lower.insert(key, value)),
                }
            }
            swap(lower, upper);
        }
        (ValueKind::Array(_), _) => {}
        (_, ValueKind::Table(_)) if !is_default => return,
        _ => {}
    }
    *below = above;
}

/// Reads all layers into one table.
pub(super) fn read(
    text: Option<&str>,
    path: &Path,
    environment: &Environment,
) -> Result<Table, Problems> {
    let file = text.map(|text| file::parse(text, file::Origins::Lines)).transpose();
    let file = file.map_err(|problem| {
        Problems::at_line(problem.line, format_args!("{}: {problem}", path.display()))
    })?;
    let layers = [defaults(), file.unwrap_or_default(), variables(environment)];
    Ok(layers.map(Layer).to_vec().collect().expect("layers are in memory"))
}

fn defaults() -> Table {
    let mut example = file::parse(EXAMPLE, file::Origins::None).expect("a test reads the example");
    example.retain(|_, value| matches!(value.kind, ValueKind::Table(_)));
    example
}

fn variables(environment: &Environment) -> Table {
    // In order, so that the outcome is the same at each start.
    let environment: BTreeMap<_, _> = environment.iter().collect();
    let mut all = Value::new(None, Table::new());
    for (name, text) in environment {
        let upper = name.to_uppercase();
        let Some(path) = upper.strip_prefix(PREFIX).filter(|_| !is_secret(name)) else { continue };
        let lower = path.to_lowercase();
        let value = Value::new(Some(name), text.as_str());
        let section = lower.rsplit("__").fold(value, |value, key| {
            Value::new(Some(name), Table::from([(key.to_owned(), value)]))
        });
        put_above(&mut all, section);
    }
    all.into_table().expect("a table")
}

/// The paths of the files that the settings refer to.
pub(super) fn referenced_files(table: &Table) -> Vec<String> {
    let mut files = Vec::new();
    for (section, value) in table {
        let entries = match &value.kind {
            ValueKind::Array(entries) => entries.as_slice(),
            _ => from_ref(value),
        };
        for (key, value) in entries.iter().filter_map(table_of).flatten() {
            if key.ends_with("_file") || FILES.contains(&(section, key)) {
                let paths = elements(value).unwrap_or_else(|_| vec![value.clone()]);
                files.extend(paths.iter().filter_map(|path| text(path).ok()));
            }
        }
    }
    files
}

fn table_of(value: &Value) -> Option<&Table> {
    match &value.kind {
        ValueKind::Table(table) => Some(table),
        _ => None,
    }
}
