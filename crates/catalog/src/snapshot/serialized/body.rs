//! The body of a serialized snapshot: everything from which it can be built again, in columns, because
//! values of one kind compress better side by side than in rows.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Titles, Unreadable};
use crate::snapshot::build::{Builder, Draft, OwnersFrom};
use crate::snapshot::entry::{Entry, Flags};
use crate::snapshot::hash::document_hash;
use crate::snapshot::no_url::NoUrlRow;
use crate::snapshot::references::{Reference, References};
use crate::snapshot::{Skipped, Snapshot};
use frontend_map_rules::FieldPath;

const NO_URL: Unreadable = Unreadable::Malformed("a URL is none");
const LEFT_OVER: Unreadable = Unreadable::Malformed("a column is longer than the others");
const NO_RELATION: Unreadable = Unreadable::Malformed("a name is no relation");
const TOO_MUCH_TEXT: Unreadable = Unreadable::Malformed("it has too much text");
const UNKNOWN_DOCUMENT: Unreadable = Unreadable::Malformed("a reference leads to no document");

/// The columns of a snapshot.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Body<'s> {
    hosts: Cow<'s, [u16]>,
    /// Of each entry, as the columns up to that of the dates.
    flags: Vec<u8>,
    rules: Vec<u32>,
    locales: Vec<u16>,
    /// Each as the difference from the one before.
    dates: Vec<i64>,
    #[serde(borrow)]
    paths: Texts<'s>,
    /// Of each document: the other versions of a document follow the first one.
    #[serde(borrow)]
    ids: Texts<'s>,
    /// Of each entry, unless titles are left out.
    #[serde(borrow)]
    titles: Option<Texts<'s>>,
    #[serde(borrow)]
    no_url: Vec<NoUrlRow<'s>>,
    without_row: Skipped,
    #[serde(borrow)]
    ids_without_entry: Vec<&'s str>,
    /// The name of each relation, and the id of a document behind it.
    #[serde(borrow)]
    examples: Vec<(Cow<'s, str>, &'s str)>,
    /// The key of each reference and the position of its document among all known ones, each as the
    /// difference from the one before, which is small where documents follow each other.
    references: Vec<(u64, i64)>,
    /// The hashes of the documents of references whose position is 0.
    unknown: Vec<[u8; 8]>,
    urls_hash: u128,
}

/// Texts one behind the other, with their lengths apart.
#[derive(Default, Serialize, Deserialize)]
struct Texts<'s> {
    #[serde(borrow)]
    all: Cow<'s, str>,
    lengths: Vec<u16>,
}

impl<'s> Body<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, titles: Titles) -> Self {
        let with_titles = titles == Titles::Kept;
        let title = |row: NoUrlRow<'s>| row.title.filter(|_| with_titles);
        let examples = snapshot.references.examples().iter();
        let mut body = Self {
            hosts: Cow::Borrowed(&snapshot.hosts),
            titles: with_titles.then(Texts::default),
            no_url: snapshot.no_url().map(|row| NoUrlRow { title: title(row), ..row }).collect(),
            without_row: snapshot.without_row.clone(),
            ids_without_entry: snapshot.references.ids_without_entry(),
            examples: examples.map(|(name, id)| (name.to_string().into(), &**id)).collect(),
            urls_hash: snapshot.urls_hash,
            ..Self::default()
        };
        let mut documents = Vec::new();
        let mut date = 0;
        for entry in &snapshot.entries {
            body.flags.push(entry.flags.bits());
            body.rules.push(entry.rule);
            body.locales.push(entry.locale);
            body.dates.push(entry.modified.wrapping_sub(date));
            date = entry.modified;
            body.paths.push(entry.path(&snapshot.arena));
            if entry.flags.contains(Flags::FIRST) {
                let id = entry.id(&snapshot.arena);
                body.ids.push(id);
                documents.push(document_hash(id));
            }
            if let Some(titles) = &mut body.titles {
                titles.push(entry.title(&snapshot.arena));
            }
        }
        body.add_references(&snapshot.references, documents);
        body
    }

    /// `documents` has the hashes of the documents of all entries, in order.
    fn add_references(&mut self, references: &References, mut documents: Vec<u64>) {
        if references.all().is_empty() {
            return;
        }
        documents.extend(self.ids_without_entry.iter().map(|id| document_hash(id)));
        let positions: FxHashMap<u64, i64> = documents.into_iter().zip(1..).collect();
        let (mut key, mut position) = (0, 0);
        for reference in references.all() {
            // 0: it is not among them.
            let own = positions.get(&reference.document()).copied().unwrap_or(0);
            self.references.push((reference.key() - key, own - position));
            (key, position) = (reference.key(), own);
            if own == 0 {
                self.unknown.push(reference.document().to_le_bytes());
            }
        }
    }

    /// The snapshot, or some documents of one (`is_part`).
    pub(super) fn snapshot(self, builder: Builder, is_part: bool) -> Result<Snapshot, Unreadable> {
        let hosts = Box::from(&*self.hosts);
        let mut draft = Draft { hosts, is_part, ..Draft::default() };
        let documents = self.read_entries(&mut draft)?;
        for row in &self.no_url {
            draft.keep_no_url(*row).map_err(|_| TOO_MUCH_TEXT)?;
        }
        draft.references = self.read_references(documents)?;
        draft.without_row = self.without_row;
        let snapshot = builder.finish_draft(draft, OwnersFrom::Flags);
        let snapshot = snapshot.map_err(|_| TOO_MUCH_TEXT)?;
        if snapshot.urls_hash != self.urls_hash {
            return Err(Unreadable::Malformed("its URLs differ from those that were written"));
        }
        Ok(snapshot)
    }

    /// Returns the hash of each document, in order.
    fn read_entries(&self, draft: &mut Draft) -> Result<Vec<u64>, Unreadable> {
        let (mut rules, mut locales) = (self.rules.iter(), self.locales.iter());
        let (mut dates, mut paths, mut ids) =
            (self.dates.iter(), self.paths.iter(), self.ids.iter());
        let mut titles = self.titles.as_ref().map(Texts::iter);
        let texts = [Some(&self.paths), Some(&self.ids), self.titles.as_ref()];
        if !texts.into_iter().flatten().all(Texts::is_whole) {
            return Err(LEFT_OVER);
        }
        let (mut documents, mut date, mut id) = (Vec::new(), 0_i64, "");
        draft.entries = Vec::with_capacity(self.flags.len());
        for flags in &self.flags {
            let flags = Flags::from_bits(*flags);
            let flags = flags.ok_or(Unreadable::Malformed("a flag is unknown"))?;
            let (rule, locale) = (*rules.next().ok_or(NO_URL)?, *locales.next().ok_or(NO_URL)?);
            if flags.contains(Flags::FIRST) {
                id = ids.next().ok_or(NO_URL)?;
                documents.push(document_hash(id));
            }
            let path = paths.next().ok_or(NO_URL)?;
            if id.is_empty() || !is_path(path) || !has_locale(draft, locale) {
                return Err(NO_URL);
            }
            date = date.wrapping_add(*dates.next().ok_or(NO_URL)?);
            let title = match &mut titles {
                Some(titles) => titles.next().ok_or(NO_URL)?,
                None => "",
            };
            let text = draft.arena.push([path, id, title]);
            draft.entries.push(Entry {
                text: text.ok_or(TOO_MUCH_TEXT)?,
                rule,
                path_len: length(path),
                id_len: u8::try_from(id.len()).map_err(|_| NO_URL)?,
                title_len: length(title),
                locale,
                flags,
                modified: date,
            });
        }
        let are_left = rules.next().is_some()
            || locales.next().is_some()
            || dates.next().is_some()
            || paths.next().is_some()
            || ids.next().is_some()
            || titles.is_some_and(|mut titles| titles.next().is_some());
        if are_left { Err(LEFT_OVER) } else { Ok(documents) }
    }

    /// `documents` has the hashes of the documents of all entries, in order.
    fn read_references(&self, mut documents: Vec<u64>) -> Result<References, Unreadable> {
        documents.extend(self.ids_without_entry.iter().map(|id| document_hash(id)));
        let example = |(name, id): &(Cow<'_, str>, &str)| {
            Ok((FieldPath::parse(name).ok_or(NO_RELATION)?, Box::from(*id)))
        };
        let examples: Result<_, Unreadable> = self.examples.iter().map(example).collect();
        let mut unknown = self.unknown.iter().map(|hash| u64::from_le_bytes(*hash));
        let mut all = Vec::with_capacity(self.references.len());
        let (mut key, mut position) = (0_u64, 0_i64);
        for (key_after, position_after) in &self.references {
            key = key.wrapping_add(*key_after);
            position = position.wrapping_add(*position_after);
            let document = match usize::try_from(position) {
                Ok(0) => unknown.next(),
                Ok(at) => documents.get(at - 1).copied(),
                Err(_) => None,
            };
            all.push(Reference::of_key(key, document.ok_or(UNKNOWN_DOCUMENT)?));
        }
        if unknown.next().is_some() {
            return Err(LEFT_OVER);
        }
        Ok(References::new(all, &self.ids_without_entry, examples?))
    }
}

impl Texts<'_> {
    fn push(&mut self, text: &str) {
        self.all.to_mut().push_str(text);
        self.lengths.push(length(text));
    }

    /// Whether the lengths are those of all the text.
    fn is_whole(&self) -> bool {
        self.lengths.iter().map(|length| usize::from(*length)).sum::<usize>() == self.all.len()
    }

    /// Ends at a length that does not fit.
    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut rest = &*self.all;
        self.lengths.iter().map_while(move |length| {
            let (text, others) = rest.split_at_checked((*length).into())?;
            rest = others;
            Some(text)
        })
    }
}

fn length(text: &str) -> u16 {
    u16::try_from(text.len()).expect("texts of entries have lengths of 16 bits")
}

/// Whether a text has the form of a path on the frontend: absolute, not the beginning of a host, and of
/// printable ASCII without `"`, `&`, `<`, `>` and `\`, which JSON or XML would have to escape.
fn is_path(path: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'&' | b'<' | b'>' | b'\\');
    path.starts_with('/') && !path.starts_with("//") && path.bytes().all(is_plain)
}

fn has_locale(draft: &Draft, locale: u16) -> bool {
    draft.hosts.is_empty() || usize::from(locale) < draft.hosts.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_absolute_and_of_characters_that_need_no_escape() {
        for path in ["/", "/en/caf%C3%A9", "/a~b_c-d.e", "/a;b=c,d", "/'"] {
            assert!(is_path(path), "{path}");
        }
        for path in ["", "a", "//a", "/a b", "/\u{e9}", "/\u{7f}", "/\"", "/\\", "/<", "/>", "/&"] {
            assert!(!is_path(path), "{path}");
        }
    }

    #[test]
    fn column_that_is_longer_than_the_others_is_refused() {
        let builder = Builder { path_table: true };
        let empty = builder.finish(Vec::new()).unwrap();
        let body = || Body::of(&empty, Titles::Kept);
        assert!(body().snapshot(builder, false).is_ok());
        let longer: [fn(&mut Body<'_>); 8] = [
            |body| body.rules.push(0),
            |body| body.locales.push(0),
            |body| body.dates.push(0),
            |body| body.paths.push("/x"),
            |body| body.paths.all.to_mut().push('x'),
            |body| body.ids.push("x"),
            |body| body.titles.as_mut().unwrap().push("x"),
            |body| body.unknown.push([0; 8]),
        ];
        for (number, add) in longer.iter().enumerate() {
            let mut body = body();
            add(&mut body);
            assert_eq!(body.snapshot(builder, false).err(), Some(LEFT_OVER), "{number}");
        }
    }
}
