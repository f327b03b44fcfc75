//! Reads the form in which clients write the body of a batch: texts without escapes, and no other
//! members. `serde_json` reads all other forms; it reads each item twice, because a malformed one must
//! not make the others unreadable.

use super::Members;
use frontend_map_rules::is_document_id;

/// An item as scanned.
pub(super) enum Scanned<'a> {
    /// Its members. What they are is not checked.
    Members(Members<&'a str>),
    /// This valid `documentId`, and everything else as in the item before.
    LikeBefore(&'a str),
}

/// Adds each item of a body, at most `max`. `None`: the body has another form, or an item cannot be
/// added.
pub(super) fn scan<'a>(
    body: &'a str,
    max: usize,
    mut add: impl FnMut(Scanned<'a>) -> Option<()>,
) -> Option<()> {
    let mut scanner = Scanner { body, at: 0, before: None };
    scanner.take(b'{')?;
    if scanner.text()? != "documents" {
        return None;
    }
    scanner.take(b':')?;
    scanner.take(b'[')?;
    for _ in 0..max {
        add(scanner.item()?)?;
        if !scanner.has_more(b']')? {
            scanner.take(b'}')?;
            return scanner.next().is_none().then_some(());
        }
    }
    None
}

struct Scanner<'a> {
    body: &'a str,
    /// The position of the next byte.
    at: usize,
    /// The item before, if it has a `documentId`.
    before: Option<Written<'a>>,
}

/// An item as written, around its `documentId`.
#[derive(Clone, Copy)]
struct Written<'a> {
    /// Up to the quote before it.
    start: &'a str,
    /// The length of the `documentId`, in bytes.
    length: usize,
    /// From the quote behind it on.
    end: &'a str,
}

impl<'a> Scanner<'a> {
    fn item(&mut self) -> Option<Scanned<'a>> {
        self.skip_space();
        // Nearly always: programs write all items alike.
        if let Some(document_id) = self.id_of_item_like_before() {
            return Some(Scanned::LikeBefore(document_id));
        }
        self.members().map(Scanned::Members)
    }

    /// The `documentId` of an item that is written like the one before, which is taken then.
    fn id_of_item_like_before(&mut self) -> Option<&'a str> {
        let Written { start, length, end } = self.before?;
        let rest = self.body[self.at..].strip_prefix(start)?;
        let (document_id, rest) = rest.split_at_checked(length)?;
        if !(rest.starts_with(end) && is_document_id(document_id)) {
            return None;
        }
        self.at += start.len() + length + end.len();
        Some(document_id)
    }

    fn members(&mut self) -> Option<Members<&'a str>> {
        let start = self.at;
        let (mut members, mut seen, mut end_of_id) = ([None; 3], [false; 3], start);
        self.take(b'{')?;
        loop {
            let member = match self.text()? {
                "uid" => 0,
                "documentId" => 1,
                "locale" => 2,
                _ => return None,
            };
            self.take(b':')?;
            if std::mem::replace(&mut seen[member], true) {
                return None;
            }
            members[member] = if self.has_null() { None } else { Some(self.text()?) };
            if member == 1 {
                end_of_id = self.at - 1;
            }
            if !self.has_more(b'}')? {
                break;
            }
        }
        self.before = members[1].map(|document_id| Written {
            start: &self.body[start..end_of_id - document_id.len()],
            length: document_id.len(),
            end: &self.body[end_of_id..self.at],
        });
        Some(members)
    }

    /// Whether `null` is next, which is taken then.
    fn has_null(&mut self) -> bool {
        self.skip_space();
        let is_null = self.body[self.at..].starts_with("null");
        self.at += if is_null { "null".len() } else { 0 };
        is_null
    }

    /// A text without escapes.
    fn text(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let rest = &self.body[self.at..];
        let end = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
        self.at += end + 1;
        (rest.as_bytes()[end] == b'"').then_some(&rest[..end])
    }

    /// Whether a comma is next, or else this end.
    fn has_more(&mut self, end: u8) -> Option<bool> {
        let next = self.next()?;
        (next == b',' || next == end).then_some(next == b',')
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The next byte that is not white space.
    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        let next = self.body.as_bytes().get(self.at).copied()?;
        self.at += 1;
        Some(next)
    }

    /// White space by RFC 8259, section 2.
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.body.as_bytes().get(self.at) {
            self.at += 1;
        }
    }
}
