//! `params.<name>`: what a placeholder takes, and where its value comes from.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::field_path;
use crate::config::Problems;
use crate::rules::{Constraint, ConstraintError, DatePart, Param, Source};

/// How many ancestors a page may have when the settings do not say.
const DEFAULT_DEPTH: usize = 5;
/// The most that can be set: Strapi reads a query of at most 20 levels, two for each ancestor.
const MAX_DEPTH: usize = 8;

#[derive(Debug, Default, Deserialize)]
pub(super) struct RawParam {
    pattern: Option<String>,
    values: Option<BTreeSet<String>>,
    field: Option<String>,
    ancestors: Option<String>,
    depth: Option<usize>,
}

/// The most memory that all compiled patterns take, in bytes: 400 with a Unicode class. Compiling
/// so many takes two seconds.
const MAX_PATTERNS: usize = 64 << 20;

/// The patterns of all settings, each compiled once however many rules have it.
#[derive(Default)]
pub(in crate::config) struct Patterns {
    compiled: HashMap<String, Result<Constraint, ConstraintError>>,
    size: usize,
}

impl Patterns {
    fn get(&mut self, pattern: String) -> Result<Constraint, ConstraintError> {
        let size = &mut self.size;
        let compile = |pattern: &String| {
            if *size > MAX_PATTERNS {
                return Err(ConstraintError::Pattern(TOO_MANY.to_owned()));
            }
            let compiled = Constraint::pattern(pattern);
            if let Ok(Constraint::Pattern(pattern)) = &compiled {
                *size += pattern.size();
            }
            compiled
        };
        self.compiled.entry(pattern).or_insert_with_key(compile).clone()
    }
}

const TOO_MANY: &str = "all patterns together are larger than 64 MiB when compiled: use ASCII classes such as `[a-z0-9-]`";

pub(super) fn param(
    raw: RawParam,
    place: &str,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Param> {
    let constraint = match (raw.pattern, raw.values) {
        (None, None) => None,
        (Some(pattern), None) => Some(problems.take(place, patterns.get(pattern))?),
        (None, Some(values)) => Some(problems.take(place, Constraint::values(values))?),
        (Some(_), Some(_)) => {
            problems.add(place, "it has `pattern` or `values`, not both");
            return None;
        }
    };
    let source = match (raw.field, raw.ancestors, raw.depth) {
        (field, None, None) => match field {
            Some(field) => Some(source(&field, place, problems)?),
            None => None,
        },
        (Some(field), Some(parent), depth) => {
            Some(ancestors(&field, &parent, depth.unwrap_or(DEFAULT_DEPTH), place, problems)?)
        }
        _ => {
            problems.add(place, "`ancestors` needs `field`, and `depth` needs `ancestors`");
            return None;
        }
    };
    Some(Param { source, constraint })
}

/// A field, or with `:year`, `:month` or `:day` a part of a date.
fn source(text: &str, place: &str, problems: &mut Problems) -> Option<Source> {
    let Some((field, part)) = text.split_once(':') else {
        return field_path(text, place, problems).map(Source::Field);
    };
    let part = DatePart::parse(part).ok_or("the parts of a date are year, month and day");
    let part = problems.take(place, part)?;
    Some(Source::Date(field_path(field, place, problems)?, part))
}

fn ancestors(
    field: &str,
    parent: &str,
    depth: usize,
    place: &str,
    problems: &mut Problems,
) -> Option<Source> {
    if !(1..=MAX_DEPTH).contains(&depth) {
        problems.add(place, format_args!("`depth` is 1 to {MAX_DEPTH}"));
    }
    let field = field_path(field, place, problems)?;
    let parent = field_path(parent, place, problems)?;
    Some(Source::ancestors(&field, &parent, depth.min(MAX_DEPTH)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_compiled_once() {
        let mut patterns = Patterns::default();
        let mut first = || patterns.get(r"\w+".to_owned()).unwrap();
        let _ = first();
        let again = allocation_counter::measure(|| drop(first()));
        // The text of the key alone.
        assert!(again.bytes_total < 100, "{again:?}");
    }

    #[test]
    fn patterns_have_a_bound_together() {
        let mut patterns = Patterns { size: MAX_PATTERNS, ..Patterns::default() };
        assert!(patterns.get("a".to_owned()).is_ok());
        let error = patterns.get("b".to_owned()).unwrap_err().to_string();
        assert!(error.contains("64 MiB"), "{error}");
        assert!(patterns.get("a".to_owned()).is_ok());
    }
}
