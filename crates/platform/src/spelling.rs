//! Suggestions for misspelled names, for settings and the command line. Responses have none: a
//! client does not learn which names exist.

use strsim::osa_distance;

/// The shortest name, in bytes, for which a common beginning is enough.
const MIN_PREFIX: usize = 3;

/// The most similar name, if there is a similar one. Letter case, `-` and `_` do not matter.
pub fn closest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let ranked = names.into_iter().filter_map(|name| Some((distance(given, name)?, name)));
    ranked.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// `; did you mean `name`?`, or nothing if no name is similar.
pub fn did_you_mean<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    closest(given, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// The edit distance in characters; `None`: it is more than a third of the longer name, and neither
/// name begins with the other.
fn distance(given: &str, name: &str) -> Option<usize> {
    let [given, name] = [given, name].map(|text| text.to_lowercase().replace('-', "_"));
    let (shorter, longer) = (given.len().min(name.len()), given.len().max(name.len()));
    let starts_alike = given.starts_with(&name) || name.starts_with(&given);
    let distance = osa_distance(&given, &name);
    let is_similar = distance <= longer / 3 || (starts_alike && shorter >= MIN_PREFIX);
    is_similar.then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_is_the_most_similar_name_if_any_is_similar() {
        let names = ["main", "docs", "front_end_url", "single", "collection", "en", "pt-BR"];
        for (given, expected) in [
            ("mian", Some("main")),
            ("Main", Some("main")),
            ("frontend_url", Some("front_end_url")),
            ("front-end-url", Some("front_end_url")),
            ("singleType", Some("single")),
            ("collectionType", Some("collection")),
            ("EN", Some("en")),
            ("pt_br", Some("pt-BR")),
            ("de", None),
            ("", None),
            ("shop", None),
            ("x", None),
        ] {
            assert_eq!(closest(given, names), expected, "{given}");
        }
        assert_eq!(did_you_mean("mian", names), "; did you mean `main`?");
        assert_eq!(did_you_mean("shop", names), "");
    }
}
