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

#[cfg(test)]
mod tests {
    use super::plural;

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
