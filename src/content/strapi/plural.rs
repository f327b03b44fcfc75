//! The plural that Strapi's generator would suggest for an English type name.

/// Plurals that no ending tells. The last word of a name decides: `sales-person`.
const IRREGULAR: [(&str, &str); 9] = [
    ("person", "people"),
    ("child", "children"),
    ("man", "men"),
    ("woman", "women"),
    ("foot", "feet"),
    ("tooth", "teeth"),
    ("mouse", "mice"),
    ("leaf", "leaves"),
    ("quiz", "quizzes"),
];

/// Words in `o` that take `es`; most (photo, video, logo) take `s`.
const O_TAKES_ES: [&str; 5] = ["hero", "potato", "tomato", "echo", "veto"];

/// The plural of a kebab-case name; good for most names, and a setting helps the others.
pub(super) fn plural(name: &str) -> String {
    let at = name.rfind(['-', '_']).map_or(0, |at| at + 1);
    let (before, word) = name.split_at(at);
    let irregular = IRREGULAR.iter().find(|(singular, _)| *singular == word);
    let word = irregular.map_or_else(|| regular(word), |(_, plural)| (*plural).to_owned());
    format!("{before}{word}")
}

fn regular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("sis") {
        return format!("{stem}ses");
    }
    if let Some(stem) = word.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'i', 'o', 'u'])
    {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end));
    if hisses || O_TAKES_ES.contains(&word) { format!("{word}es") } else { format!("{word}s") }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plurals_of_usual_type_names() {
        for (name, expected) in [
            ("article", "articles"),
            ("category", "categories"),
            ("day", "days"),
            ("page", "pages"),
            ("press-release", "press-releases"),
            ("address", "addresses"),
            ("box", "boxes"),
            ("branch", "branches"),
            ("wish", "wishes"),
            ("analysis", "analyses"),
            ("photo", "photos"),
            ("hero", "heroes"),
            ("person", "people"),
            ("sales-person", "sales-people"),
            ("team_child", "team_children"),
            ("quiz", "quizzes"),
            ("y", "ies"),
        ] {
            assert_eq!(plural(name), expected);
        }
    }
}
