//! Placeholders as other systems write them. They would be accepted as static text or as fields, and
//! the rule would never match.

use super::error::Problem;

/// The name of a catch-all that has none.
const CATCH_ALL: &str = "path";

/// Refuses a segment that is written for another system, with the position in bytes.
pub(super) fn check(segment: &str) -> Result<(), (usize, Problem)> {
    if segment.contains(char::is_control) {
        // Refused as such, without a repetition in the message.
        return Ok(());
    }
    if let Some(at) = segment.find("{{") {
        let name = segment[at..].trim_start_matches('{');
        let name = name.split('}').next().unwrap_or_default();
        return Err((at, Problem::DoubledBraces(format!("{{{name}}}"))));
    }
    if let Some(at) = segment.find("${") {
        let end = segment[at..].find('}').map_or(segment.len(), |end| at + end + 1);
        return Err((at, foreign(&segment[at..end], segment[at + 1..end].to_owned())));
    }
    let instead = if segment == "*" {
        Some(format!("{{*{CATCH_ALL}}}"))
    } else {
        of_colon(segment).or_else(|| of_brackets(segment))
    };
    instead.map_or(Ok(()), |instead| Err((0, foreign(segment, instead))))
}

/// Refuses names that are almost a reserved one, and `lang`.
pub(super) fn check_name(name: &str) -> Result<(), Problem> {
    let is_like = |reserved: &str| name != reserved && name.eq_ignore_ascii_case(reserved);
    if name == "lang" || is_like("locale") {
        return Err(Problem::NotLocale(name.to_owned()));
    }
    if is_like("documentId") {
        return Err(Problem::NotDocumentId(name.to_owned()));
    }
    Ok(())
}

fn foreign(written: &str, instead: String) -> Problem {
    Problem::Foreign { written: written.to_owned(), instead }
}

/// `:slug`, `:slug?`, `:path*` and `:path+`, each maybe before other text.
fn of_colon(segment: &str) -> Option<String> {
    let text = segment.strip_prefix(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    Some(match (name, rest) {
        ("", rest) if rest.starts_with('{') => rest.to_owned(),
        ("", _) => "{slug}".to_owned(),
        (name, "?") => format!("{{{name}?}}"),
        (name, "*" | "+") => format!("{{*{name}}}"),
        (name, rest) => format!("{{{name}}}{rest}"),
    })
}

/// `[slug]`, `[...path]` and `[[...path]]`.
fn of_brackets(segment: &str) -> Option<String> {
    let inner = segment.strip_prefix('[')?.strip_suffix(']')?;
    let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner);
    if inner.starts_with('{') {
        return Some(inner.to_owned());
    }
    let (star, name) = inner.strip_prefix("...").map_or(("", inner), |name| ("*", name));
    let default = if star.is_empty() { "slug" } else { CATCH_ALL };
    let name = if name.is_empty() { default } else { name };
    Some(format!("{{{star}{name}}}"))
}

#[cfg(test)]
mod tests {
    use crate::Template;

    #[test]
    fn placeholder_of_another_system_is_refused_with_the_spelling_of_a_template() {
        for (template, position, written, instead) in [
            ("/blog/:slug", 7, ":slug", "{slug}"),
            ("/:slug?", 2, ":slug?", "{slug?}"),
            ("/:path*", 2, ":path*", "{*path}"),
            ("/:slug.html", 2, ":slug.html", "{slug}.html"),
            ("/:{slug}", 2, ":{slug}", "{slug}"),
            ("/[slug]", 2, "[slug]", "{slug}"),
            ("/[{slug}]", 2, "[{slug}]", "{slug}"),
            ("/[...slug]", 2, "[...slug]", "{*slug}"),
            ("/[[...slug]]", 2, "[[...slug]]", "{*slug}"),
            ("/docs/*", 7, "*", "{*path}"),
            ("/${slug}", 2, "${slug}", "{slug}"),
            ("/a-${slug}.html", 4, "${slug}", "{slug}"),
        ] {
            let error = Template::parse(template).unwrap_err().to_string();
            let problem =
                format!("`{written}` is a placeholder of another system: write `{instead}`");
            assert_eq!(error, format!("template `{template}`, position {position}: {problem}"));
        }
    }

    #[test]
    fn control_character_beside_such_a_placeholder_is_not_repeated() {
        for template in ["/:h\u{85}>", "/[a\u{1b}]", "/${a\u{7}}", "/{{a\n}}"] {
            let error = Template::parse(template).unwrap_err().to_string();
            assert!(!error.contains(char::is_control), "{error:?}");
        }
    }

    #[test]
    fn doubled_brace_is_refused_at_its_position() {
        for template in ["/a-{{slug}}", "/a-{{slug}", "/a-{{{slug}}}"] {
            let error = Template::parse(template).unwrap_err().to_string();
            let expected =
                format!("template `{template}`, position 4: write single braces, `{{slug}}`");
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn name_that_is_almost_reserved_is_refused() {
        for name in ["lang", "Locale", "LOCALE"] {
            let error = Template::parse(&format!("/{{{name}}}/{{slug}}")).unwrap_err().to_string();
            assert!(error.contains("did you mean `{locale}`?"), "{error}");
        }
        let error = Template::parse("/{documentID}").unwrap_err().to_string();
        assert!(error.ends_with("did you mean `{documentId}`?"), "{error}");
    }

    #[test]
    fn static_text_and_fields_that_only_look_alike_are_accepted() {
        for template in [
            "/a:b",
            "/a[b]",
            "/[a]b",
            "/a*",
            "/**",
            "/$",
            "/$/{slug}",
            "/a$b-{slug}",
            "/{lang.code}",
            "/{language}",
        ] {
            assert!(Template::parse(template).is_ok(), "{template}");
        }
    }
}
