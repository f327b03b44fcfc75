//! Which documents read which others through relations: after a change of a category, these are the
//! documents whose URLs may have changed.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::Xxh3Default;

use super::hash::document_hash;
use frontend_map_rules::{Document, DocumentLocale, FieldPath, FieldValue, Locales};

/// The relations of a content type, each with the path to the `documentId` behind it.
pub(super) type Relations = Vec<(FieldPath, FieldPath)>;

/// A version of a document reads another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    /// The hash of the target in the upper 48 bits, and the position of the version's locale in the
    /// site's locales in the lower 16.
    target_and_locale: u64,
    /// The hash of the `documentId`.
    document: u64,
}

impl Reference {
    fn new(target: u64, locale: u16, document: u64) -> Self {
        Self { target_and_locale: target << u16::BITS | u64::from(locale), document }
    }

    /// From its [`Reference::key`] and the hash of the document that has it.
    pub(super) fn of_key(key: u64, document: u64) -> Self {
        Self { target_and_locale: key, document }
    }

    /// Stands for the target, the relation and the locale of the version.
    pub(super) fn key(self) -> u64 {
        self.target_and_locale
    }

    /// The hash of the document that has it.
    pub(super) fn document(self) -> u64 {
        self.document
    }

    fn target(self) -> u64 {
        self.target_and_locale >> u16::BITS
    }

    fn locale(self) -> usize {
        usize::try_from(self.target_and_locale & u64::from(u16::MAX)).expect("16 bits")
    }
}

/// The references of all versions in a snapshot.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    /// In order, each once.
    all: Box<[Reference]>,
    /// The ids of documents that may have no entry in the snapshot, by hash.
    without_entry: FxHashMap<u64, Box<str>>,
    /// For each relation through which a version reads or has read a document, the id of one of these
    /// documents.
    examples: Box<[(FieldPath, Box<str>)]>,
}

/// References under construction.
#[derive(Debug, Default)]
pub(super) struct ReferencesDraft {
    relations: Relations,
    all: Vec<Reference>,
    without_entry: FxHashMap<u64, Box<str>>,
    /// In the order of the relations, the id of a document behind each.
    examples: Vec<Option<Box<str>>>,
}

impl ReferencesDraft {
    /// No references yet, through these relations.
    pub(super) fn new(relations: Vec<FieldPath>) -> Self {
        let with_id = |relation: FieldPath| {
            let id = relation.document_id();
            (relation, id)
        };
        let examples = vec![None; relations.len()];
        let relations = relations.into_iter().map(with_id).collect();
        Self { relations, examples, ..Self::default() }
    }

    /// Adds the references of a version.
    pub(super) fn add(&mut self, document: &Document<'_>, locales: &Locales, has_entry: bool) {
        if self.relations.is_empty() {
            return;
        }
        let locale = locale_of(document, locales).and_then(|locale| u16::try_from(locale).ok());
        let Some(locale) = locale else { return };
        let (hash, known) = (document_hash(&document.id), self.all.len());
        for ((relation, id), example) in self.relations.iter().zip(&mut self.examples) {
            for target in ids(document.field(id)) {
                if example.is_none() {
                    *example = Some(target.into());
                }
                let target = target_hash(relation, target);
                self.all.push(Reference::new(target, locale, hash));
            }
        }
        if !has_entry && self.all.len() > known {
            self.without_entry.insert(hash, (*document.id).into());
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        let known = std::mem::take(&mut self.examples).into_iter().chain(std::iter::repeat(None));
        let examples = other.examples.into_iter().zip(known);
        self.examples = examples.map(|(own, known)| known.or(own)).collect();
        self.relations = other.relations;
        self.all.extend(other.all);
        self.without_entry.extend(other.without_entry);
    }

    pub(super) fn finish(mut self) -> References {
        self.all.sort_unstable();
        self.all.dedup();
        let examples = self.relations.into_iter().zip(self.examples);
        let examples = examples.filter_map(|((relation, _), id)| Some((relation, id?))).collect();
        References { all: self.all.into(), without_entry: self.without_entry, examples }
    }
}

impl References {
    /// Of references in any order, the ids of documents that may have no entry, and a document behind
    /// each relation.
    pub(super) fn new(
        mut all: Vec<Reference>,
        without_entry: &[&str],
        examples: Vec<(FieldPath, Box<str>)>,
    ) -> Self {
        all.sort_unstable();
        all.dedup();
        let with_hash = |id: &&str| (document_hash(id), (*id).into());
        let without_entry = without_entry.iter().map(with_hash).collect();
        Self { all: all.into(), without_entry, examples: examples.into() }
    }

    /// The relations through which a version reads or has read a document, each with the id of one of
    /// these documents.
    pub(super) fn examples(&self) -> &[(FieldPath, Box<str>)] {
        &self.examples
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> &[Reference] {
        &self.all
    }

    /// The ids of documents that may have no entry in the snapshot, in order.
    pub(super) fn ids_without_entry(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.without_entry.values().map(|id| &**id).collect();
        ids.sort_unstable();
        ids
    }

    /// The hashes of the documents that read this one through a relation, each with the locale of
    /// the version.
    pub(super) fn to(
        &self,
        relation: &FieldPath,
        id: &str,
    ) -> impl Iterator<Item = (u64, usize)> + '_ {
        let target = target_hash(relation, id);
        let start = self.all.partition_point(|reference| reference.target() < target);
        let own =
            self.all[start..].iter().take_while(move |reference| reference.target() == target);
        own.map(|reference| (reference.document, reference.locale()))
    }

    /// The id of a document that a version reads, or has read, through a relation; `None`: none has
    /// done so since the walk.
    pub(super) fn example(&self, relation: &FieldPath) -> Option<&str> {
        let mut examples = self.examples.iter();
        examples.find(|(own, _)| own == relation).map(|(_, id)| &**id)
    }

    /// The id of a document without an entry.
    pub(super) fn without_entry(&self, hash: u64) -> Option<&str> {
        self.without_entry.get(&hash).map(|id| &**id)
    }

    /// The references of the versions for which `is_own` holds.
    pub(super) fn of(&self, is_own: impl Fn(u64, usize) -> bool) -> Vec<Reference> {
        let own = |reference: &&Reference| is_own(reference.document, reference.locale());
        self.all.iter().filter(own).copied().collect()
    }

    /// These references, of which those of versions for which `is_own` holds are replaced by `own`.
    pub(super) fn replaced(&self, own: &Self, is_own: impl Fn(u64, usize) -> bool) -> Self {
        let kept = |reference: &&Reference| !is_own(reference.document, reference.locale());
        let kept = self.all.iter().filter(kept);
        let mut all: Vec<Reference> = kept.chain(&own.all).copied().collect();
        all.sort_unstable();
        all.dedup();
        let used: FxHashSet<u64> = all.iter().map(|reference| reference.document).collect();
        let ids = [self, own].into_iter().flat_map(|one| &one.without_entry);
        let ids = ids.filter(|(hash, _)| used.contains(hash));
        let without_entry = ids.map(|(hash, id)| (*hash, id.clone())).collect();
        let is_left = |(relation, _): &&(FieldPath, _)| own.example(relation).is_none();
        let examples = own.examples.iter().chain(self.examples.iter().filter(is_left));
        Self { all: all.into(), without_entry, examples: examples.cloned().collect() }
    }

    /// The references of the documents for which `is_own` holds, and the examples.
    pub(super) fn part_of(&self, is_own: impl Fn(u64) -> bool) -> Self {
        let all = self.all.iter().filter(|reference| is_own(reference.document));
        let ids = self.without_entry.iter().filter(|(hash, _)| is_own(**hash));
        let without_entry = ids.map(|(hash, id)| (*hash, id.clone())).collect();
        Self { all: all.copied().collect(), without_entry, examples: self.examples.clone() }
    }

    /// These references, of which those of documents for which `is_replaced` holds, and the
    /// examples, are replaced by those of `own`.
    pub(super) fn merged(&self, own: &Self, is_replaced: impl Fn(u64) -> bool) -> Self {
        let is_kept = |document: u64| !is_replaced(document);
        let kept = self.all.iter().filter(|reference| is_kept(reference.document));
        let mut all: Vec<Reference> = kept.chain(&own.all).copied().collect();
        all.sort_unstable();
        all.dedup();
        let ids = self.without_entry.iter().filter(|(hash, _)| is_kept(**hash));
        let without_entry = ids.chain(&own.without_entry);
        let without_entry = without_entry.map(|(hash, id)| (*hash, id.clone())).collect();
        Self { all: all.into(), without_entry, examples: own.examples.clone() }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.all)
    }
}

/// The position of a version's locale in the site's locales; `None`: it is in none of them.
pub(super) fn locale_of(document: &Document<'_>, locales: &Locales) -> Option<u32> {
    let at = match &document.locale {
        DocumentLocale::None => 0,
        DocumentLocale::Named(name) => {
            locales.codes().iter().position(|locale| locale.as_str() == name)?
        }
        DocumentLocale::NotText => return None,
    };
    u32::try_from(at).ok()
}

/// The ids in a field: one, or those of a relation to several documents.
fn ids<'f>(value: &'f FieldValue<'_>) -> Vec<&'f str> {
    match value {
        FieldValue::Text(id) => vec![id],
        FieldValue::List(values) => values.iter().flat_map(ids).collect(),
        FieldValue::Missing
        | FieldValue::NullAt(_)
        | FieldValue::Absent(_)
        | FieldValue::Boolean(_)
        | FieldValue::NotText => Vec::new(),
    }
}

/// A hash of 48 bits. By a collision, a withdrawal would remove URLs of documents that do not read the
/// withdrawn one. Among a million targets its probability is 4e-9 for each withdrawn document.
fn target_hash(relation: &FieldPath, id: &str) -> u64 {
    let mut hash = Xxh3Default::new();
    for name in relation.segments() {
        hash.update(name.as_bytes());
        // Neither a name nor an id has a space.
        hash.update(b" ");
    }
    hash.update(id.as_bytes());
    hash.digest() >> u16::BITS
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn targets_whose_hashes_begin_with_the_same_32_bits_differ() {
        let relation = FieldPath::parse("category").unwrap();
        let mut by_start: HashMap<u64, String> = HashMap::new();
        let pair = (0..500_000).find_map(|n| {
            let id = format!("d{n}");
            let other = by_start.insert(target_hash(&relation, &id) >> 16, id.clone())?;
            Some((id, other))
        });
        let (one, other) = pair.expect("the hashes of so many ids collide in 32 bits");
        let reference =
            |id: &str, document| Reference::new(target_hash(&relation, id), 1, document);
        let all = vec![reference(&one, 1), reference(&other, 2)];
        let draft = ReferencesDraft { all, ..ReferencesDraft::default() };
        let references = draft.finish();
        for (id, document) in [(one, 1), (other, 2)] {
            assert_eq!(references.to(&relation, &id).collect::<Vec<_>>(), [(document, 1)]);
        }
        assert_eq!(references.bytes(), 32, "16 bytes each");
    }
}
