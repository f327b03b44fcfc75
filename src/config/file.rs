//! The text of a settings file as a table, each value with its line.

pub(super) mod search;

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;
use super::value::{Kind, Origin, Table, Value};

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

/// Parses the text of a settings file. The error says where the text is not TOML, without the text,
/// which may have a secret in it.
pub(super) fn parse(text: &str) -> Result<Table, Problem> {
    let lines = Lines::new(text);
    let parsed = DeTable::parse(text).map_err(|error| lines.describe(text, &error))?;
    Ok(lines.table(parsed.into_inner()))
}

/// The offsets at which the lines of a text end.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
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
            let origin = Origin::Line(self.line(key.span().start));
            (key.into_inner().into_owned(), Value { kind: self.kind(value.into_inner()), origin })
        });
        entries.collect()
    }

    fn element(&self, value: Spanned<DeValue<'_>>) -> Value {
        let origin = Origin::Line(self.line(value.span().start));
        Value { kind: self.kind(value.into_inner()), origin }
    }

    fn kind(&self, value: DeValue<'_>) -> Kind {
        match value {
            DeValue::Boolean(value) => Kind::Boolean(value),
            DeValue::String(text) => Kind::Text(text.into_owned()),
            DeValue::Datetime(date) => Kind::Text(date.to_string()),
            DeValue::Integer(number) => {
                let parsed = i128::from_str_radix(number.as_str(), number.radix());
                parsed.map_or(Kind::Float(f64::INFINITY), Kind::Integer)
            }
            // The parser has checked the text.
            DeValue::Float(number) => Kind::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Array(list) => {
                Kind::List(list.into_iter().map(|value| self.element(value)).collect())
            }
            DeValue::Table(table) => Kind::Table(self.table(table)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_keeps_the_line_of_each_key_and_each_entry_of_a_list() {
        let text =
            "a = 1\n\n[server]\nlisten = \"x\"\n[[site]]\n[[site.rule]]\nb = 0x_f\n[[site]]\n";
        let table = parse(&text.replace("0x_f", "0xf")).unwrap();
        let line = |value: &Value| match value.origin {
            Origin::Line(line) => line,
            Origin::Variable(_) => 0,
        };
        let server = table["server"].table().unwrap();
        assert_eq!([line(&table["a"]), line(&table["server"]), line(&server["listen"])], [1, 3, 4]);
        let sites = table["site"].list().unwrap();
        let rule = &sites[0].table().unwrap()["rule"].list().unwrap()[0];
        let b = &rule.table().unwrap()["b"];
        assert_eq!([line(&sites[0]), line(rule), line(b), line(&sites[1])], [5, 6, 7, 8]);
        assert_eq!(b.kind.to_string(), "15");
    }
}
