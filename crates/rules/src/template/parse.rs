//! Parses a template, segment by segment (D11).

use super::error::{MAX_OPTIONAL, MAX_SEGMENTS, Problem};
use super::foreign;
use super::{DatePart, FieldPath, Placeholder, Segment, Source, TemplateError};

/// A problem and its position in bytes.
type At = (usize, Problem);

/// The segments of a template.
pub(super) fn template(text: &str) -> Result<Vec<Segment>, TemplateError> {
    segments(text).map_err(|(offset, problem)| TemplateError {
        template: text.to_owned(),
        position: text[..offset].chars().count() + 1,
        problem,
    })
}

fn segments(text: &str) -> Result<Vec<Segment>, At> {
    let path = text.strip_prefix('/').ok_or((0, Problem::NoLeadingSlash))?;
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<Segment> = Vec::new();
    let mut offset = 1;
    for part in path.split('/') {
        if matches!(found.last(), Some(Segment::CatchAll(_))) {
            return Err((offset - 1, Problem::CatchAllNotLast));
        }
        if found.len() == MAX_SEGMENTS {
            return Err((offset, Problem::TooManySegments));
        }
        let at_end = offset + part.len() == text.len();
        let segment = segment(part, at_end).map_err(|(at, problem)| (offset + at, problem))?;
        check_combination(&found, &segment).map_err(|problem| (offset, problem))?;
        found.push(segment);
        offset += part.len() + 1;
    }
    Ok(found)
}

fn check_combination(found: &[Segment], segment: &Segment) -> Result<(), Problem> {
    let Some(Placeholder { name, .. }) = segment.placeholder() else {
        return Ok(());
    };
    let optional = found.iter().filter(|other| matches!(other, Segment::Optional(_))).count();
    if found.iter().filter_map(Segment::placeholder).any(|other| other.name == *name) {
        Err(Problem::Repeated(name.clone()))
    } else if optional > 0 && matches!(segment, Segment::CatchAll(_)) {
        Err(Problem::OptionalBeforeCatchAll)
    } else if optional == MAX_OPTIONAL && matches!(segment, Segment::Optional(_)) {
        Err(Problem::TooManyOptional)
    } else {
        Ok(())
    }
}

fn segment(text: &str, at_end: bool) -> Result<Segment, At> {
    if text.is_empty() {
        return Err(if at_end { (0, Problem::TrailingSlash) } else { (0, Problem::EmptySegment) });
    }
    foreign::check(text)?;
    let Some(open) = text.find('{') else {
        static_text(text, 0)?;
        if text == "." || text == ".." {
            return Err((0, Problem::DotSegment));
        }
        return Ok(Segment::Static(text.to_owned()));
    };
    let (prefix, rest) = (&text[..open], &text[open + 1..]);
    static_text(prefix, 0)?;
    let (name, suffix) = rest.split_once('}').ok_or((open, Problem::Unclosed))?;
    let after = open + name.len() + 2;
    if suffix.contains('{') {
        return Err((after, Problem::SecondPlaceholder));
    }
    static_text(suffix, after)?;
    with_placeholder(prefix, name, suffix).map_err(|problem| (open, problem))
}

fn static_text(text: &str, offset: usize) -> Result<(), At> {
    text.char_indices().try_for_each(|(at, c)| match c {
        '}' => Err((offset + at, Problem::StrayBrace(c))),
        '%' | '?' | '#' | '\\' => Err((offset + at, Problem::Forbidden(c))),
        c if c.is_control() => Err((offset + at, Problem::Forbidden(c))),
        _ => Ok(()),
    })
}

fn with_placeholder(prefix: &str, written: &str, suffix: &str) -> Result<Segment, Problem> {
    let whole = prefix.is_empty() && suffix.is_empty();
    let catch_all = written.strip_prefix('*');
    let optional = written.strip_suffix('?').filter(|_| catch_all.is_none());
    let placeholder = placeholder(catch_all.or(optional).unwrap_or(written))?;
    let reserved = matches!(placeholder.source, Source::Locale | Source::DocumentId);
    match placeholder.source {
        _ if reserved && (catch_all.is_some() || optional.is_some()) => {
            Err(Problem::Reserved(placeholder.name))
        }
        Source::Locale if !whole => Err(Problem::LocaleNotWhole),
        _ if catch_all.is_some() && !whole => Err(Problem::CatchAllNotWhole),
        Source::Date(..) if catch_all.is_some() => Err(Problem::DateAsCatchAll),
        _ if catch_all.is_some() => Ok(Segment::CatchAll(placeholder)),
        _ if optional.is_some() && !whole => Err(Problem::OptionalNotWhole),
        _ if optional.is_some() => Ok(Segment::Optional(placeholder)),
        _ => Ok(Segment::Placeholder { prefix: prefix.into(), placeholder, suffix: suffix.into() }),
    }
}

fn placeholder(name: &str) -> Result<Placeholder, Problem> {
    let bad = || Problem::BadName(name.to_owned());
    let (field, part) = match name.split_once(':') {
        Some((field, part)) => (field, Some(DatePart::parse(part).ok_or_else(bad)?)),
        None => (name, None),
    };
    let path = FieldPath::parse(field).ok_or_else(bad)?;
    foreign::check_name(name)?;
    let first = path.segments()[0].to_string();
    let source = match (name, first.as_str(), part) {
        ("locale", ..) => Source::Locale,
        ("documentId", ..) => Source::DocumentId,
        (_, "locale" | "documentId", _) => return Err(Problem::Reserved(first)),
        (_, _, Some(part)) => Source::Date(path, part),
        _ => Source::Field(path),
    };
    Ok(Placeholder { name: name.to_owned(), source, constraint: None })
}

#[cfg(test)]
mod tests {
    use crate::Template;

    #[test]
    fn parsed_template_prints_as_it_was_written() {
        for text in [
            "/",
            "/about us",
            "/{locale}/articles/{slug}",
            "/{locale}/{category.slug}/{slug}.html",
            "/x-{documentId}",
            "/{_a-1}/é/{*path}",
            "/{section?}/{slug}",
            "/{publishedAt:year}/{publishedAt:month}/{event.start:day?}/{slug}",
        ] {
            assert_eq!(Template::parse(text).map(|t| t.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn template_beyond_a_limit_is_refused() {
        let segments = |n: usize| "/a".repeat(n);
        let optional = |n: usize| (0..n).fold(String::new(), |all, n| format!("{all}/{{a{n}?}}"));
        for (good, bad, position, most) in [
            (segments(1_024), segments(1_025), 2_050, "1024 segments"),
            (optional(8), optional(9), 50, "8 optional segments"),
        ] {
            assert!(Template::parse(&good).is_ok());
            let error = Template::parse(&bad).unwrap_err();
            assert_eq!(error.position, position);
            assert!(error.to_string().contains(most), "{error}");
        }
    }

    #[test]
    fn error_names_the_template_the_position_and_the_problem() {
        for (text, expected) in [
            ("", "template ``, position 1: a template must start with `/`"),
            ("a/b", "template `a/b`, position 1: a template must start with `/`"),
            ("/a/", "template `/a/`, position 4: a template must not end with `/`"),
            ("//a", "template `//a`, position 2: a segment is empty"),
            ("/é/../b", "template `/é/../b`, position 4: `.` and `..` are not segments"),
            (
                "/a%20b",
                "template `/a%20b`, position 3: `%` is not allowed in a template: static text is raw, not encoded",
            ),
            (
                "/a\nb",
                "template `/a\\nb`, position 3: `\\n` is not allowed in a template: static text is raw, not encoded",
            ),
            ("/{slug", "template `/{slug`, position 2: a `{` is not closed"),
            ("/a}b", "template `/a}b`, position 3: a stray `}`"),
            ("/{a}}", "template `/{a}}`, position 5: a stray `}`"),
            (
                "/{a}-{b}",
                "template `/{a}-{b}`, position 5: a segment can have only one placeholder",
            ),
            (
                "/{}",
                "template `/{}`, position 2: `` is not a placeholder: names are letters, digits, `_` and `-`, starting with a letter or `_`, with dots through relations, and `:year`, `:month` or `:day` for a date",
            ),
            (
                "/{a..b}",
                "template `/{a..b}`, position 2: `a..b` is not a placeholder: names are letters, digits, `_` and `-`, starting with a letter or `_`, with dots through relations, and `:year`, `:month` or `:day` for a date",
            ),
            (
                "/{locale.x}",
                "template `/{locale.x}`, position 2: `locale` is reserved and is not a relation, optional or a catch-all",
            ),
            (
                "/{*locale}",
                "template `/{*locale}`, position 2: `locale` is reserved and is not a relation, optional or a catch-all",
            ),
            ("/x{locale}", "template `/x{locale}`, position 3: `{locale}` must be a whole segment"),
            (
                "/{*a}.html",
                "template `/{*a}.html`, position 2: a catch-all must be a whole segment",
            ),
            ("/{*a}/b", "template `/{*a}/b`, position 6: a catch-all must be the last segment"),
            (
                "/{*a:year}",
                "template `/{*a:year}`, position 2: a part of a date cannot be a catch-all",
            ),
            (
                "/x{a?}",
                "template `/x{a?}`, position 3: an optional placeholder must be a whole segment",
            ),
            (
                "/{a?}/{*b}",
                "template `/{a?}/{*b}`, position 7: an optional segment and a catch-all in one template would be ambiguous",
            ),
            (
                "/{locale?}",
                "template `/{locale?}`, position 2: `locale` is reserved and is not a relation, optional or a catch-all",
            ),
            (
                "/{a:week}",
                "template `/{a:week}`, position 2: `a:week` is not a placeholder: names are letters, digits, `_` and `-`, starting with a letter or `_`, with dots through relations, and `:year`, `:month` or `:day` for a date",
            ),
            ("/{a}/{a}", "template `/{a}/{a}`, position 6: placeholder `a` is repeated"),
        ] {
            assert_eq!(Template::parse(text).map_err(|e| e.to_string()), Err(expected.to_owned()));
        }
    }
}
