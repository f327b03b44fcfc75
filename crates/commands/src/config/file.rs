//! The text of a settings file as a table, each value with its line.

pub(super) mod search;

use std::path::Path;

use config::{Value, ValueKind};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;
use super::value::{Table, at_line};

/// Some editors write it at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The lists of tables: their headers have double brackets.
const LISTS: [&str; 5] = ["site", "content_type", "notify", "rule", "page"];

/// Reads a text file, without a byte order mark.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        format!("{shown}: line {line}: not UTF-8: save the file as UTF-8")
    })?;
    if let Some(rest) = text.strip_prefix(BYTE_ORDER_MARK) {
        return Ok(rest.to_owned());
    }
    Ok(text)
}

/// Which origins values have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origins {
    /// None, for defaults.
    None,
    /// Their lines in the settings file.
    Lines,
}

/// Parses the text of a settings file. The error says where the text is not TOML, without the text,
/// which may have a secret in it.
pub(super) fn parse(text: &str, origins: Origins) -> Result<Table, Problem> {
    let ends = text.match_indices('\n').map(|(at, _)| at).collect();
    let lines = Lines { ends, origins };
    let parsed = DeTable::parse(text).map_err(|error| lines.describe(text, &error))?;
    Ok(lines.table(parsed.into_inner()))
}

/// The offsets at which the lines of a text end.
struct Lines {
    ends: Vec<usize>,
    origins: Origins,
}

impl Lines {
    fn line(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end < offset) + 1
    }

    fn describe(&self, text: &str, error: &toml::de::Error) -> Problem {
        let span = error.span().unwrap_or_default();
        let before = text.get(..span.start).unwrap_or_default();
        let line = self.line(span.start);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        // The span of this error is the name of the key.
        let key = text.get(span).filter(|_| error.message() == "duplicate key").unwrap_or_default();
        let fix = if LISTS.contains(&key) {
            format!("; each entry of a list begins with double brackets, such as `[[{key}]]`")
        } else {
            String::new()
        };
        let key = if key.is_empty() { String::new() } else { format!(" `{key}`") };
        let message = error.message();
        let text = format!("line {line}, column {column}: not TOML: {message}{key}{fix}");
        Problem { line: Some(line), text }
    }

    fn table(&self, table: DeTable<'_>) -> Table {
        let entries = table.into_iter().map(|(key, value)| {
            // The line of the key: a table that is only implied has no header of its own.
            let at = key.span().start;
            (key.into_inner().into_owned(), self.value(at, value.into_inner()))
        });
        entries.collect()
    }

    fn element(&self, value: Spanned<DeValue<'_>>) -> Value {
        self.value(value.span().start, value.into_inner())
    }

    fn value(&self, at: usize, value: DeValue<'_>) -> Value {
        let kind = match value {
            DeValue::Boolean(value) => ValueKind::Boolean(value),
            DeValue::String(text) => ValueKind::String(text.into_owned()),
            DeValue::Datetime(date) => ValueKind::String(date.to_string()),
            DeValue::Integer(number) => {
                let parsed = i128::from_str_radix(number.as_str(), number.radix());
                parsed.map_or(ValueKind::Float(f64::INFINITY), ValueKind::I128)
            }
            // The parser has checked the text.
            DeValue::Float(number) => ValueKind::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Array(list) => {
                ValueKind::Array(list.into_iter().map(|value| self.element(value)).collect())
            }
            DeValue::Table(table) => ValueKind::Table(self.table(table)),
        };
        let origin = (self.origins == Origins::Lines).then(|| at_line(self.line(at)));
        Value::new(origin.as_ref(), kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::section::table;

    #[test]
    fn parse_keeps_the_line_of_each_key_and_each_entry_of_a_list() {
        let text =
            "a = 1\n\n[server]\nlisten = \"x\"\n[[site]]\n[[site.rule]]\nb = 0xf\n[[site]]\n";
        let root = parse(text, Origins::Lines).unwrap();
        let mut found = Vec::new();
        visit("", &Value::from(root), &mut found);
        let expected = [
            ("", None),
            (".a", Some("line 1")),
            (".server", Some("line 3")),
            (".server.listen", Some("line 4")),
            (".site", Some("line 5")),
            (".site[0]", Some("line 5")),
            (".site[0].rule", Some("line 6")),
            (".site[0].rule[0]", Some("line 6")),
            (".site[0].rule[0].b", Some("line 7")),
            (".site[1]", Some("line 8")),
        ];
        let expected = expected.map(|(key, origin)| (key.to_owned(), origin.map(str::to_owned)));
        assert_eq!(found, expected);
    }

    /// All values with their origins.
    fn visit(key: &str, value: &Value, found: &mut Vec<(String, Option<String>)>) {
        found.push((key.to_owned(), value.origin().map(str::to_owned)));
        if let ValueKind::Array(list) = &value.kind {
            let list = list.iter().enumerate();
            list.for_each(|(at, value)| visit(&format!("{key}[{at}]"), value, found));
        }
        for (name, value) in table(value).unwrap_or_default() {
            visit(&format!("{key}.{name}"), &value, found);
        }
    }
}
