//! A place in a change log, and its text.

use std::fmt;

/// The place after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The identity of the log.
    pub log: u64,
    /// The sequence number of the last change before it; 0 before the first change.
    pub sequence: u64,
}

/// From where changes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The oldest change that is kept.
    Oldest,
    /// The change after this place.
    Cursor(Cursor),
}

/// Digits of the identity, in hexadecimal.
const LOG_DIGITS: usize = 16;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0LOG_DIGITS$x}{:x}", self.log, self.sequence)
    }
}

impl Cursor {
    /// Reads what `Display` has written, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let (log, sequence) = text.split_at_checked(LOG_DIGITS)?;
        let read = |digits| u64::from_str_radix(digits, 16).ok();
        let cursor = Self { log: read(log)?, sequence: read(sequence)? };
        (cursor.to_string() == text).then_some(cursor)
    }
}

impl Since {
    /// `0`, or a cursor.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "0" { Some(Self::Oldest) } else { Cursor::parse(text).map(Self::Cursor) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_read_as_it_was_written_and_nothing_else_is() {
        for (log, sequence) in [(0, 0), (1, 100_000), (u64::MAX, u64::MAX)] {
            let cursor = Cursor { log, sequence };
            assert_eq!(Since::parse(&cursor.to_string()), Some(Since::Cursor(cursor)));
        }
        assert_eq!(Since::parse("0"), Some(Since::Oldest));
        for text in [
            "",
            "1",
            "00",
            "0000000000000001",
            "000000000000000100",
            "000000000000000A1",
            "+0000000000000011",
            "0000000000000001+1",
            "0000000000000001-1",
            "00000000000000011ffffffffffffffff",
            "000000000000000é1",
            "2026-01-31T12:00:00Z",
        ] {
            assert_eq!(Since::parse(text), None, "{text}");
        }
    }
}
