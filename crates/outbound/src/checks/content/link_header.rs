//! `Link` headers (RFC 8288): those of a canonical URL and of versions in other languages.

use super::html::AlternateLink;

/// The links of a header that say what a page's `<link>` elements may say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeaderLinks {
    pub(super) canonicals: Vec<String>,
    pub(super) alternates: Vec<AlternateLink>,
}

impl HeaderLinks {
    /// Adds the links of a header's value; a malformed rest of it counts as absent.
    pub(super) fn add(&mut self, value: &str) {
        let mut rest = value.trim_start_matches([' ', '\t', ',']);
        while let Some((href, behind)) =
            rest.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        {
            let (parameters, next) = parameters(behind);
            self.add_link(href.trim(), &parameters);
            rest = next.trim_start_matches([' ', '\t', ',']);
        }
    }

    fn add_link(&mut self, href: &str, parameters: &[(String, String)]) {
        // The first `rel` counts (section 3.3), and each `hreflang` (section 3.4.1).
        let rel = parameters.iter().find(|(name, _)| name == "rel");
        let rel = rel.map_or("", |(_, value)| value.as_str());
        let has =
            |word: &str| rel.split_ascii_whitespace().any(|own| own.eq_ignore_ascii_case(word));
        if has("canonical") {
            self.canonicals.push(href.to_owned());
        }
        if has("alternate") {
            let languages = parameters.iter().filter(|(name, _)| name == "hreflang");
            self.alternates.extend(languages.map(|(_, hreflang)| AlternateLink {
                hreflang: hreflang.clone(),
                href: href.to_owned(),
            }));
        }
    }
}

/// The parameters of a link, with names in lower case, and the text from the comma behind them.
fn parameters(text: &str) -> (Vec<(String, String)>, &str) {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(parameter) = rest.strip_prefix(';') {
        let parameter = parameter.trim_start();
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let name = parameter[..end].trim().to_ascii_lowercase();
        rest = &parameter[end..];
        let mut value = String::new();
        if let Some(behind) = rest.strip_prefix('=') {
            (value, rest) = parameter_value(behind.trim_start());
        }
        found.push((name, value));
        rest = rest.trim_start();
    }
    let next = rest.find(',').map_or("", |comma| &rest[comma..]);
    (found, next)
}

/// A token or a quoted text, and what is behind it.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(value: &str) -> (Vec<String>, Vec<String>) {
        let mut links = HeaderLinks::default();
        links.add(value);
        let alternate = |link: &AlternateLink| format!("{} {}", link.hreflang, link.href);
        (links.canonicals.clone(), links.alternates.iter().map(alternate).collect())
    }

    #[test]
    fn canonical_and_languages_are_found_among_other_links() {
        let value = [
            r#"</style.css>; rel=preload; as="style", <https://a.example/x,y>; rel="canonical""#,
            r#"<https://a.example/de>; rel="alternate"; hreflang="de""#,
            "</en>;rel=alternate;hreflang=en",
        ];
        let (canonicals, alternates) = links(&value.join(", "));
        assert_eq!(canonicals, ["https://a.example/x,y"]);
        assert_eq!(alternates, ["de https://a.example/de", "en /en"]);
    }

    #[test]
    fn malformed_values_and_names_in_any_case() {
        let none: ([&str; 0], [&str; 0]) = ([], []);
        for value in ["", "x", "<", "<https://a>", "<https://a>; rel", "<a>; rel=\"open", ", ,"] {
            let (canonicals, alternates) = links(value);
            assert_eq!(
                (canonicals.as_slice(), alternates.as_slice()),
                (&none.0.map(str::to_owned)[..], &none.1.map(str::to_owned)[..]),
                "{value}"
            );
        }
        assert_eq!(links("<a>; REL=\"Next Canonical\"").0, ["a"]);
        assert_eq!(links("<a>; rel=next; rel=canonical").0, none.0);
        assert_eq!(
            links("<a>; title=\"x, y; rel=\\\"z\\\"\"; rel=canonical, <b>; rel=canonical").0,
            ["a", "b"]
        );
        assert_eq!(links("<a>; rel=alternate; hreflang=de; hreflang=en").1, ["de a", "en a"]);
    }
}
