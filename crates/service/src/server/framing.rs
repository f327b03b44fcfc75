//! Scans the bytes that hyper reads: where request heads begin and end, and whether one of them has
//! both `Content-Length` and `Transfer-Encoding`.
//!
//! Such a request must be answered with 400 (D6; RFC 9112, section 6.1), but hyper removes
//! `Content-Length` from it before a service can see it. So the scan checks the beginning of each
//! received line. Bytes of a body may look like a head; so the service reads the result only when a
//! request has `Transfer-Encoding`, which hardly any GET has.

/// The length of the longer of the two names.
const MAX_NAME: usize = "transfer-encoding:".len();

/// The state of the scan: the beginning of the current line, if it is not complete yet, and which
/// fields the current head has had so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    line: [u8; MAX_NAME],
    length: usize,
    begun: bool,
    content_length: bool,
    transfer_encoding: bool,
}

impl Scan {
    /// Scans more bytes; returns true when a head with both fields has ended.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        // The fast path: complete heads as nearly all clients send them, which leave no state behind.
        if !self.is_partial() && ends_with_a_head(bytes) && !may_name_encoding(bytes) {
            return false;
        }
        self.feed_lines(bytes)
    }

    fn feed_lines(&mut self, bytes: &[u8]) -> bool {
        let mut begin = 0;
        let mut both = false;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let rest = &bytes[begin..end];
            both |= if self.length == 0 {
                self.end_line(rest)
            } else {
                self.extend(rest);
                let (line, length) = (self.line, std::mem::take(&mut self.length));
                self.end_line(&line[..length])
            };
            begin = end + 1;
        }
        self.extend(&bytes[begin..]);
        both
    }

    /// Whether there are bytes behind the last complete head.
    pub(super) fn is_partial(&self) -> bool {
        self.begun || self.length > 0
    }

    fn extend(&mut self, part: &[u8]) {
        let room = &mut self.line[self.length..];
        let taken = part.len().min(room.len());
        room[..taken].copy_from_slice(&part[..taken]);
        self.length += taken;
    }

    /// Scans a complete line, or as much of its beginning as the scan stores.
    fn end_line(&mut self, line: &[u8]) -> bool {
        let is = |name: &str| {
            line.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
        };
        match line {
            [] | [b'\r'] => {
                let both = self.content_length && self.transfer_encoding;
                *self = Self::default();
                return both;
            }
            [b'c' | b'C', ..] => self.content_length |= is("content-length:"),
            [b't' | b'T', ..] => self.transfer_encoding |= is("transfer-encoding:"),
            _ => {}
        }
        self.begun = true;
        false
    }
}

fn ends_with_a_head(bytes: &[u8]) -> bool {
    bytes.ends_with(b"\n\r\n")
}

/// Whether a line might begin with `Transfer-Encoding`.
fn may_name_encoding(bytes: &[u8]) -> bool {
    let mut dashes = memchr::memchr_iter(b'-', bytes);
    let before = |at: usize| bytes.get(at.checked_sub("transfer".len())?..at);
    dashes.any(|at| before(at).is_some_and(|name| name.eq_ignore_ascii_case(b"transfer")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n";
    const OTHER: &str =
        "GET / HTTP/1.1\r\nX: Content-Length: 1\r\ntransfer-encoding: chunked\r\n\r\n";
    const BOTH: &str = "GET / HTTP/1.1\nTRANSFER-ENCODING: chunked\nA: b\ncontent-length:1\n\n";

    #[test]
    fn feed_reports_both_fields_only_in_one_head() {
        for (text, expected) in [
            ("", false),
            (ONE, false),
            (OTHER, false),
            (&[ONE, OTHER].concat(), false),
            (BOTH, true),
            (&[ONE, BOTH, ONE].concat(), true),
        ] {
            assert_eq!(Scan::default().feed(text.as_bytes()), expected, "{text}");
            for cut in 0..text.len() {
                let mut scan = Scan::default();
                let (head, tail) = text.as_bytes().split_at(cut);
                let both = [head, tail].map(|part| scan.feed(part)).contains(&true);
                assert_eq!(both, expected, "{text} cut at {cut}");
            }
            let mut scan = Scan::default();
            let in_pieces = text.bytes().filter(|b| scan.feed(&[*b])).count() > 0;
            assert_eq!(in_pieces, expected, "{text} byte by byte");
        }
    }

    proptest! {
        #[test]
        fn feed_returns_the_same_result_on_its_fast_path(
            before in "(a|\r?\n){0,2}",
            text in "([Tt]ransfer|-[Ee]ncoding:| |content-length:|-|a|\r\n|\r\n\r\n|\n){0,16}(\r\n\r\n)?",
        ) {
            let (mut fast, mut slow) = (Scan::default(), Scan::default());
            fast.feed_lines(before.as_bytes());
            slow.feed_lines(before.as_bytes());
            prop_assert_eq!(fast.feed(text.as_bytes()), slow.feed_lines(text.as_bytes()));
            prop_assert_eq!(fast, slow);
        }
    }

    #[test]
    fn is_partial_from_the_first_byte_to_the_empty_line() {
        for text in [ONE, OTHER, BOTH] {
            let mut scan = Scan::default();
            assert!(!scan.is_partial());
            for (at, byte) in text.bytes().enumerate() {
                scan.feed(&[byte]);
                assert_eq!(scan.is_partial(), at + 1 < text.len(), "{text} at {at}");
            }
            scan.feed(&[text, "G"].concat().into_bytes());
            assert!(scan.is_partial());
        }
    }
}
