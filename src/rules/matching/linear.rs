//! Whether one pattern matches a pathname, and if not, where it stops.

#[cfg(test)]
mod tests;

use super::pattern::Pattern;
use crate::rules::locale::Locales;
use crate::rules::pathname::{PathSegment, Pathname};
use crate::rules::template::{Placeholder, Segment, Source};

/// Why a rule does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchReason {
    /// The pathname has too few or too many segments.
    SegmentCount,
    /// Static text differs.
    StaticMismatch,
    /// The segment is not a locale that the rule takes.
    UnknownLocale,
    /// The segment may not be the value of a placeholder, or never matches anything.
    Constraint,
}

impl MismatchReason {
    /// The name in `details.candidates` (D10).
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SegmentCount => "segment_count",
            Self::StaticMismatch => "static_mismatch",
            Self::UnknownLocale => "unknown_locale",
            Self::Constraint => "constraint",
        }
    }
}

/// Why a rule does not match, and the segment to blame where there is one, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The first reason, from the left.
    pub reason: MismatchReason,
    /// The segment of the pathname.
    pub segment: Option<usize>,
}

/// Matches one pattern, from left to right.
pub(in crate::rules) fn match_pattern(
    pattern: &Pattern,
    pathname: &Pathname<'_>,
    locales: &Locales,
) -> Result<(), Mismatch> {
    let (wanted, given) = (&pattern.segments, pathname.count());
    let catch_all = matches!(wanted.last(), Some(Segment::CatchAll(_)));
    if given < wanted.len() || (given > wanted.len() && !catch_all) {
        return Err(Mismatch { reason: MismatchReason::SegmentCount, segment: None });
    }
    for (at, found) in pathname.segments().enumerate().take(wanted.len()) {
        match_segment(pattern, at, found, pathname, locales)
            .map_err(|(on, reason)| Mismatch { reason, segment: Some(at + on) })?;
    }
    Ok(())
}

/// Whether the segment at `at` is as wanted, or how far on and why it is not.
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
        if let Some(on) = rest.position(|found| matches!(found, PathSegment::Unmatchable(_))) {
            return Err((on, MismatchReason::Constraint));
        }
        pathname.text(at, pathname.count())
    } else {
        text
    };
    match_text(pattern, at, text, locales).map_err(|reason| (0, reason))
}

/// Whether the segment at `at` takes this text; a catch-all's segments are joined by `/`.
pub(in crate::rules) fn takes_text(
    pattern: &Pattern,
    at: usize,
    text: &str,
    locales: &Locales,
) -> bool {
    match_text(pattern, at, text, locales).is_ok()
}

fn match_text(
    pattern: &Pattern,
    at: usize,
    text: &str,
    locales: &Locales,
) -> Result<(), MismatchReason> {
    let (value, placeholder) = match &pattern.segments[at] {
        Segment::Static(wanted) if wanted == text => return Ok(()),
        Segment::Static(_) => return Err(MismatchReason::StaticMismatch),
        Segment::Placeholder { prefix, placeholder, suffix } => {
            let inner = text.strip_prefix(prefix.as_str());
            let inner = inner.and_then(|inner| inner.strip_suffix(suffix.as_str()));
            (inner.ok_or(MismatchReason::StaticMismatch)?, placeholder)
        }
        Segment::Optional(placeholder) | Segment::CatchAll(placeholder) => (text, placeholder),
    };
    let first = text.split('/').next().unwrap_or_default();
    if pattern.bare_at == Some(at) && locales.get(first).is_some() {
        return Err(MismatchReason::Constraint);
    }
    accept(pattern, placeholder, value, locales)
}

fn accept(
    pattern: &Pattern,
    placeholder: &Placeholder,
    value: &str,
    locales: &Locales,
) -> Result<(), MismatchReason> {
    let taken = placeholder.constraint.as_ref().is_none_or(|constraint| constraint.takes(value));
    match placeholder.source {
        Source::Locale if !pattern.accepts.takes(value, locales) => {
            Err(MismatchReason::UnknownLocale)
        }
        // Between prefix and suffix there may be nothing; no document has such a URL.
        _ if value.is_empty() || !taken => Err(MismatchReason::Constraint),
        Source::Date(_, part) if !part.is_valid(value) => Err(MismatchReason::Constraint),
        _ => Ok(()),
    }
}
