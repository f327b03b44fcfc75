//! From the documents of a walk to an index.

use super::{EMPTY, Entry, Hash, PathIndex};
use crate::frontend_url::{BaseUrl, frontend_path};
use crate::rules::{Document, RuleSet};

/// The site has more text in its paths than an index can hold: 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the paths of the site are too many for an index")]
pub struct TooLarge;

/// An index in the making.
///
/// A walk may begin again: what it gave before counts only if it is among what is finished.
#[derive(Debug)]
pub struct PathIndexBuilder<'s> {
    rules: &'s RuleSet,
    base: Option<&'s BaseUrl>,
    text: String,
    types: Box<[u32]>,
    hash: Hash,
}

/// A document that was added.
#[derive(Clone, Copy, Debug)]
pub struct Added(Entry);

impl<'s> PathIndexBuilder<'s> {
    /// An index of a site with these rules. The base URL bounds the length of a path.
    #[must_use]
    pub fn new(rules: &'s RuleSet, base: Option<&'s BaseUrl>) -> Self {
        let types = rules.content_types();
        let number = |rule: &crate::rules::Rule| {
            types.iter().position(|uid| **uid == rule.content_type).map_or(EMPTY, small)
        };
        let types = rules.rules().iter().map(number).collect();
        Self { rules, base, text: String::new(), types, hash: Hash::seeded() }
    }

    /// Adds a published document; `None` when it has no URL on this site.
    pub fn add(&mut self, uid: &str, document: &Document) -> Option<Added> {
        let found = frontend_path(self.rules, self.base, uid, document, false)?.ok()?;
        let rule = self.rules.rules().iter().position(|rule| std::ptr::eq(rule, found.rule))?;
        let locales = self.rules.locales().as_slice();
        let locale = locales.iter().position(|locale| locale == found.locale)?;
        self.push(small(rule), u16::try_from(locale).ok()?, &found.path, &document.id)
    }

    pub(super) fn push(&mut self, rule: u32, locale: u16, path: &str, id: &str) -> Option<Added> {
        let [path_at, id_at] = [self.text.len(), self.text.len() + path.len()].map(small);
        let path_len = u16::try_from(path.len()).ok()?;
        let id_len = u16::try_from(id.len()).ok()?;
        self.text.push_str(path);
        self.text.push_str(id);
        Some(Added(Entry { path_at, id_at, rule, path_len, id_len, locale }))
    }

    /// The index of these documents.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn finish(self, added: Vec<Added>) -> Result<PathIndex, TooLarge> {
        let limit = EMPTY as usize;
        if self.text.len() >= limit || added.len() >= limit {
            return Err(TooLarge);
        }
        let mut entries: Vec<Entry> = added.into_iter().map(|added| added.0).collect();
        let (text, types) = (&self.text, &self.types);
        let key = |entry: &Entry| {
            (types[entry.rule as usize], entry.id(text), entry.locale, entry.rule, entry.path(text))
        };
        entries.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
        let text = compact(&mut entries, text);
        let slots = (entries.len() + entries.len() / 2 + 1).next_power_of_two();
        let mut index = PathIndex {
            text,
            table: vec![EMPTY; slots].into(),
            types: self.types,
            hash: self.hash,
            entries: entries.into(),
            duplicates: 0,
        };
        index.fill();
        Ok(index)
    }

    #[cfg(test)]
    pub(super) fn hash_with(&mut self, function: fn(&[u8], u64) -> u64) {
        self.hash.function = function;
    }
}

impl PathIndex {
    /// Enters of each path and rule the first entry: a rule has one content type, so that is the
    /// first by `documentId`, then by locale.
    fn fill(&mut self) {
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            let path = entry.path(&self.text);
            let mut taken = false;
            for slot in self.probe(path) {
                let there = self.table[slot];
                let Some(other) = self.entries.get(there as usize) else {
                    self.table[slot] = small(at);
                    break;
                };
                if other.path(&self.text) == path {
                    taken |= !self.is_same_document(entry, *other);
                    if other.rule == entry.rule {
                        break;
                    }
                }
            }
            self.duplicates += usize::from(taken);
        }
    }
}

/// The text of these entries alone, in their order, the id of neighbours of one document once.
fn compact(entries: &mut [Entry], text: &str) -> Box<str> {
    let length: usize =
        entries.iter().map(|e| usize::from(e.path_len) + usize::from(e.id_len)).sum();
    let mut compact = String::with_capacity(length);
    let mut last: Option<(&str, u32)> = None;
    for entry in entries {
        let (id, path) = (entry.id(text), entry.path(text));
        entry.id_at = match last {
            Some((known, at)) if known == id => at,
            _ => {
                compact.push_str(id);
                small(compact.len() - id.len())
            }
        };
        last = Some((id, entry.id_at));
        entry.path_at = small(compact.len());
        compact.push_str(path);
    }
    compact.into()
}

/// A position as an entry holds it; those that are too large are found out at the end.
fn small(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(EMPTY)
}
