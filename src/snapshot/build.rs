//! Builds a snapshot from the documents of a walk.

use jiff::Timestamp;
use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::Arena;
use super::flags::{FIRST, Flags, LISTED, LOCALIZED};
use super::hash::{document_hash, path_hash};
use super::path_table::{PathHash, PathTable};
use super::references::ReferencesDraft;
use super::sort::Sort;
use super::timestamp;
use super::{Entry, Skipped, Snapshot, UNDATED};
use crate::frontend_url::{BaseUrl, NoUrl, NoUrlReason, PathSource, write_path};
use crate::rules::{AbsentKey, Document, DocumentLocale, FieldPath, FieldValue, Rule, RuleSet};

/// The new position of an entry that is removed.
const GONE: u32 = u32::MAX;

/// The reason of a list item that is no document, or whose `documentId` is longer than any.
const NOT_A_DOCUMENT: &str = "not_a_document";

/// Why there is no snapshot of these documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSnapshot {
    /// The URLs of one content type have more text than a snapshot can hold: 4 GiB.
    #[error("the URLs of the content type are too many for a snapshot")]
    TooLarge,
    /// A document lacks a key that decides about its URL (D32).
    #[error("a document lacks the key `{0}`")]
    Absent(AbsentKey),
}

/// The rules and the base URL from which the URLs of one content type's documents are built.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'s> {
    /// The rules of the site.
    pub rules: &'s RuleSet,
    /// The base URL of the site, which limits the length of a path.
    pub base: Option<&'s BaseUrl>,
    /// The content type.
    pub uid: &'s str,
}

/// A part of a snapshot under construction: what a walk has found, or one of several concurrent
/// walks.
#[derive(Debug)]
pub struct Part<'s> {
    listing: Listing<'s>,
    arena: Arena,
    entries: Vec<Entry>,
    references: ReferencesDraft,
    skipped: Skipped,
    too_large: bool,
    /// The first absent key that decides about a URL.
    absent: Option<AbsentKey>,
    /// The rules of the content type and their positions in the settings.
    rules: Vec<(usize, &'s Rule)>,
    /// The path of the present document: one buffer for all documents.
    path: String,
}

impl<'s> Listing<'s> {
    /// An empty part.
    #[must_use]
    pub fn part(self) -> Part<'s> {
        let of_type = self.rules.positions_of_type(self.uid);
        Part {
            listing: self,
            arena: Arena::default(),
            entries: Vec::new(),
            references: ReferencesDraft::new(self.rules.relations(self.uid)),
            skipped: Skipped::default(),
            too_large: false,
            absent: None,
            rules: of_type.map(|at| (at, &self.rules.rules()[at])).collect(),
            path: String::new(),
        }
    }
}

impl Part<'_> {
    /// Adds a published document.
    pub fn add(&mut self, document: &Document<'_>) {
        let Listing { rules, base, .. } = self.listing;
        let tried = self.rules.iter().map(|(_, rule)| *rule);
        match write_path(rules, base, tried, document, false, &mut self.path) {
            Some(Ok(found)) => match absent_key(found.rule, document) {
                None => {
                    self.push(found, document);
                    self.references.add(document, rules.locales(), true);
                }
                Some(key) => _ = self.absent.get_or_insert(key),
            },
            Some(Err(NoUrl { reason: NoUrlReason::Absent(key), .. })) => {
                _ = self.absent.get_or_insert(key);
            }
            // The conditions leave it to other sites.
            Some(Err(no_url)) if no_url.reason == NoUrlReason::ConditionsNotMet => {}
            // It may get a URL when the document that it reads is gone.
            Some(Err(no_url)) => {
                self.skipped.count(&no_url.to_string(), 1);
                self.references.add(document, rules.locales(), false);
            }
            None => self.skipped.count("no_rule", 1),
        }
    }

    /// Adds an entry of another snapshot of the same listing.
    pub(super) fn keep(&mut self, entry: Entry, arena: &Arena) {
        match self.arena.push([entry.path(arena), entry.id(arena)]) {
            Some(text) => self.entries.push(Entry { text, ..entry }),
            None => self.too_large = true,
        }
    }

    /// The first absent key that decides about the URL of a document. With one there will be no
    /// snapshot, so that other documents need not be read.
    #[must_use]
    pub fn absent_key(&self) -> Option<&AbsentKey> {
        self.absent.as_ref()
    }

    /// Adds a list item that is not a document.
    pub fn add_bad_item(&mut self) {
        self.skipped.count(NOT_A_DOCUMENT, 1);
    }

    fn push(&mut self, PathSource { rule, locale, .. }: PathSource<'_>, document: &Document<'_>) {
        let Ok(id_len) = u16::try_from(document.id.len()) else {
            return self.add_bad_item();
        };
        let at = self.rules.iter().find(|(_, own)| std::ptr::eq(*own, rule));
        let locales = self.listing.rules.locales().as_slice();
        let locale = locales.iter().position(|own| own == locale);
        let mut entry = || {
            Some(Entry {
                text: self.arena.push([&self.path, &document.id])?,
                rule: u32::try_from(at?.0).ok()?,
                path_len: u16::try_from(self.path.len()).ok()?,
                id_len,
                locale: u16::try_from(locale?).ok()?,
                flags: Flags::default()
                    .with(LISTED, rule.sitemap.lists(document))
                    .with(LOCALIZED, document.locale != DocumentLocale::None),
                modified: modified(document, &rule.sitemap.modified),
            })
        };
        match entry() {
            Some(entry) => self.entries.push(entry),
            None => self.too_large = true,
        }
    }
}

/// Builds snapshots.
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    /// Whether the snapshot gets a path table, for [`Snapshot::owner`].
    pub path_table: bool,
}

impl Builder {
    /// The snapshot of these parts, in any order. Of two versions with the same path, one that
    /// sitemaps list gets the entry; of two such, the first by locale, then by `documentId`.
    ///
    /// # Errors
    /// [`NoSnapshot`].
    pub fn finish(self, parts: Vec<Part<'_>>) -> Result<Snapshot, NoSnapshot> {
        let mut snapshot = Snapshot::default();
        let mut entries: Vec<Entry> = Vec::new();
        let mut references = ReferencesDraft::default();
        for mut part in parts {
            if let Some(key) = part.absent {
                return Err(NoSnapshot::Absent(key));
            }
            if part.too_large {
                return Err(NoSnapshot::TooLarge);
            }
            let shift = snapshot.arena.append(part.arena).ok_or(NoSnapshot::TooLarge)?;
            for entry in &mut part.entries {
                entry.text += shift;
            }
            // There is one part as a rule, which needs no copy.
            match entries.len() {
                0 => entries = part.entries,
                _ => entries.append(&mut part.entries),
            }
            references.append(part.references);
            for (reason, times) in part.skipped.by_reason() {
                snapshot.skipped.count(reason, times);
            }
        }
        let sorted = sorted(&entries, &snapshot.arena)?;
        let count = sorted.len();
        snapshot.in_order = by_document(&mut entries, sorted, &snapshot.arena).into();
        snapshot.duplicates = (entries.len() - count) as u64;
        let mut gone = entries.split_off(count);
        snapshot.shared = shared(&entries, &gone, &snapshot.arena);
        for entry in &gone {
            if snapshot.shared.contains(&path_hash(entry.path(&snapshot.arena))) {
                references.add_without_entry(entry.id(&snapshot.arena));
            }
        }
        let order = |entry: &Entry| {
            let id = entry.id(&snapshot.arena);
            (document_hash(id), id, entry.locale)
        };
        gone.sort_unstable_by(|one, other| order(one).cmp(&order(other)));
        snapshot.others = gone.into();
        snapshot.references = references.finish();
        snapshot.entries = entries.into();
        snapshot.listed = snapshot.count_listed();
        let paths = snapshot.entries.iter().map(|entry| entry.path(&snapshot.arena));
        snapshot.path_table = self.path_table.then(|| PathTable::new(paths, PathHash::seeded()));
        Ok(snapshot)
    }
}

/// The positions of the entries by locale, then by path: paths are ASCII, so the order of bytes is
/// that of code points. Of the entries with the same path, only the first by [`Rank`].
fn sorted(entries: &[Entry], arena: &Arena) -> Result<Vec<u32>, NoSnapshot> {
    let count = u32::try_from(entries.len()).map_err(|_| NoSnapshot::TooLarge)?;
    let entry = |at: u32| &entries[at as usize];
    let text = |at| entry(at).path(arena);
    let first = |one, other| Ord::cmp(&entry(one).rank(arena), &entry(other).rank(arena));
    // By path first, so that equal paths of all locales are neighbours.
    let mut sorted = Sort { text, first }.positions(count);
    // Stable: within a locale the paths stay in order.
    sorted.sort_by_key(|at| entry(*at).locale);
    Ok(sorted)
}

/// Moves the entries at `kept` to the front, ordered by document. Returns the new positions of the
/// listed ones, in the order of `kept`.
fn by_document(entries: &mut [Entry], mut kept: Vec<u32>, arena: &Arena) -> Vec<u32> {
    let mut places = vec![GONE; entries.len()];
    for at in &kept {
        places[*at as usize] = 0;
    }
    // In the order of the arena, which is faster than in that of the paths.
    let stays = (0..).zip(&places).filter(|(_, place)| **place != GONE).map(|(at, _)| at);
    let hashed = hashed(entries, stays, arena);
    let mut before: Option<(u64, u32)> = None;
    for (place, (hash, at)) in (0..).zip(hashed) {
        let id = |at: u32| entries[at as usize].id(arena);
        // A comparison of hashes avoids most look-ups in the arena.
        let same = before.is_some_and(|(other, one)| other == hash && id(one) == id(at));
        let flags = &mut entries[at as usize].flags;
        *flags = flags.with(FIRST, !same);
        before = Some((hash, at));
        places[at as usize] = place;
    }
    let count = kept.len();
    kept.retain(|at| entries[*at as usize].flags.has(LISTED));
    for at in &mut kept {
        *at = places[*at as usize];
    }
    let gone = places.iter_mut().filter(|place| **place == GONE);
    for (place, end) in gone.zip((0..).skip(count)) {
        *place = end;
    }
    rearrange(entries, &mut places);
    kept
}

/// Hashes of the paths whose entry is kept for one document, and that another document has, too.
fn shared(kept: &[Entry], gone: &[Entry], arena: &Arena) -> FxHashSet<u64> {
    let hash = |entry: &Entry| path_hash(entry.path(arena));
    let paths: FxHashSet<u64> = gone.iter().map(hash).collect();
    if paths.is_empty() {
        return paths;
    }
    let owners = kept.iter().map(|entry| (hash(entry), entry.id(arena)));
    let owners: FxHashMap<u64, &str> = owners.filter(|(path, _)| paths.contains(path)).collect();
    let own = |entry: &&Entry| owners.get(&hash(entry)) == Some(&entry.id(arena));
    gone.iter().filter(|entry| !own(entry)).map(hash).collect()
}

/// The positions of the kept entries, ordered by document, each with the hash of the `documentId`.
fn hashed(entries: &[Entry], kept: impl Iterator<Item = u32>, arena: &Arena) -> Vec<(u64, u32)> {
    let version = |at: u32| {
        let entry = &entries[at as usize];
        (entry.id(arena), entry.locale, entry.path(arena))
    };
    let mut hashed = Vec::with_capacity(entries.len());
    hashed.extend(kept.map(|at| (document_hash(version(at).0), at)));
    hashed.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then_with(|| version(one.1).cmp(&version(other.1)))
    });
    hashed
}

/// Moves each entry to its place, without the memory for a second copy.
fn rearrange(entries: &mut [Entry], places: &mut [u32]) {
    for at in 0..entries.len() {
        while places[at] as usize != at {
            let place = places[at] as usize;
            entries.swap(at, place);
            places.swap(at, place);
        }
    }
}

/// An absent key that decides how sitemaps list a document.
fn absent_key(rule: &Rule, document: &Document<'_>) -> Option<AbsentKey> {
    if document.has_absent() { rule.sitemap.absent_key(document) } else { None }
}

/// When a version was last modified, in milliseconds since 1970.
fn modified(document: &Document<'_>, field: &FieldPath) -> i64 {
    let FieldValue::Text(text) = document.field(field) else { return UNDATED };
    timestamp::read(text).map_or(UNDATED, Timestamp::as_millisecond)
}
