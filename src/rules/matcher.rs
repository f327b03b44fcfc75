//! Whether one pattern matches a pathname, and if not, where it stops.

use super::locale::Locales;
use super::pathname::{PathSegment, Pathname};
use super::pattern::Pattern;
use super::template::{Placeholder, Segment, Source};

/// Why a rule does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The pathname has too few or too many segments.
    SegmentCount,
    /// Static text differs.
    StaticMismatch,
    /// The segment is not a locale that the rule takes.
    UnknownLocale,
    /// The segment may not be the value of a placeholder, or never matches anything.
    Constraint,
}

impl Reason {
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
    pub reason: Reason,
    /// The segment of the pathname.
    pub segment: Option<usize>,
}

/// Placeholder as written, and the decoded text; a catch-all's segments joined by `/`.
pub(super) type Params<'a> = Vec<(&'a str, String)>;

/// Matches one pattern, from left to right.
pub(super) fn match_pattern<'p>(
    pattern: &'p Pattern,
    pathname: &Pathname<'_>,
    locales: &Locales,
) -> Result<Params<'p>, Mismatch> {
    let (wanted, given) = (&pattern.segments, pathname.segments());
    let catch_all = matches!(wanted.last(), Some(Segment::CatchAll(_)));
    if given.len() < wanted.len() || (given.len() > wanted.len() && !catch_all) {
        return Err(Mismatch { reason: Reason::SegmentCount, segment: None });
    }
    let mut params = Vec::new();
    for (at, segment) in wanted.iter().enumerate() {
        let value = match_segment(pattern, at, &given[at..], locales)
            .map_err(|(on, reason)| Mismatch { reason, segment: Some(at + on) })?;
        params.extend(segment.placeholder().zip(value).map(|(p, value)| (p.name.as_str(), value)));
    }
    Ok(params)
}

/// The value that the head of `given` gives the segment at `at`, or how far on and why it does
/// not match.
fn match_segment(
    pattern: &Pattern,
    at: usize,
    given: &[PathSegment<'_>],
    locales: &Locales,
) -> Result<Option<String>, (usize, Reason)> {
    let PathSegment::Text(text) = &given[0] else {
        return Err((0, Reason::Constraint));
    };
    let value = match &pattern.segments[at] {
        Segment::Static(wanted) if wanted == text => return Ok(None),
        Segment::Static(_) => return Err((0, Reason::StaticMismatch)),
        Segment::CatchAll(_) => catch_all(given).map_err(|on| (on, Reason::Constraint))?,
        Segment::Placeholder { prefix, suffix, .. } => {
            let inner = text.strip_prefix(prefix.as_str());
            let inner = inner.and_then(|inner| inner.strip_suffix(suffix.as_str()));
            inner.ok_or((0, Reason::StaticMismatch))?.to_owned()
        }
        // A pattern has its optional segments as plain ones, or not at all.
        Segment::Optional(_) => text.to_string(),
    };
    if pattern.bare_at == Some(at) && locales.get(text).is_some() {
        return Err((0, Reason::Constraint));
    }
    let placeholder = pattern.segments[at].placeholder();
    placeholder.map_or(Ok(()), |p| accept(pattern, p, &value, locales)).map_err(|r| (0, r))?;
    Ok(Some(value))
}

fn accept(
    pattern: &Pattern,
    placeholder: &Placeholder,
    value: &str,
    locales: &Locales,
) -> Result<(), Reason> {
    let taken = placeholder.constraint.as_ref().is_none_or(|constraint| constraint.takes(value));
    match placeholder.source {
        Source::Locale if !pattern.accepts.takes(value, locales) => Err(Reason::UnknownLocale),
        // Between prefix and suffix there may be nothing; no document has such a URL.
        _ if value.is_empty() || !taken => Err(Reason::Constraint),
        Source::Date(_, part) if !part.is_valid(value) => Err(Reason::Constraint),
        _ => Ok(()),
    }
}

fn catch_all(given: &[PathSegment<'_>]) -> Result<String, usize> {
    let mut texts = Vec::with_capacity(given.len());
    for (at, segment) in given.iter().enumerate() {
        match segment {
            PathSegment::Text(text) => texts.push(text.as_ref()),
            PathSegment::Never(_) => return Err(at),
        }
    }
    Ok(texts.join("/"))
}
