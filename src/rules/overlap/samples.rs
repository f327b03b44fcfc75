//! Texts that a segment takes: all of them where they are few, else some.

use regex_syntax::hir::{Class, Hir, HirKind};
use rustc_hash::FxHashSet;

use crate::rules::constraint::Constraint;
use crate::rules::encode::encode;
use crate::rules::locale::Locales;
use crate::rules::matching::{Pattern, takes_text};
use crate::rules::pathname::{PathSegment, Pathname};
use crate::rules::template::{DatePart, Placeholder, Segment, Source};

/// So many samples of one `pattern` are tried: its alternatives, with and without what is optional.
const SAMPLES: usize = 8;
/// A sample of a `pattern` is no longer than a pathname (D3).
const MAX_BYTES: usize = 2_048;
/// For a placeholder that takes everything; the second for where static text is `x`, or a locale.
const ANY: [&str; 3] = ["x", "x-1", "y-2"];

/// What one segment of a pattern takes.
pub(super) struct Taken {
    /// Texts that it takes, the most telling first. A catch-all's are values, and may be cut.
    pub(super) texts: Vec<String>,
    /// The same, where there are no others.
    pub(super) all: Option<FxHashSet<String>>,
}

impl Taken {
    pub(super) fn of(pattern: &Pattern, at: usize, locales: &Locales) -> Self {
        let (mut texts, all) = texts(pattern, at, locales);
        if matches!(pattern.segments[at], Segment::CatchAll(_)) {
            return Self { texts, all: None };
        }
        texts.retain(|text| is_segment(text) && takes_text(pattern, at, text, locales));
        Self { all: all.then(|| texts.iter().cloned().collect()), texts }
    }
}

/// Texts for one segment, and whether there are no others.
fn texts(pattern: &Pattern, at: usize, locales: &Locales) -> (Vec<String>, bool) {
    match &pattern.segments[at] {
        Segment::Static(text) => (vec![text.clone()], true),
        Segment::Placeholder { prefix, placeholder, suffix } => {
            let (texts, all) = values(pattern, placeholder, locales);
            let around = |value: String| [prefix.as_str(), &value, suffix].concat();
            (texts.into_iter().map(around).collect(), all)
        }
        Segment::Optional(placeholder) | Segment::CatchAll(placeholder) => {
            values(pattern, placeholder, locales)
        }
    }
}

/// Whether it comes back as one segment from a path.
pub(super) fn is_segment(text: &str) -> bool {
    let path = format!("/{}", encode(text));
    Pathname::parse(&path).segments().eq([PathSegment::Text(text)])
}

fn values(pattern: &Pattern, placeholder: &Placeholder, locales: &Locales) -> (Vec<String>, bool) {
    let takes = |value: &String| placeholder.constraint.as_ref().is_none_or(|c| c.takes(value));
    let codes = || locales.as_slice().iter().map(|locale| locale.as_str().to_owned());
    let accepted = |code: &String| pattern.accepts.takes(code, locales);
    let (texts, all): (Vec<String>, bool) = match (&placeholder.source, &placeholder.constraint) {
        (Source::Locale, _) => (codes().filter(accepted).collect(), true),
        (_, Some(Constraint::Values(values))) => {
            (values.sorted().into_iter().map(str::to_owned).collect(), true)
        }
        (Source::Date(_, part), _) => date_parts(*part),
        (_, Some(Constraint::Pattern(regex))) => (of_pattern(regex.as_str()), false),
        (_, None) => (ANY.map(str::to_owned).to_vec(), false),
    };
    (texts.into_iter().filter(takes).collect(), all)
}

fn date_parts(part: DatePart) -> (Vec<String>, bool) {
    match part {
        DatePart::Year => (["2024", "1999"].map(str::to_owned).to_vec(), false),
        DatePart::Month => ((1..=12).map(|month| format!("{month:02}")).collect(), true),
        DatePart::Day => ((1..=31).map(|day| format!("{day:02}")).collect(), true),
    }
}

/// Some texts that the expression describes.
fn of_pattern(pattern: &str) -> Vec<String> {
    regex_syntax::parse(pattern).map_or_else(|_| Vec::new(), |hir| of_expression(&hir))
}

fn of_expression(hir: &Hir) -> Vec<String> {
    let mut samples = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => vec![String::new()],
        HirKind::Literal(literal) => {
            String::from_utf8(literal.0.to_vec()).map_or_else(|_| Vec::new(), |text| vec![text])
        }
        HirKind::Class(class) => of_class(class).into_iter().map(String::from).collect(),
        HirKind::Repetition(repetition) => {
            let one = of_expression(&repetition.sub);
            let [least, most] = [repetition.min, repetition.max.unwrap_or(u32::MAX)];
            let counts = [least.max(1).min(most), least];
            let counts = if counts[0] == counts[1] { &counts[..1] } else { &counts[..] };
            counts.iter().flat_map(|count| one.iter().map(|text| repeated(text, *count))).collect()
        }
        HirKind::Capture(capture) => of_expression(&capture.sub),
        HirKind::Concat(parts) => of_concat(parts),
        HirKind::Alternation(parts) => parts.iter().flat_map(of_expression).collect(),
    };
    samples.retain(|text| text.len() <= MAX_BYTES);
    samples.truncate(SAMPLES);
    samples
}

/// Longer than a pathname where it would be: then it is dropped.
fn repeated(text: &str, count: u32) -> String {
    text.repeat(usize::try_from(count).unwrap_or(MAX_BYTES).min(MAX_BYTES + 1))
}

/// Each part's samples side by side, not each with each.
fn of_concat(parts: &[Hir]) -> Vec<String> {
    let parts: Vec<Vec<String>> = parts.iter().map(of_expression).collect();
    let most = parts.iter().map(Vec::len).max().unwrap_or(0);
    let nth = |n: usize| parts.iter().map(move |part| part.get(n % part.len().max(1))).collect();
    let joined: Vec<Option<Vec<&String>>> = (0..most).map(nth).collect();
    joined
        .into_iter()
        .flatten()
        .map(|texts| texts.into_iter().map(String::as_str).collect())
        .collect()
}

/// A letter and a digit where the class has them, else the first character of a range.
fn of_class(class: &Class) -> Vec<char> {
    let Class::Unicode(class) = class else {
        return Vec::new();
    };
    let has = |c: &char| class.iter().any(|range| (range.start()..=range.end()).contains(c));
    let plain: Vec<char> = ['x', '2', 'a', '0', 'X', '-'].into_iter().filter(has).collect();
    let starts = || class.iter().map(regex_syntax::hir::ClassUnicodeRange::start).take(1).collect();
    if plain.is_empty() { starts() } else { plain.into_iter().take(2).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_patterns_match_them() {
        for (pattern, expected) in [
            (r"\d{4}", vec!["2222", "0000"]),
            ("news|press", vec!["news", "press"]),
            ("[a-c]+-v?", vec!["a-v", "a-"]),
            ("(?i)é", vec!["É"]),
            ("", vec![""]),
            ("a{3000}", vec![]),
        ] {
            assert_eq!(of_pattern(&format!("^(?:{pattern})$")), expected, "{pattern}");
            let constraint = Constraint::pattern(pattern).unwrap();
            assert!(of_pattern(pattern).iter().all(|text| constraint.takes(text)), "{pattern}");
        }
    }
}
