//! Whether the paths that the service builds end with a slash. A requested path is matched with and
//! without it (`pathname`).

use crate::template::Segment;

/// Whether the paths of a site end with a slash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrailingSlash {
    /// Only `/` does.
    #[default]
    Never,
    /// All do, except those of files.
    Always,
}

impl TrailingSlash {
    /// Whether a path whose last segment is built from this one ends with a slash.
    ///
    /// The templates decide what is a file, not the values: with static text at its end that has a
    /// dot, such as `{slug}.html`, each path of a template is one.
    pub(super) fn follows(self, last: &Segment) -> bool {
        let static_end = match last {
            Segment::Static(text) => text,
            Segment::Placeholder { suffix, .. } => suffix,
            Segment::Optional(_) | Segment::CatchAll(_) => "",
        };
        self == Self::Always && !static_end.contains('.')
    }
}

#[cfg(test)]
mod tests {
    use super::TrailingSlash;
    use crate::fixtures::{Holds, locale, set};
    use crate::{LocalePrefix, without_trailing_slash};

    #[test]
    fn path_ends_with_a_slash_unless_static_text_with_a_dot_ends_it() {
        let fields = [("slug", "a.b"), ("path", "a/b.html"), ("opt", "v1.2")];
        for (template, expected) in [
            ("/", "/"),
            ("/{locale}", "/"),
            ("/about", "/about/"),
            ("/feed.xml", "/feed.xml"),
            ("/v1.2/x", "/v1.2/x/"),
            ("/{slug}", "/a.b/"),
            ("/{slug}.html", "/a.b.html"),
            ("/{slug}.", "/a.b."),
            ("/{slug}-x", "/a.b-x/"),
            ("/v1.{slug}", "/v1.a.b/"),
            ("/{*path}", "/a/b.html/"),
            ("/{opt?}", "/v1.2/"),
            ("/feed.xml/{none?}", "/feed.xml"),
            ("/feed.xml/{locale}", "/feed.xml"),
            ("/{slug}/{none?}", "/a.b/"),
            ("/{none?}", "/"),
        ] {
            for (slash, expected) in [
                (TrailingSlash::Always, expected),
                (TrailingSlash::Never, without_trailing_slash(expected)),
            ] {
                let rules =
                    set(LocalePrefix::ExceptDefault, &[template]).with_trailing_slash(slash);
                let (holds, mut path) = (Holds::texts("en", &fields), String::new());
                let built = rules.write_path(&rules.rules()[0], &locale("en"), &holds, &mut path);
                assert_eq!(
                    (built.is_ok(), path.as_str()),
                    (true, expected),
                    "{template} {slash:?}"
                );
            }
        }
    }
}
