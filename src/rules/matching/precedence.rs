//! Which of two patterns comes first (D8).

use crate::rules::template::Segment;

/// How specific one segment is; the smaller, the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rules) enum Rank {
    /// Static text.
    Static,
    /// Text with a placeholder inside; holds how many characters of text are missing from the
    /// most there can be, so that more text comes first.
    Mixed(usize),
    /// A placeholder alone.
    Plain,
    /// A catch-all.
    CatchAll,
}

/// The ranks of a pattern's segments. Compared from the left; where one ends first, it comes
/// first, which is how slices compare.
pub(in crate::rules) fn ranks(segments: &[Segment]) -> Vec<Rank> {
    segments.iter().map(rank).collect()
}

/// Whether two patterns come in no order but that of the settings.
pub(super) fn same_shape(one: &[Segment], other: &[Segment]) -> bool {
    one.iter().map(rank).eq(other.iter().map(rank))
}

fn rank(segment: &Segment) -> Rank {
    match segment {
        Segment::Static(_) => Rank::Static,
        Segment::CatchAll(_) => Rank::CatchAll,
        Segment::Optional(_) => Rank::Plain,
        Segment::Placeholder { prefix, suffix, .. } => {
            match prefix.chars().count() + suffix.chars().count() {
                0 => Rank::Plain,
                text => Rank::Mixed(usize::MAX - text),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Template;

    fn ranks_of(text: &str) -> Vec<Rank> {
        ranks(Template::parse(text).unwrap().segments())
    }

    #[test]
    fn each_template_comes_before_the_next() {
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
            assert!(ranks_of(pair[0]) < ranks_of(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn templates_of_one_shape_are_equal() {
        for (one, other) in [("/a/{b}", "/b/{a}"), ("/a{x}", "/{x}b"), ("/{locale}", "/{slug}")] {
            assert_eq!(ranks_of(one), ranks_of(other));
        }
    }
}
