//! Whether one template matches a pathname, and if not, where it stops.

use super::locale::Locales;
use super::pathname::{PathSegment, Pathname};
use super::template::{Placeholder, Segment, Source, Template};

/// Why a rule does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The pathname has too few or too many segments.
    SegmentCount,
    /// Static text differs.
    StaticMismatch,
    /// The segment is not a locale of the site.
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

/// A rule's placeholders and the values that a pathname gives them, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<'a> {
    /// Placeholder as written, and the decoded text; a catch-all's segments joined by `/`.
    pub params: Vec<(&'a str, String)>,
}

impl Match<'_> {
    /// The value of `{locale}`, if the template has it.
    #[must_use]
    pub fn locale(&self) -> Option<&str> {
        self.params.iter().find(|(name, _)| *name == "locale").map(|(_, value)| value.as_str())
    }
}

/// Matches one template, from left to right.
pub(super) fn match_template<'t>(
    template: &'t Template,
    pathname: &Pathname<'_>,
    locales: &Locales,
) -> Result<Match<'t>, Mismatch> {
    let (wanted, given) = (template.segments(), pathname.segments());
    let catch_all = matches!(wanted.last(), Some(Segment::CatchAll(_)));
    if given.len() < wanted.len() || (given.len() > wanted.len() && !catch_all) {
        return Err(Mismatch { reason: Reason::SegmentCount, segment: None });
    }
    let mut params = Vec::new();
    for (at, segment) in wanted.iter().enumerate() {
        let value = match_segment(segment, &given[at..], locales)
            .map_err(|(on, reason)| Mismatch { reason, segment: Some(at + on) })?;
        params.extend(segment.placeholder().zip(value).map(|(p, value)| (p.name.as_str(), value)));
    }
    Ok(Match { params })
}

/// The value that the head of `given` gives the segment, or how far on and why it does not match.
fn match_segment(
    segment: &Segment,
    given: &[PathSegment<'_>],
    locales: &Locales,
) -> Result<Option<String>, (usize, Reason)> {
    if let Segment::CatchAll(_) = segment {
        return catch_all(given).map(Some).map_err(|on| (on, Reason::Constraint));
    }
    let PathSegment::Text(text) = &given[0] else {
        return Err((0, Reason::Constraint));
    };
    match segment {
        Segment::Static(wanted) if wanted == text => Ok(None),
        Segment::Placeholder { prefix, placeholder, suffix } => {
            let inner = text.strip_prefix(prefix.as_str());
            let inner = inner.and_then(|inner| inner.strip_suffix(suffix.as_str()));
            let value = inner.ok_or((0, Reason::StaticMismatch))?;
            accept(placeholder, value, locales).map_err(|reason| (0, reason))?;
            Ok(Some(value.to_owned()))
        }
        _ => Err((0, Reason::StaticMismatch)),
    }
}

fn accept(placeholder: &Placeholder, value: &str, locales: &Locales) -> Result<(), Reason> {
    match placeholder.source {
        Source::Locale if locales.get(value).is_none() => Err(Reason::UnknownLocale),
        // Between prefix and suffix there may be nothing; no document has such a URL.
        _ if value.is_empty() => Err(Reason::Constraint),
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
