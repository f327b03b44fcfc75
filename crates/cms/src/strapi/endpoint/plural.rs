//! The regular English plural of a content type's name, for the guess of its endpoint.

/// The plural of a kebab-case name: `-ies` for a consonant and `-y`, `-es` after `s`, `x`, `z`, `ch`
/// and `sh`, else `-s`. Strapi's generator knows irregular plurals as well; the endpoint of such a
/// type is read from its schema or configured.
pub(super) fn plural(name: &str) -> String {
    if let Some(stem) = name.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'i', 'o', 'u'])
    {
        return format!("{stem}ies");
    }
    let takes_es = ["s", "x", "z", "ch", "sh"].iter().any(|end| name.ends_with(end));
    if takes_es { format!("{name}es") } else { format!("{name}s") }
}

/// The names of which this is the regular plural: `releases` is that of `releas` as well.
pub(super) fn singulars(name: &str) -> impl Iterator<Item = String> {
    [("ies", "y"), ("es", ""), ("s", "")].into_iter().filter_map(move |(end, singular_end)| {
        let stem = name.strip_suffix(end).filter(|stem| !stem.is_empty())?;
        Some(format!("{stem}{singular_end}")).filter(|found| plural(found) == name)
    })
}

#[cfg(test)]
mod tests {
    use super::{plural, singulars};

    #[test]
    fn singulars_are_the_names_with_this_plural() {
        for name in ["article", "category", "address", "box", "day", "press-release", "branch"] {
            assert!(singulars(&plural(name)).any(|found| found == name), "{name}");
        }
        for name in ["article", "s", "people"] {
            assert_eq!(singulars(name).next(), None, "{name}");
        }
    }

    #[test]
    fn plural_follows_the_regular_endings() {
        for (name, expected) in [
            ("article", "articles"),
            ("category", "categories"),
            ("blog-category", "blog-categories"),
            ("day", "days"),
            ("page", "pages"),
            ("press-release", "press-releases"),
            ("address", "addresses"),
            ("box", "boxes"),
            ("branch", "branches"),
            ("wish", "wishes"),
            ("photo", "photos"),
            ("y", "ies"),
        ] {
            assert_eq!(plural(name), expected);
        }
    }

    #[test]
    fn plural_of_an_irregular_noun_is_regular() {
        for (name, expected) in [("person", "persons"), ("quiz", "quizes"), ("hero", "heros")] {
            assert_eq!(plural(name), expected);
        }
    }
}
