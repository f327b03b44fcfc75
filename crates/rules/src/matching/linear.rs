//! Matches one pattern against a pathname, segment by segment, and says where it does not match.
//!
//! This defines what a match is; the trie finds the first pattern that matches.

#[cfg(test)]
mod tests;

use strum::{IntoStaticStr, VariantArray};

use super::pattern::Pattern;
use crate::locale::Locales;
use crate::pathname::{PathSegment, Pathname};
use crate::template::{Placeholder, Segment, Source};

/// Why a rule does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum MismatchReason {
    /// The pathname has too few or too many segments.
    SegmentCount,
    /// Static text differs.
    StaticMismatch,
    /// The segment is not a locale that the rule accepts.
    UnknownLocale,
    /// The segment cannot be the value of the placeholder, or matches no rule at all (D7).
    Constraint,
}

impl MismatchReason {
    /// All of them.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name in `details.candidates` (D10).
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Where and why a rule does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The first reason, from the left.
    pub reason: MismatchReason,
    /// The segment that does not match, counted from 0; `None` for [`MismatchReason::SegmentCount`].
    pub segment: Option<usize>,
}

/// Whether a pattern matches a pathname; else the leftmost mismatch.
pub(crate) fn match_pattern(
    pattern: &Pattern,
    pathname: &Pathname<'_>,
    locales: &Locales,
) -> Result<(), Mismatch> {
    let (expected, count) = (&pattern.segments, pathname.count());
    let catch_all = matches!(expected.last(), Some(Segment::CatchAll(_)));
    if count < expected.len() || (count > expected.len() && !catch_all) {
        return Err(Mismatch { reason: MismatchReason::SegmentCount, segment: None });
    }
    for (at, found) in pathname.segments().enumerate().take(expected.len()) {
        match_segment(pattern, at, found, pathname, locales)
            .map_err(|(offset, reason)| Mismatch { reason, segment: Some(at + offset) })?;
    }
    Ok(())
}

/// Whether the pattern's segment at `at` matches. An error has the number of segments from `at` to
/// the one that does not match, and the reason.
pub(super) fn match_segment(
    pattern: &Pattern,
    at: usize,
    found: PathSegment<'_>,
    pathname: &Pathname<'_>,
    locales: &Locales,
) -> Result<(), (usize, MismatchReason)> {
    let PathSegment::Text(text) = found else {
        return Err((0, MismatchReason::Constraint));
    };
    let text = if let Segment::CatchAll(_) = pattern.segments[at] {
        let mut rest = pathname.segments().skip(at);
        if let Some(offset) = rest.position(|found| matches!(found, PathSegment::Unmatchable(_))) {
            return Err((offset, MismatchReason::Constraint));
        }
        pathname.text(at, pathname.count())
    } else {
        text
    };
    match_text(pattern, at, text, locales).map_err(|reason| (0, reason))
}

/// Whether the pattern's segment at `at` matches this text. The segments of a catch-all are joined
/// by `/`.
pub(crate) fn matches_text(pattern: &Pattern, at: usize, text: &str, locales: &Locales) -> bool {
    match_text(pattern, at, text, locales).is_ok()
}

fn match_text(
    pattern: &Pattern,
    at: usize,
    text: &str,
    locales: &Locales,
) -> Result<(), MismatchReason> {
    let (value, placeholder) = match &pattern.segments[at] {
        Segment::Static(expected) if expected == text => return Ok(()),
        Segment::Static(_) => return Err(MismatchReason::StaticMismatch),
        Segment::Placeholder { prefix, placeholder, suffix } => {
            let inner = text.strip_prefix(prefix.as_str());
            let inner = inner.and_then(|inner| inner.strip_suffix(suffix.as_str()));
            (inner.ok_or(MismatchReason::StaticMismatch)?, placeholder)
        }
        Segment::Optional(placeholder) | Segment::CatchAll(placeholder) => (text, placeholder),
    };
    let first = text.split('/').next().unwrap_or_default();
    if pattern.locale_omitted_at == Some(at) && locales.of_segment(first).is_some() {
        return Err(MismatchReason::Constraint);
    }
    check_value(pattern, placeholder, value, locales)
}

fn check_value(
    pattern: &Pattern,
    placeholder: &Placeholder,
    value: &str,
    locales: &Locales,
) -> Result<(), MismatchReason> {
    let allowed = placeholder.constraint.as_ref().is_none_or(|constraint| constraint.allows(value));
    match placeholder.source {
        Source::Locale if !pattern.accepts.accepts(value, locales) => {
            Err(MismatchReason::UnknownLocale)
        }
        // The text between prefix and suffix may be empty; no document has such a URL.
        _ if value.is_empty() || !allowed => Err(MismatchReason::Constraint),
        Source::Date(_, part) if !part.is_valid(value) => Err(MismatchReason::Constraint),
        _ => Ok(()),
    }
}
