//! A batch of changes as it travels between instances, in parts of a bounded size.
//!
//! The bytes are sealed by Redis's client; what is read here may have been written by another
//! version of the service all the same, so that each value is checked.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use super::entry::{Change, Entry, Kind};
use super::site_log::Batch;

/// The format, which changes with the form of the bytes or their meaning.
const FORMAT: u8 = 1;
/// The texts of a part, in bytes before compression: no part of a batch is larger in Redis.
const PART_BYTES: usize = 512 * 1024;
/// The most bytes of a part after decompression: texts may be escaped, and the last change may exceed
/// [`PART_BYTES`].
const MAX_INFLATED: u64 = 8 * 1024 * 1024;
/// The parts of one batch. More changes would block Redis: the log begins again instead.
const MAX_PARTS: usize = 64;
/// What a change takes beside its texts, in bytes.
const OVERHEAD: usize = 40;

/// The list whose publication made changes: one content type of a site, by one version of the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The content type.
    pub uid: String,
    /// The id of the list.
    pub list: String,
    /// The position of the version that made the changes.
    pub position: String,
}

/// Consecutive changes of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The identity of the log.
    pub log: u64,
    /// The sequence number of the first change.
    pub first: u64,
    /// What made them.
    pub origin: Origin,
    /// At least one.
    pub entries: Vec<Entry>,
}

/// The bytes of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedPart {
    /// The sequence number of its last change.
    pub last: u64,
    /// At most 512 KiB, but for single changes with very long texts.
    pub bytes: Vec<u8>,
}

/// Why bytes are not a part of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPart {
    /// Another version of the service has written them.
    #[error("changes of the unknown format {0}")]
    OtherFormat(u8),
    /// They contradict themselves.
    #[error("the changes are malformed: {0}")]
    Malformed(&'static str),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'w> {
    log: u64,
    first: u64,
    origin: Cow<'w, Origin>,
    #[serde(borrow)]
    locales: Vec<Cow<'w, str>>,
    #[serde(borrow)]
    rows: Vec<Row<'w>>,
}

#[derive(Serialize, Deserialize)]
struct Row<'w>(
    /// The position of the kind in [`Kind::ALL`].
    usize,
    /// Whether the page was listed (2), and whether it is (1).
    u8,
    /// The position of the locale among those of the part.
    usize,
    /// When, in milliseconds since 1970.
    i64,
    #[serde(borrow)] Cow<'w, str>,
    #[serde(borrow)] Cow<'w, str>,
    #[serde(borrow)] Cow<'w, str>,
);

/// The parts of a batch that follows the change `last` of a log. `None`: it is too large.
pub fn encode(batch: &Batch, log: u64, last: u64, origin: &Origin) -> Option<Vec<EncodedPart>> {
    let mut parts = Vec::new();
    let mut numbered = batch.numbered(last).peekable();
    while let Some((first, _)) = numbered.peek() {
        if parts.len() == MAX_PARTS {
            return None;
        }
        let (first, mut bytes, mut last) = (*first, 0, *first);
        let mut wire = Wire {
            log,
            first,
            origin: Cow::Borrowed(origin),
            locales: Vec::new(),
            rows: Vec::new(),
        };
        while bytes < PART_BYTES
            && let Some((sequence, entry)) = numbered.next()
        {
            let change = entry.change();
            bytes += OVERHEAD + change.path.len() + change.document_id.len();
            bytes += change.from.map_or(0, str::len);
            wire.push(change);
            last = sequence;
        }
        parts.push(EncodedPart { last, bytes: wire.bytes() });
    }
    Some(parts)
}

impl Part {
    /// Reads what [`encode`] has written.
    ///
    /// # Errors
    /// [`BadPart`] for anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadPart> {
        let (format, compressed) =
            bytes.split_first().ok_or(BadPart::Malformed("there are no bytes"))?;
        if *format != FORMAT {
            return Err(BadPart::OtherFormat(*format));
        }
        let inflated =
            inflate(compressed).map_err(|_| BadPart::Malformed("they cannot be decompressed"))?;
        let wire: Wire<'_> = serde_json::from_slice(&inflated)
            .map_err(|_| BadPart::Malformed("the text is not of this form"))?;
        let uid: Arc<str> = wire.origin.uid.as_str().into();
        let locales: Vec<Arc<str>> = wire.locales.iter().map(|code| (&**code).into()).collect();
        let entry = |row: &Row<'_>| row.entry(&uid, &locales).ok_or(BadPart::Malformed("a change"));
        let entries: Vec<Entry> = wire.rows.iter().map(entry).collect::<Result<_, _>>()?;
        let count = entries.len() as u64;
        if count == 0 || wire.first == 0 || wire.first.checked_add(count).is_none() {
            return Err(BadPart::Malformed("the sequence numbers"));
        }
        Ok(Self { log: wire.log, first: wire.first, origin: wire.origin.into_owned(), entries })
    }

    /// The sequence number of its last change.
    pub fn last(&self) -> u64 {
        self.first + self.entries.len() as u64 - 1
    }
}

impl<'w> Wire<'w> {
    fn push(&mut self, change: Change<'w>) {
        let known = self.locales.iter().position(|code| *code == change.locale);
        let locale = known.unwrap_or(self.locales.len());
        if known.is_none() {
            self.locales.push(change.locale.into());
        }
        let kind = Kind::ALL.iter().position(|kind| *kind == change.kind);
        self.rows.push(Row(
            kind.expect("it has all kinds"),
            u8::from(change.was_listed) << 1 | u8::from(change.is_listed),
            locale,
            change.at,
            change.path.into(),
            change.from.unwrap_or_default().into(),
            change.document_id.into(),
        ));
    }

    fn bytes(&self) -> Vec<u8> {
        let text = serde_json::to_vec(self).expect("texts and numbers are JSON");
        let mut encoder = DeflateEncoder::new(vec![FORMAT], Compression::fast());
        encoder.write_all(&text).expect("memory takes all bytes");
        encoder.finish().expect("memory takes all bytes")
    }
}

impl Row<'_> {
    fn entry(&self, uid: &Arc<str>, locales: &[Arc<str>]) -> Option<Entry> {
        let Self(kind, listed, locale, at, path, from, document_id) = self;
        let (kind, locale) = (*Kind::ALL.get(*kind)?, locales.get(*locale)?);
        let is_path = |path: &str| path.starts_with('/') && u16::try_from(path.len()).is_ok();
        let has_from = kind.has_from();
        let is_from = if has_from { is_path(from) } else { from.is_empty() };
        if *listed > 3 || !is_path(path) || !is_from {
            return None;
        }
        let change = Change {
            kind,
            uid,
            document_id,
            locale,
            path,
            from: has_from.then_some(&**from),
            at: *at,
            was_listed: listed & 2 != 0,
            is_listed: listed & 1 != 0,
        };
        Some(Entry::new(change, uid, locale))
    }
}

fn inflate(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let mut inflated = Vec::new();
    DeflateDecoder::new(compressed).take(MAX_INFLATED + 1).read_to_end(&mut inflated)?;
    if inflated.len() as u64 > MAX_INFLATED {
        return Err(io::Error::other("too many bytes"));
    }
    Ok(inflated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        let uid = "api::article.article".to_owned();
        Origin { uid, list: "0123456789abcdef".to_owned(), position: "3-7".to_owned() }
    }

    fn entry(n: usize, kind: Kind) -> Entry {
        let uid: Arc<str> = origin().uid.into();
        let locale: Arc<str> = if n.is_multiple_of(2) { "en" } else { "de" }.into();
        let (path, from) = (format!("/en/articles/title-{n}"), format!("/en/articles/before-{n}"));
        let change = Change {
            kind,
            uid: &uid,
            document_id: &format!("a0123456789 \"{n}"),
            locale: &locale,
            path: &path,
            from: (kind == Kind::Moved).then_some(&from),
            at: 1_700_000_000_000,
            was_listed: n.is_multiple_of(3),
            is_listed: n.is_multiple_of(5),
        };
        Entry::new(change, &uid, &locale)
    }

    fn batch(count: usize, keep: usize) -> Batch {
        let mut batch = Batch::default();
        (0..count).for_each(|n| batch.push(entry(n, Kind::ALL[n % 4]), keep));
        batch
    }

    #[test]
    fn parts_are_read_as_they_were_written_and_are_small() {
        for (count, keep) in [(0, 10), (1, 10), (25, 10), (20_000, 20_000)] {
            let batch = batch(count, keep);
            let encoded = encode(&batch, 3, 40, &origin()).unwrap();
            let mut read = Vec::new();
            for EncodedPart { last, bytes } in &encoded {
                assert!(bytes.len() <= PART_BYTES);
                let part = Part::decode(bytes).unwrap();
                assert_eq!((part.log, part.last(), &part.origin), (3, *last, &origin()));
                read.extend((part.first..).zip(part.entries));
            }
            let expected: Vec<_> =
                batch.numbered(40).map(|(at, entry)| (at, entry.clone())).collect();
            assert_eq!(read, expected);
            assert_eq!(encoded.len() > 1, count == 20_000);
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_as_bounded_changes() {
        let encoded = encode(&batch(50, 50), 3, 40, &origin()).unwrap().remove(0).bytes;
        for at in 0..encoded.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = encoded.clone();
                bytes[at] ^= flip;
                // Whatever it is: neither a panic nor more than fits in the bounds.
                if let Ok(part) = Part::decode(&bytes) {
                    assert!(part.entries.len() <= 50);
                }
            }
            assert!(Part::decode(&encoded[..at]).is_err());
        }
        assert_eq!(Part::decode(&[9, 1]), Err(BadPart::OtherFormat(9)));
    }

    fn refused(text: &str) -> bool {
        let mut encoder = DeflateEncoder::new(vec![FORMAT], Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        Part::decode(&encoder.finish().unwrap()).is_err()
    }

    #[test]
    fn changes_that_cannot_be_are_refused() {
        let wire = |first: &str, row: &str| {
            format!(
                r#"{{"log":1,"first":{first},"origin":{{"uid":"u","list":"l","position":"1-1"}},"locales":["en"],"rows":[{row}]}}"#
            )
        };
        let good = r#"0,1,0,5,"/a","","d""#;
        assert!(!refused(&wire("1", &format!("[{good}]"))));
        let long = format!(r#"[0,1,0,5,"/{}","","d"]"#, "a".repeat(65_535));
        for (first, row) in [
            ("1", ""),
            ("0", r#"[0,1,0,5,"/a","","d"]"#),
            ("18446744073709551615", r#"[0,1,0,5,"/a","","d"]"#),
            ("1", r#"[4,1,0,5,"/a","","d"]"#),
            ("1", r#"[0,4,0,5,"/a","","d"]"#),
            ("1", r#"[0,1,1,5,"/a","","d"]"#),
            ("1", r#"[0,1,0,5,"a","","d"]"#),
            ("1", r#"[0,1,0,5,"/a","/b","d"]"#),
            ("1", r#"[1,1,0,5,"/a","","d"]"#),
            ("1", r#"[1,1,0,5,"/a","b","d"]"#),
            ("1", &long),
        ] {
            assert!(refused(&wire(first, row)), "{first} {row}");
        }
        let bomb = " ".repeat(usize::try_from(MAX_INFLATED).unwrap());
        assert!(refused(&(bomb + &wire("1", &format!("[{good}]")))));
    }

    #[test]
    fn batch_of_too_many_changes_has_no_parts() {
        // Each change fills a part.
        let (uid, locale): (Arc<str>, Arc<str>) = (origin().uid.into(), "en".into());
        let path = format!("/{}", "a".repeat(60_000));
        let (moved, id) = (entry(0, Kind::Moved), "d".repeat(410_000));
        let change = Change { path: &path, from: Some(&path), ..moved.change() };
        let change = Change { document_id: &id, ..change };
        let mut batch = Batch::default();
        (0..=MAX_PARTS).for_each(|_| batch.push(Entry::new(change, &uid, &locale), 1_000));
        assert_eq!(encode(&batch, 1, 0, &origin()), None);
    }
}
