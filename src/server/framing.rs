//! Reads along with hyper: where heads begin and end, and whether one of them has both
//! `Content-Length` and `Transfer-Encoding`.
//!
//! Such a request is 400 (D6; RFC 9112, section 6.1), but hyper takes the former out of the head
//! before anybody can see it. So the bytes are looked at on their way in, the beginning of each
//! line. Bytes of a body may look like a head; the verdict is asked for only when a request has
//! `Transfer-Encoding`, which no honest GET has.

/// The longest name that matters.
const LONGEST: usize = "transfer-encoding:".len();

/// Where the scan stands: the beginning of the current line, if it is not whole yet, and what its
/// block has had so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    line: [u8; LONGEST],
    length: usize,
    begun: bool,
    content_length: bool,
    transfer_encoding: bool,
}

impl Scan {
    /// Takes in more bytes; true when a block with both fields has ended.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        // What nearly all clients send, and of which nothing would be left to remember.
        if !self.is_inside() && are_whole_heads(bytes) && !may_name_encoding(bytes) {
            return false;
        }
        self.feed_lines(bytes)
    }

    fn feed_lines(&mut self, bytes: &[u8]) -> bool {
        let mut begin = 0;
        let mut doubled = false;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let rest = &bytes[begin..end];
            doubled |= if self.length == 0 {
                self.end_line(rest)
            } else {
                self.extend(rest);
                let (line, length) = (self.line, std::mem::take(&mut self.length));
                self.end_line(&line[..length])
            };
            begin = end + 1;
        }
        self.extend(&bytes[begin..]);
        doubled
    }

    /// Whether there are bytes behind the last block that has ended.
    pub(super) fn is_inside(&self) -> bool {
        self.begun || self.length > 0
    }

    fn extend(&mut self, part: &[u8]) {
        let room = &mut self.line[self.length..];
        let taken = part.len().min(room.len());
        room[..taken].copy_from_slice(&part[..taken]);
        self.length += taken;
    }

    /// Takes in a line, or as much of its beginning as matters.
    fn end_line(&mut self, line: &[u8]) -> bool {
        let is = |name: &str| {
            line.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
        };
        match line {
            [] | [b'\r'] => {
                let doubled = self.content_length && self.transfer_encoding;
                *self = Self::default();
                return doubled;
            }
            [b'c' | b'C', ..] => self.content_length |= is("content-length:"),
            [b't' | b'T', ..] => self.transfer_encoding |= is("transfer-encoding:"),
            _ => {}
        }
        self.begun = true;
        false
    }
}

fn are_whole_heads(bytes: &[u8]) -> bool {
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
    fn only_both_in_one_head_count() {
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
                let doubled = [head, tail].map(|part| scan.feed(part)).contains(&true);
                assert_eq!(doubled, expected, "{text} cut at {cut}");
            }
            let mut scan = Scan::default();
            let in_pieces = text.bytes().filter(|b| scan.feed(&[*b])).count() > 0;
            assert_eq!(in_pieces, expected, "{text} byte by byte");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_says_the_same(
            before in "(a|\r?\n){0,2}",
            text in "([Tt]ransfer|-[Ee]ncoding:| |content-length:|-|a|\r\n|\r\n\r\n|\n){0,16}(\r\n\r\n)?",
        ) {
            let (mut short, mut long) = (Scan::default(), Scan::default());
            short.feed_lines(before.as_bytes());
            long.feed_lines(before.as_bytes());
            prop_assert_eq!(short.feed(text.as_bytes()), long.feed_lines(text.as_bytes()));
            prop_assert_eq!(short, long);
        }
    }

    #[test]
    fn a_head_lasts_from_its_first_byte_to_the_empty_line() {
        for text in [ONE, OTHER, BOTH] {
            let mut scan = Scan::default();
            assert!(!scan.is_inside());
            for (at, byte) in text.bytes().enumerate() {
                scan.feed(&[byte]);
                assert_eq!(scan.is_inside(), at + 1 < text.len(), "{text} at {at}");
            }
            scan.feed(&[text, "G"].concat().into_bytes());
            assert!(scan.is_inside());
        }
    }
}
