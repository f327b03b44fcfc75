//! Reads the sections of the settings: takes values by their keys, and collects all problems. A key that
//! nothing takes is unknown, which is a problem as well.
//!
//! A value with a problem is left out, or is the default of its type. What is read with a problem is
//! never used, because a `Config` exists only without one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use config::{Value, ValueKind};
use secrecy::SecretString;

use super::environment::Environment;
use super::known_keys::KnownKeys;
use super::value::{self, Read, Table, elements, entries, expected, origin, text};
use super::variable_names::{self, fix_for_secret, similar_setting};
use super::{Problem, Problems, file};
use frontend_map_platform::spelling::did_you_mean;

/// What a section has to be.
const TABLE: &str = "a table of settings";

/// What all sections share: where they are read, and what was found.
pub(super) struct Reader<'e> {
    /// The folder of the settings file, to which paths are relative.
    pub(super) base_dir: &'e Path,
    pub(super) environment: &'e Environment,
    problems: RefCell<Vec<Problem>>,
    known: RefCell<KnownKeys>,
    unknown: RefCell<Vec<Unknown>>,
    lines: RefCell<Lines>,
}

/// The lines of the settings file at which sites, rules and links are written, counted from 1. Settings of the
/// environment have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// The line of the header of a site.
    pub fn site(&self, key: &str) -> Option<usize> {
        self.0.get(&site_place(key)).copied()
    }

    /// The line of the header of a rule, by its position from 0.
    pub fn rule(&self, site: &str, at: usize) -> Option<usize> {
        self.entry(site, "rule", at)
    }

    /// The line of the header of links, by their position from 0.
    pub fn links(&self, site: &str, at: usize) -> Option<usize> {
        self.entry(site, "links", at)
    }

    fn entry(&self, site: &str, list: &str, at: usize) -> Option<usize> {
        self.0.get(&joined(&site_place(site), &format!("{list} {}", at + 1))).copied()
    }
}

/// The name of a site in problems.
pub(super) fn site_place(key: &str) -> String {
    format!("site \"{key}\"")
}

/// A key that no section has.
struct Unknown {
    section: String,
    place: String,
    key: String,
    origin: Option<String>,
}

impl<'e> Reader<'e> {
    pub(super) fn new(base_dir: &'e Path, environment: &'e Environment) -> Self {
        Self {
            base_dir,
            environment,
            problems: RefCell::default(),
            known: RefCell::default(),
            unknown: RefCell::default(),
            lines: RefCell::default(),
        }
    }

    /// The whole settings.
    pub(super) fn root(&self, table: Table) -> Section<'_> {
        Section {
            reader: self,
            name: String::new(),
            place: String::new(),
            title: String::new(),
            origin: None,
            table,
            keys: BTreeMap::new(),
        }
    }

    /// Adds a problem of a value with this origin.
    pub(super) fn add(&self, origin: Option<&str>, place: &str, what: impl fmt::Display) {
        let text = match origin {
            Some(origin) => format!("{origin}, {place}: {what}"),
            None => format!("{place}: {what}"),
        };
        self.problems.borrow_mut().push(Problem { line: origin.and_then(value::line), text });
    }

    /// How many problems there are so far.
    pub(super) fn count(&self) -> usize {
        self.problems.borrow().len()
    }

    /// Without unknown keys, when only a part of the settings was read.
    pub(super) fn problems(self) -> Problems {
        Problems(self.problems.into_inner())
    }

    /// All problems in the order of their lines, after all sections were read.
    pub(super) fn finish(self) -> (Problems, KnownKeys, Lines) {
        let known = self.known.take();
        for unknown in self.unknown.take() {
            let Unknown { section, place, key, origin } = unknown;
            let is_section = section.is_empty();
            let fix = match &*key {
                _ if !is_section => {
                    fix_for_secret(&section, &key).unwrap_or_else(|| known.similar(&section, &key))
                }
                "rule" | "page" => {
                    format!("; write [[site.{key}]] below the [[site]] that it belongs to")
                }
                _ => {
                    let intended = origin.as_deref().and_then(|name| similar_setting(name, &known));
                    let similar = || did_you_mean(&key, known.sections());
                    intended.map_or_else(similar, |name| format!("; did you mean {name}?"))
                }
            };
            let fix = if fix.is_empty() { known.belongs_in(&key) } else { fix };
            let shown = key.escape_debug();
            if is_section {
                let place = shown.to_string();
                self.add(origin.as_deref(), &place, format_args!("is not a setting{fix}"));
            } else {
                let what = format_args!("`{shown}` is not a setting{fix}");
                self.add(origin.as_deref(), &place, what);
            }
        }
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        (Problems(problems), known, self.lines.into_inner())
    }
}

/// A table of the settings, from which values are taken.
pub(super) struct Section<'r> {
    pub(super) reader: &'r Reader<'r>,
    /// Its name without numbers, such as `site.rule`.
    name: String,
    /// Its name in problems, such as `limits` or `site "main", rule 1`.
    pub(super) place: String,
    /// What problems of its content add to `place`, such as ` (api::article.article)`.
    title: String,
    pub(super) origin: Option<String>,
    table: Table,
    /// The keys that it can have, with the origins of their values.
    keys: BTreeMap<&'static str, Option<String>>,
}

impl<'r> Section<'r> {
    /// Takes a value as it is written.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value> {
        let value = self.table.remove(key);
        self.keys.insert(key, value.as_ref().and_then(origin));
        value
    }

    /// Whether a value is written.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The text of a value that stays, if it is one.
    pub(super) fn peek(&self, key: &str) -> Option<String> {
        text(self.table.get(key)?).ok()
    }

    /// Takes a value that may be missing.
    pub(super) fn optional<T>(&mut self, key: &'static str, read: impl Read<T>) -> Option<T> {
        let value = self.take(key)?;
        self.read(key, &value, read)
    }

    /// Takes a value that has a default of the settings or of its type.
    pub(super) fn get<T: Default>(&mut self, key: &'static str, read: impl Read<T>) -> T {
        self.optional(key, read).unwrap_or_default()
    }

    /// Takes a value with a default of the section's own; `None`: there is a problem.
    pub(super) fn or<T>(&mut self, key: &'static str, default: T, read: impl Read<T>) -> Option<T> {
        match self.take(key) {
            Some(value) => self.read(key, &value, read),
            None => Some(default),
        }
    }

    /// Takes a value that must not be missing.
    pub(super) fn required<T>(&mut self, key: &'static str, read: impl Read<T>) -> Option<T> {
        if !self.has(key) {
            self.problem("", format_args!("`{key}` is required"));
        }
        self.optional(key, read)
    }

    /// Takes the texts of a list, each with a meaning of its own.
    pub(super) fn each<T, E: fmt::Display>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        let list = self.get(key, elements).into_iter().enumerate();
        let parsed = list.filter_map(|(at, value)| {
            let text = self.read(&format!("{key}[{at}]"), &value, text)?;
            self.check(key, parse(&text))
        });
        parsed.collect()
    }

    /// Takes the entries of a table with keys of its own; `None`: there is a problem, of the table or of a
    /// value.
    pub(super) fn map<T>(
        &mut self,
        key: &'static str,
        read: impl Read<T>,
    ) -> Option<Vec<(String, Option<T>)>> {
        let Some(value) = self.take(key) else { return Some(Vec::new()) };
        let table = self.read(key, &value, table)?.into_iter();
        let entries = table.map(|(name, value)| {
            let read = self.read(&format!("{key}.{name}"), &value, &read);
            (name, read)
        });
        Some(entries.collect())
    }

    /// Takes the path of a file, and reads the file.
    pub(super) fn file<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&Path) -> Result<T, String>,
    ) -> Option<T> {
        let base_dir = self.reader.base_dir;
        self.optional(key, |value: &Value| read(&base_dir.join(text(value)?)))
    }

    /// Takes a secret from a variable, else from the file that `file_key` names, never from the settings
    /// file. White space around it is removed: files end with a line break.
    pub(super) fn secret(
        &mut self,
        name: &str,
        key: &str,
        file_key: &'static str,
    ) -> Option<SecretString> {
        let variable = variable_names::of(&self.name, key);
        let (origin, place, written) = if let Some(written) = self.reader.environment.get(&variable)
        {
            self.optional(file_key, text);
            (None, variable, written.clone())
        } else {
            let written = self.file(file_key, file::read_text)?;
            (self.keys[file_key].clone(), joined(&self.place, file_key), written)
        };
        let secret = written.trim();
        let what = if secret.is_empty() {
            format!("{name} is empty; if none is needed, remove this setting")
        } else if !secret.bytes().all(|b| b.is_ascii_graphic()) {
            format!("{name} must have visible ASCII characters only, without spaces")
        } else {
            return Some(SecretString::from(secret));
        };
        self.reader.add(origin.as_deref(), &place, what);
        None
    }

    /// Reads a section, which may be missing in all layers.
    pub(super) fn section<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Section<'r>) -> T,
    ) -> T {
        let value = self.take(name).unwrap_or_else(|| Value::new(None, Table::new()));
        let origin = origin(&value);
        if !matches!(value.kind, ValueKind::Table(_)) {
            self.reader.add(origin.as_deref(), name, expected(TABLE, &value));
        }
        let table = value.into_table().unwrap_or_default();
        self.child(name, name, origin, table, read)
    }

    /// Reads the entries of a list of tables; `None`: one of them has a problem.
    pub(super) fn entries<T>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&mut Section<'r>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(value) = self.take(key) else { return Some(Vec::new()) };
        let header = dotted(&self.name, key);
        let what = match (&value.kind, value.origin().map(value::line)) {
            (ValueKind::Array(list), _) => {
                // All are read before the first `None` ends it, so that every problem is reported.
                let entry = |(at, value): (usize, &Value)| {
                    let place = joined(&self.place, &format!("{key} {}", at + 1));
                    self.entry(key, &place, value, TABLE, &mut read)
                };
                let entries: Vec<Option<T>> = list.iter().enumerate().map(entry).collect();
                return entries.into_iter().collect();
            }
            (_, Some(None)) => format!("[[{header}]] can be set in the settings file only"),
            (ValueKind::Table(_), _) => {
                format!("[{header}] needs double brackets, since it is a list: [[{header}]]")
            }
            _ => format!("must be a list of tables, each under the header [[{header}]]"),
        };
        let place = if self.place.is_empty() { key } else { &self.place };
        self.reader.add(value.origin(), place, what);
        None
    }

    /// Reads a value that must be a table; `what` says in problems what it has to be.
    pub(super) fn entry<T>(
        &self,
        key: &str,
        place: &str,
        value: &Value,
        what: &str,
        read: impl FnOnce(&mut Section<'r>) -> Option<T>,
    ) -> Option<T> {
        if let ValueKind::Table(table) = &value.kind {
            return self.child(key, place, origin(value), table.clone(), read);
        }
        self.reader.add(value.origin(), place, expected(what, value));
        None
    }

    /// Reads a table below this one.
    pub(super) fn child<T>(
        &self,
        key: &str,
        place: &str,
        origin: Option<String>,
        table: Table,
        read: impl FnOnce(&mut Section<'r>) -> T,
    ) -> T {
        let mut child = Section {
            name: dotted(&self.name, key),
            place: place.to_owned(),
            origin,
            table,
            ..self.reader.root(Table::new())
        };
        let value = read(&mut child);
        child.finish();
        value
    }

    /// What is left is unknown.
    pub(super) fn finish(self) {
        let Self { reader, name, place, origin, table, keys, .. } = self;
        if !name.is_empty() {
            reader.known.borrow_mut().add(&name, keys.into_keys());
        }
        let unknown = entries(table).into_iter().map(|(key, value)| Unknown {
            section: name.clone(),
            place: place.clone(),
            key,
            origin: value::origin(&value),
        });
        reader.unknown.borrow_mut().extend(unknown);
        if let Some(line) = origin.as_deref().and_then(value::line) {
            reader.lines.borrow_mut().0.insert(place, line);
        }
    }

    /// Names the section in the problems of its content.
    pub(super) fn title(&mut self, title: impl fmt::Display) {
        self.title = format!(" ({title})");
    }

    /// A name below this section in problems of its content.
    pub(super) fn named(&self, key: &str) -> String {
        joined(&format!("{}{}", self.place, self.title), key)
    }

    /// Adds a problem of a value, or of the section (`""`).
    pub(super) fn problem(&self, key: &str, what: impl fmt::Display) {
        self.problem_of(key, key, what);
    }

    /// Adds a problem of a value under another name.
    pub(super) fn problem_of(&self, key: &str, name: &str, what: impl fmt::Display) {
        let origin = self.keys.get(key).and_then(Option::as_deref).or(self.origin.as_deref());
        self.reader.add(origin, &self.named(name), what);
    }

    /// The result; an error is added as a problem.
    pub(super) fn check<T, E: fmt::Display>(&self, key: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.problem(key, error)).ok()
    }

    fn read<T>(&self, key: &str, value: &Value, read: impl Read<T>) -> Option<T> {
        let problem = |what| self.reader.add(value.origin(), &joined(&self.place, key), what);
        read(value).map_err(problem).ok()
    }
}

/// A table with keys of its own, in their order.
pub(super) fn table(value: &Value) -> Result<Vec<(String, Value)>, String> {
    match &value.kind {
        ValueKind::Table(table) => Ok(entries(table.clone())),
        _ => Err(expected("a table", value)),
    }
}

fn dotted(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// The name of a key in problems: `server.listen`, or `site "main", locales` in an entry of a list.
fn joined(place: &str, key: &str) -> String {
    let last = place.rsplit(", ").next().unwrap_or_default();
    match key {
        "" => place.to_owned(),
        _ if place.is_empty() => key.to_owned(),
        _ if last.contains(' ') => format!("{place}, {key}"),
        _ => format!("{place}.{key}"),
    }
}
