//! Reads the form in which clients write the body of a batch: texts without escapes, and no other
//! members. `serde_json` reads all other forms; it reads each item twice, because a malformed one must
//! not make the others unreadable, and takes three times the instructions.

/// `uid`, `documentId` and `locale` of an item. What they are is not checked.
pub(super) type Members<'a> = [Option<&'a str>; 3];

/// The items of a body, at most `max`. `None`: the body has another form.
pub(super) fn scan(body: &str, max: usize) -> Option<Vec<Members<'_>>> {
    let mut scanner = Scanner { body, at: 0 };
    scanner.take(b'{')?;
    if scanner.text()? != "documents" {
        return None;
    }
    scanner.take(b':')?;
    scanner.take(b'[')?;
    let mut items = Vec::new();
    while items.len() < max {
        items.push(scanner.item()?);
        if !scanner.has_more(b']')? {
            scanner.take(b'}')?;
            return scanner.next().is_none().then_some(items);
        }
    }
    None
}

struct Scanner<'a> {
    body: &'a str,
    /// The position of the next byte.
    at: usize,
}

impl<'a> Scanner<'a> {
    fn item(&mut self) -> Option<Members<'a>> {
        let (mut members, mut seen) = ([None; 3], [false; 3]);
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
            if !self.has_more(b'}')? {
                return Some(members);
            }
        }
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
