//! The problems of the settings, reported all at once.

use std::collections::BTreeMap;
use std::fmt;

use super::known_keys::{KnownKeys, UnknownKey};
use super::value::{Origin, Table, Value};
use super::variable_names::{fix_for_secret, similar_setting};
use frontend_map_platform::suggestion::did_you_mean;

/// A problem of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the settings file, counted from 1, where the value is written there.
    pub line: Option<usize>,
    /// What is wrong, where, and with which setting.
    pub text: String,
}

/// Problems of the settings. Not empty when it is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    all: Vec<Problem>,
    /// The origin of each setting of a section, such as `server.listen`.
    origins: BTreeMap<String, Origin>,
    /// The origin of the list entry that is being checked, for problems without one of their own.
    entry: Option<Origin>,
    known: KnownKeys,
    /// Unknown keys without a suggestion, with the positions of their problems.
    misplaced: Vec<(usize, String)>,
}

impl Problems {
    /// A single problem that concerns no setting, such as an unreadable file.
    pub(super) fn one(what: impl fmt::Display) -> Self {
        Self::at_line(None, what)
    }

    /// A single problem at a line of the settings file, which the text names.
    pub(super) fn at_line(line: Option<usize>, what: impl fmt::Display) -> Self {
        Self { all: vec![Problem { line, text: what.to_string() }], ..Self::default() }
    }

    /// No problems yet, with the origins of these settings.
    pub(super) fn of(table: &Table) -> Self {
        let sections = table.iter().filter_map(|(name, value)| Some((name, value.table()?)));
        let origins = sections.flat_map(|(section, table)| {
            let origin = |(key, value): (&String, &Value)| {
                (format!("{section}.{key}"), value.origin.clone())
            };
            table.iter().map(origin).collect::<Vec<_>>()
        });
        Self { origins: origins.collect(), ..Self::default() }
    }

    /// Adds a problem of the setting or section `place`.
    pub(super) fn add(&mut self, place: &str, what: impl fmt::Display) {
        let origin = self.origins.get(place).or(self.entry.as_ref()).cloned();
        match origin {
            Some(origin) => self.add_written(&origin, place, what),
            None => self.all.push(Problem { line: None, text: format!("{place}: {what}") }),
        }
    }

    /// Adds a problem of a value with this origin.
    pub(super) fn add_written(&mut self, origin: &Origin, place: &str, what: impl fmt::Display) {
        let text = format!("{origin}, {place}: {what}");
        self.all.push(Problem { line: origin.line(), text });
    }

    /// Sets the origin of problems without one of their own; returns the previous one.
    pub(super) fn enter(&mut self, origin: Option<Origin>) -> Option<Origin> {
        std::mem::replace(&mut self.entry, origin)
    }

    /// Adds a problem of a key that is not a setting of the section or entry `place`.
    pub(super) fn add_unknown_key(&mut self, place: &str, key: &UnknownKey) {
        let name = key.path.rsplit('.').next().unwrap_or_default();
        let similar = || did_you_mean(name, key.known.iter().copied());
        let fix = fix_for_secret(place, &key.path).unwrap_or_else(similar);
        self.mark_misplaced(name, &fix);
        let path = key.path.escape_debug();
        self.add_written(&key.origin, place, format_args!("`{path}` is not a setting{fix}"));
    }

    /// Adds a problem for each key that is left in the table of all settings.
    pub(super) fn add_unknown_sections(&mut self, table: &Table) {
        for (key, value) in table {
            let fix = self.fix_for_section(key, &value.origin);
            self.mark_misplaced(key, &fix);
            let place = key.escape_debug().to_string();
            self.add_written(&value.origin, &place, format_args!("is not a setting{fix}"));
        }
    }

    fn fix_for_section(&self, key: &str, origin: &Origin) -> String {
        if let Origin::Variable(name) = origin
            && let Some(intended) = similar_setting(name, &self.known)
        {
            return format!("; did you mean {intended}?");
        }
        match key {
            "rule" => "; write [[site.rule]] below the [[site]] that it belongs to".to_owned(),
            "page" => "; write [[site.page]] below the [[site]] that it belongs to".to_owned(),
            _ => did_you_mean(key, self.known.sections()),
        }
    }

    /// Marks the next problem as that of a key that may belong in another section, unless it has a
    /// fix.
    fn mark_misplaced(&mut self, key: &str, fix: &str) {
        if fix.is_empty() {
            self.misplaced.push((self.all.len(), key.to_owned()));
        }
    }

    /// Adds to the problem of each marked key the section that has such a key. All sections must
    /// have been read.
    pub(super) fn resolve_misplaced(&mut self) {
        for (at, key) in std::mem::take(&mut self.misplaced) {
            if let Some(header) = self.known.headers_of(&key) {
                self.all[at].text.extend(["; it belongs in ", header.as_str()]);
            }
        }
    }

    /// The keys of the sections that have been read.
    pub(super) fn known_keys(&mut self) -> &mut KnownKeys {
        &mut self.known
    }

    /// The value; an error is added as a problem of `place`.
    pub(super) fn take<T, E: fmt::Display>(
        &mut self,
        place: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        result.map_err(|error| self.add(place, error)).ok()
    }

    /// The problems, each with its place.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.all.iter()
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.all.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "{count} problem{plural} with the settings:")?;
        self.all.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
