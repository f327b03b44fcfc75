//! Pathnames: their segments and their normalized form (D7).

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::encode::{encode, is_unreserved, percent_decode};

/// The segments that a pathname stores without an allocation.
const INLINE_SEGMENTS: usize = 8;

/// What is wrong with a pathname that does not start with a slash (D4).
pub const PATHNAME_NEEDS_SLASH: &str = "`pathname` must start with a slash";

/// A pathname, split into segments, without query and fragment, without empty segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pathname<'a> {
    /// For each segment a slash and its decoded text. Decoded text contains no slash, so the value of
    /// a catch-all is a slice of this.
    text: Cow<'a, str>,
    spans: SmallVec<[Span; INLINE_SEGMENTS]>,
    /// Whether a segment is unmatchable: then no rule matches.
    unmatchable: bool,
}

/// The range of a segment in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    /// Whether no rule matches the segment. Its text is then as written.
    unmatchable: bool,
}

/// One segment of a pathname.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSegment<'p> {
    /// The text, percent-decoded once.
    Text(&'p str),
    /// A segment that no rule matches, as written: a dot segment, malformed percent-encoding,
    /// invalid UTF-8, or decoded text with `/`, `\` or a control character.
    Unmatchable(&'p str),
}

impl<'a> Pathname<'a> {
    /// Parses a pathname. Every text is a pathname.
    pub fn parse(pathname: &'a str) -> Self {
        Self::as_written(pathname).unwrap_or_else(|| Self::decoded(pathname))
    }

    /// The fast path, for pathnames that are their own decoding: one pass, no copy. `None` for the
    /// others.
    fn as_written(pathname: &'a str) -> Option<Self> {
        let bytes = pathname.as_bytes();
        let mut spans = SmallVec::new();
        let mut start = 1;
        let mut end = bytes.len();
        if bytes.first() != Some(&b'/') {
            return None;
        }
        'text: for (nth, chunk) in bytes.chunks(8).enumerate() {
            let mut word = [b'a'; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mut flags = flags(u64::from_le_bytes(word));
            while flags != 0 {
                let at = nth * 8 + flags.trailing_zeros() as usize / 8;
                flags &= flags - 1;
                match bytes.get(at).map_or(Kind::Plain, |byte| KINDS[usize::from(*byte)]) {
                    Kind::Slash if at > 0 => {
                        spans.push(plain_span(bytes, start, at)?);
                        start = at + 1;
                    }
                    Kind::Plain | Kind::Slash => {}
                    Kind::End => {
                        end = at;
                        break 'text;
                    }
                    Kind::Other => return None,
                }
            }
        }
        if start < end {
            spans.push(plain_span(bytes, start, end)?);
        }
        let end = spans.last().map_or(0, |span: &Span| span.end);
        Some(Self { text: Cow::Borrowed(&pathname[..end]), spans, unmatchable: false })
    }

    fn decoded(pathname: &str) -> Self {
        let end = pathname.find(['?', '#']).unwrap_or(pathname.len());
        let mut text = String::with_capacity(end + 1);
        let mut spans = SmallVec::new();
        for written in pathname[..end].split('/').filter(|segment| !segment.is_empty()) {
            text.push('/');
            let (start, decoded) = (text.len(), decode(written));
            text.push_str(decoded.as_deref().unwrap_or(written));
            spans.push(Span { start, end: text.len(), unmatchable: decoded.is_none() });
        }
        let unmatchable = spans.iter().any(|span: &Span| span.unmatchable);
        Self { text: Cow::Owned(text), spans, unmatchable }
    }

    /// The number of segments, 0 for `/`.
    pub fn count(&self) -> usize {
        self.spans.len()
    }

    /// The segments from left to right.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = PathSegment<'_>> {
        self.spans.iter().map(|span| {
            let text = &self.text[span.start..span.end];
            if span.unmatchable { PathSegment::Unmatchable(text) } else { PathSegment::Text(text) }
        })
    }

    /// Whether there is a segment that no rule matches.
    pub(super) fn is_unmatchable(&self) -> bool {
        self.unmatchable
    }

    /// The bytes of one segment's text.
    pub(super) fn bytes(&self, at: usize) -> &[u8] {
        let span = &self.spans[at];
        &self.text.as_bytes()[span.start..span.end]
    }

    /// The text of the segments from `from` up to `to`, at least one, joined by `/`.
    pub(super) fn text(&self, from: usize, to: usize) -> &str {
        &self.text[self.spans[from].start..self.spans[to - 1].end]
    }

    /// The normalized form: each segment percent-encoded as in a URL that the service builds.
    ///
    /// Idempotent. An unmatchable segment stays as written.
    pub fn normalized(&self) -> Cow<'a, str> {
        if self.spans.is_empty() {
            return Cow::Borrowed("/");
        }
        // Text that is its own decoding is nearly always its own encoding, too.
        if let Cow::Borrowed(text) = self.text
            && self.spans.iter().all(|span| is_unreserved(&text[span.start..span.end]))
        {
            return Cow::Borrowed(text);
        }
        let buffer = String::with_capacity(self.text.len());
        Cow::Owned(self.segments().fold(buffer, |path, segment| match segment {
            PathSegment::Text(text) => path + "/" + &encode(text),
            PathSegment::Unmatchable(written) => path + "/" + written,
        }))
    }
}

/// The normalized form of a path that the service has built (D7): only `/` ends with a slash.
pub fn without_trailing_slash(built: &str) -> &str {
    match built.strip_suffix('/') {
        None | Some("") => built,
        Some(path) => path,
    }
}

/// What a byte of a pathname means to the fast path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A byte of a segment's text.
    Plain,
    /// The end of a segment.
    Slash,
    /// The end of the path.
    End,
    /// Anything that needs decoding or a closer check.
    Other,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        kinds[byte as usize] = match byte {
            b'/' => Kind::Slash,
            b'?' | b'#' => Kind::End,
            b'%' | b'\\' => Kind::Other,
            _ => Kind::Plain,
        };
        byte += 1;
    }
    kinds
};

/// Sets the highest bit of each byte that may not be plain: below `-`, above `~`, or one of `/?\`.
///
/// Eight bytes at a time (Warren, Hacker's Delight, 6-1). A borrow may flag one byte too many, never
/// one too few.
fn flags(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, byte: u8| word.wrapping_sub(EACH * u64::from(byte)) & !word;
    let equal = |byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    let odd = below(word, b'-') | equal(b'/') | equal(b'?') | equal(b'\\') | equal(0x7f) | word;
    odd & (EACH << 7)
}

/// A segment that is its own decoding; `None` for an empty one and for dot segments.
fn plain_span(bytes: &[u8], start: usize, end: usize) -> Option<Span> {
    let odd = matches!(&bytes[start..end], b"" | b"." | b"..");
    (!odd).then_some(Span { start, end, unmatchable: false })
}

fn decode(written: &str) -> Option<Cow<'_, str>> {
    let text = match percent_decode(written)? {
        Cow::Borrowed(_) => Cow::Borrowed(written),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
    };
    let unsafe_char = |c: char| c == '/' || c == '\\' || c.is_control();
    let unmatchable = text == "." || text == ".." || text.contains(unsafe_char);
    (!unmatchable).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normalized_pathname_has_encoded_segments_without_empty_ones() {
        for (pathname, expected) in [
            ("/", "/"),
            ("//", "/"),
            ("/?x", "/"),
            ("/en/articles/hello/", "/en/articles/hello"),
            ("/en//a///b//", "/en/a/b"),
            ("/en/a?b/c", "/en/a"),
            ("/en/a#b", "/en/a"),
            ("/caf%c3%a9/é", "/caf%C3%A9/%C3%A9"),
            ("/a+b/%2B", "/a%2Bb/%2B"),
            ("/%41%2d", "/A-"),
            ("/a%3Fb", "/a%3Fb"),
            ("/%25252e", "/%25252e"),
            ("/a/../b/%2E%2e/.", "/a/../b/%2E%2e/."),
            ("/a%2fb/x%5Cy/%00/%ff/%zz/%", "/a%2fb/x%5Cy/%00/%ff/%zz/%"),
            ("/\\x", "/\\x"),
            ("", "/"),
            ("a/b", "/a/b"),
            ("/a/.?x", "/a/."),
            ("/a/..b/...", "/a/..b/..."),
            ("/a\u{7f}/\u{85}", "/a\u{7f}/\u{85}"),
        ] {
            assert_eq!(Pathname::parse(pathname).normalized(), expected, "{pathname}");
        }
    }

    #[test]
    fn pathname_that_is_its_own_decoding_is_not_copied() {
        for (pathname, borrowed) in [
            ("/", true),
            ("/en/articles/hello-world", true),
            ("/en/v1.2~beta_3/", true),
            ("/a+b,c=d:e@f!*'()/(x)", true),
            ("/en/articles/hello-world-and-more?page=2&x=%20", true),
            ("/a#b", true),
            ("/caf%C3%A9", false),
            ("/é", false),
            ("/a//b", false),
            ("/a/..", false),
            ("a", false),
        ] {
            let text = Pathname::parse(pathname).text;
            assert_eq!(matches!(text, Cow::Borrowed(_)), borrowed, "{pathname}");
        }
    }

    proptest! {
        #[test]
        fn fast_path_agrees_with_decoding(pathname in "(/([a-z .?#]|%2e){0,3}){0,12}") {
            if let Some(pathname_as_written) = Pathname::as_written(&pathname) {
                prop_assert_eq!(pathname_as_written, Pathname::decoded(&pathname));
            }
        }

        #[test]
        fn normalization_is_idempotent(pathname in "(/([a-z.%?#\\\\é +]|%2[eEfF]|%[0-9a-f]{2}){0,6}){0,6}|\\PC*") {
            let once = Pathname::parse(&pathname).normalized();
            prop_assert_eq!(&Pathname::parse(&once).normalized(), &once);
        }
    }
}
