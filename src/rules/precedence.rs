//! Which of two rules comes first (D8).

use super::template::{Segment, Template};

/// How specific one segment is; the smaller, the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
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

/// The ranks of a template's segments. Compared from the left; where one template ends first,
/// it comes first, which is how slices compare.
pub(super) fn ranks(template: &Template) -> Vec<Rank> {
    template.segments().iter().map(rank).collect()
}

fn rank(segment: &Segment) -> Rank {
    match segment {
        Segment::Static(_) => Rank::Static,
        Segment::CatchAll(_) => Rank::CatchAll,
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
        let ranks = in_order.map(|text| ranks(&Template::parse(text).unwrap()));
        for (at, pair) in ranks.windows(2).enumerate() {
            assert!(pair[0] < pair[1], "{} and {}", in_order[at], in_order[at + 1]);
        }
    }

    #[test]
    fn templates_of_one_shape_are_equal() {
        for (one, other) in [("/a/{b}", "/b/{a}"), ("/a{x}", "/{x}b"), ("/{locale}", "/{slug}")] {
            let [one, other] = [one, other].map(|text| ranks(&Template::parse(text).unwrap()));
            assert_eq!(one, other);
        }
    }
}
