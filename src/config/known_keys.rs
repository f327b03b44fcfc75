//! The keys that sections can have, and unknown ones that were found in them, for suggestions.

use std::collections::BTreeMap;

use super::value::Origin;

/// The lists of tables, which have no keys if a settings file has no entry of them.
const LISTS: [&str; 6] =
    ["site", "site.locales", "site.page", "site.rule", "site.rule.params", "content_type"];

/// A key of a table that is not a setting.
pub(super) struct UnknownKey {
    /// With the keys that lead to it.
    pub(super) path: String,
    pub(super) origin: Origin,
    /// The keys that the table can have.
    pub(super) known: &'static [&'static str],
}

/// The keys that were found while a value was read.
#[derive(Default)]
pub(super) struct Keys {
    pub(super) unknown: Vec<UnknownKey>,
    /// The keys that the value itself can have; `None`: it is not a table with fixed keys.
    pub(super) known: Option<&'static [&'static str]>,
}

/// Keys by section. An entry of a list, such as `site.rule`, counts as a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownKeys(BTreeMap<&'static str, &'static [&'static str]>);

impl Default for KnownKeys {
    fn default() -> Self {
        let none: &[&str] = &[];
        Self(LISTS.map(|list| (list, none)).into())
    }
}

impl KnownKeys {
    /// Adds the keys of a section.
    pub(super) fn add(&mut self, section: &'static str, keys: &'static [&'static str]) {
        self.0.insert(section, keys);
    }

    /// The names that may stand at the top of a settings file.
    pub(super) fn sections(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied().filter(|name| !name.contains('.'))
    }

    /// Each setting that an environment variable can set, as section and key.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let sections = self.0.iter().filter(|(section, _)| !LISTS.contains(section));
        sections.flat_map(|(section, keys)| keys.iter().map(move |key| (*section, *key)))
    }

    /// The headers of the sections that have this key, if these are one or two.
    pub(super) fn headers_of(&self, key: &str) -> Option<String> {
        let owners = self.0.iter().filter(|(_, keys)| keys.contains(&key));
        let headers = owners.map(|(section, _)| {
            if LISTS.contains(section) { format!("[[{section}]]") } else { format!("[{section}]") }
        });
        let headers: Vec<String> = headers.collect();
        (1..=2).contains(&headers.len()).then(|| headers.join(" or "))
    }
}
