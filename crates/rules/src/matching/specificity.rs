//! Which of two patterns comes first in the order of evaluation (D8).

use crate::template::Segment;

/// How specific one segment is. The smaller value is evaluated first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Specificity {
    /// Static text.
    Static,
    /// A placeholder with text around it: `usize::MAX` minus the characters of that text, so that
    /// more text comes first.
    Mixed(usize),
    /// A placeholder alone.
    Plain,
    /// A catch-all.
    CatchAll,
}

/// The specificity of each segment of a pattern. `Vec`s compare as D8 wants: from the left, and
/// where one ends first, it comes first.
pub(crate) fn specificity(segments: &[Segment]) -> Vec<Specificity> {
    segments.iter().map(of_segment).collect()
}

/// Whether two patterns have equal precedence, so that only the order of the settings decides
/// between them.
pub(crate) fn same_shape(one: &[Segment], other: &[Segment]) -> bool {
    one.iter().map(of_segment).eq(other.iter().map(of_segment))
}

fn of_segment(segment: &Segment) -> Specificity {
    match segment {
        Segment::Static(_) => Specificity::Static,
        Segment::CatchAll(_) => Specificity::CatchAll,
        Segment::Optional(_) => Specificity::Plain,
        Segment::Placeholder { prefix, suffix, .. } => {
            match prefix.chars().count() + suffix.chars().count() {
                0 => Specificity::Plain,
                text => Specificity::Mixed(usize::MAX - text),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Template;

    fn specificity_of(text: &str) -> Vec<Specificity> {
        specificity(Template::parse(text).unwrap().segments())
    }

    #[test]
    fn templates_are_ordered_by_the_specificity_of_their_segments() {
        let in_order = [
            "/",
            "/a",
            "/a/b",
            "/a/{slug}.html",
            "/a/{slug}.x",
            "/a/é{slug}",
            "/a/{slug}",
            "/a/{slug}/b",
            "/a/{*path}",
            "/x{slug}",
            "/{locale}",
            "/{locale}/a",
            "/{locale}/{slug}",
            "/{*path}",
        ];
        for pair in in_order.windows(2) {
            assert!(specificity_of(pair[0]) < specificity_of(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn templates_of_one_shape_have_equal_specificity() {
        for (one, other) in [("/a/{b}", "/b/{a}"), ("/a{x}", "/{x}b"), ("/{locale}", "/{slug}")] {
            assert_eq!(specificity_of(one), specificity_of(other));
        }
    }
}
