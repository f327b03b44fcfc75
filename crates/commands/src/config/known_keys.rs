//! The keys that sections can have, for suggestions.

use std::collections::{BTreeMap, BTreeSet};

use frontend_map_platform::spelling::did_you_mean;

/// The lists of tables at the top of a settings file: their headers have double brackets, and no
/// variable can set them.
const LISTS: [&str; 3] = ["content_type", "notify", "site"];

/// Whether a section is an entry of a list, or within one.
fn is_listed(section: &str) -> bool {
    section.contains('.') || LISTS.contains(&section)
}

/// Keys by section. An entry of a list, such as `site.rule`, counts as a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownKeys(BTreeMap<String, BTreeSet<&'static str>>);

impl Default for KnownKeys {
    /// The lists, of which a settings file may have no entry.
    fn default() -> Self {
        Self(LISTS.map(|list| (list.to_owned(), BTreeSet::new())).into())
    }
}

impl KnownKeys {
    /// Adds keys of a section.
    pub(super) fn add(&mut self, section: &str, keys: impl IntoIterator<Item = &'static str>) {
        self.0.entry(section.to_owned()).or_default().extend(keys);
    }

    /// The names that may stand at the top of a settings file.
    pub(super) fn sections(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|name| !name.contains('.'))
    }

    /// Each setting that an environment variable can set, as section and key.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let sections = self.0.iter().filter(|(section, _)| !is_listed(section));
        sections.flat_map(|(section, keys)| keys.iter().map(move |key| (&**section, *key)))
    }

    /// All keys with their sections.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = String> {
        let keys = self.0.iter();
        keys.flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}.{key}")))
    }

    /// Suggests a key of this section that is similar.
    pub(super) fn similar(&self, section: &str, key: &str) -> String {
        did_you_mean(key, self.0.get(section).into_iter().flatten().copied())
    }

    /// Names the sections that have this key, if these are one or two.
    pub(super) fn belongs_in(&self, key: &str) -> String {
        let owners = self.0.iter().filter(|(_, keys)| keys.contains(key));
        let headers = owners.map(|(section, _)| {
            if is_listed(section) { format!("[[{section}]]") } else { format!("[{section}]") }
        });
        let headers: Vec<String> = headers.collect();
        match headers.len() {
            1 | 2 => format!("; it belongs in {}", headers.join(" or ")),
            _ => String::new(),
        }
    }
}
