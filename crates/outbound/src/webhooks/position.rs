//! How far the changes of a site have been sent to a target.

use xxhash_rust::xxh3::xxh3_128;

use super::target::Target;
use frontend_map_catalog::changes::log::Cursor;

/// The place of a target in the change log of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The place after the last change that the target has accepted.
    pub(super) cursor: Cursor,
    /// The sequence number of the last change of the request that is retried.
    pub(super) end: Option<u64>,
    /// When the request that is retried failed first, or a reset was first sent, in milliseconds since
    /// 1970.
    pub(super) failing_since: Option<i64>,
    /// Whether a reset is to be sent, because changes are missing.
    pub(super) needs_reset: bool,
}

/// The key of the position of a target in the log of a site. It has no part of the URL, which may be
/// secret.
pub(super) fn key(target: &Target, site: &str) -> String {
    format!("{} {site}", target_id(target))
}

/// The id of a target, which does not show its URL.
pub(super) fn target_id(target: &Target) -> String {
    format!("{:032x}", xxh3_128(target.url.as_str().as_bytes()))
}

impl Position {
    pub(super) fn at(cursor: Cursor) -> Self {
        Self { cursor, end: None, failing_since: None, needs_reset: false }
    }

    /// As the store has it.
    pub(super) fn text(&self) -> String {
        let or_none = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        let end = or_none(self.end.map(|end| end.to_string()));
        let since = or_none(self.failing_since.map(|since| since.to_string()));
        format!("{} {end} {since} {}", self.cursor, u8::from(self.needs_reset))
    }

    /// Reads what [`Position::text`] has written.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let cursor = Cursor::parse(parts.next()?)?;
        let (end, since) = (parts.next()?, parts.next()?);
        let end = if end == "-" { None } else { Some(end.parse().ok()?) };
        let failing_since = if since == "-" { None } else { Some(since.parse().ok()?) };
        Some(Self { cursor, end, failing_since, needs_reset: parts.next()? == "1" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_read_as_it_was_written() {
        let cursor = Cursor { log: 7, sequence: 12 };
        for position in [
            Position::at(cursor),
            Position { cursor, end: Some(15), failing_since: Some(-3), needs_reset: true },
        ] {
            assert_eq!(Position::parse(&position.text()), Some(position));
        }
        assert_eq!(Position::parse("0 - - 0"), None);
        assert_eq!(Position::parse(""), None);
    }
}
