//! YAML 1.2 to JSON: one document of mappings, sequences and scalars, with the members in the
//! order of the text. A scalar without quotes is null, a truth value or a decimal number where it
//! looks like one (YAML 1.2.2, section 10.3), else a text.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use frontend_map_catalog::json::Json;

/// Why a text cannot be converted.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotConverted {
    /// It is not YAML.
    #[error(transparent)]
    Syntax(#[from] ScanError),
    /// It has an alias, a tag, a key that is not a scalar, or not one document.
    #[error("it has an alias, a tag, a key that is not a scalar, or not one document")]
    Unsupported,
}

/// A collection whose end has not been read.
enum Open {
    Sequence {
        empty: bool,
    },
    /// `key`: whether a key comes next.
    Mapping {
        empty: bool,
        key: bool,
    },
}

struct Writer {
    json: Json,
    open: Vec<Open>,
    documents: usize,
}

/// The document as JSON text.
pub(super) fn to_json(yaml: &str) -> Result<Vec<u8>, NotConverted> {
    let mut writer =
        Writer { json: Json::with_capacity(yaml.len()), open: Vec::new(), documents: 0 };
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event?;
        writer.write(event)?;
    }
    if writer.documents == 1 {
        Ok(writer.json.into_bytes())
    } else {
        Err(NotConverted::Unsupported)
    }
}

impl Writer {
    fn write(&mut self, event: Event<'_>) -> Result<(), NotConverted> {
        match event {
            Event::Scalar(text, style, _, None) => {
                let is_key = self.begin_node();
                if is_key || style != ScalarStyle::Plain {
                    self.json.text(&text);
                } else {
                    self.plain(&text);
                }
            }
            Event::SequenceStart(_, None) => {
                self.begin_collection("[", Open::Sequence { empty: true })?;
            }
            Event::MappingStart(_, None) => {
                self.begin_collection("{", Open::Mapping { empty: true, key: true })?;
            }
            Event::SequenceEnd => self.end_collection("]"),
            Event::MappingEnd => self.end_collection("}"),
            Event::DocumentStart(_) => self.documents += 1,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::MappingStart(..) => {
                return Err(NotConverted::Unsupported);
            }
        }
        Ok(())
    }

    fn begin_collection(&mut self, bracket: &str, open: Open) -> Result<(), NotConverted> {
        if self.begin_node() {
            return Err(NotConverted::Unsupported);
        }
        self.json.raw(bracket);
        self.open.push(open);
        Ok(())
    }

    fn end_collection(&mut self, bracket: &str) {
        self.open.pop();
        self.json.raw(bracket);
    }

    /// Writes a scalar without quotes, which need not be a text.
    fn plain(&mut self, text: &str) {
        if matches!(text, "" | "~") {
            self.json.raw("null");
        } else if is_json_literal(text) {
            self.json.raw(text);
        } else {
            self.json.text(text);
        }
    }

    /// Writes what separates a node from the one before it. Returns whether the node is a key.
    fn begin_node(&mut self) -> bool {
        match self.open.last_mut() {
            None => false,
            Some(Open::Sequence { empty }) => {
                self.json.raw(if std::mem::take(empty) { "" } else { "," });
                false
            }
            Some(Open::Mapping { empty, key }) => {
                let is_key = std::mem::replace(key, !*key);
                let separator = match (is_key, std::mem::take(empty)) {
                    (true, true) => "",
                    (true, false) => ",",
                    (false, _) => ":",
                };
                self.json.raw(separator);
                is_key
            }
        }
    }
}

/// Whether a plain scalar is written in JSON as it is.
fn is_json_literal(text: &str) -> bool {
    let is_number = || text.parse::<f64>().is_ok() && serde_json::from_str::<f64>(text).is_ok();
    matches!(text, "null" | "true" | "false") || is_number()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(yaml: &str) -> Option<String> {
        to_json(yaml).ok().map(|json| String::from_utf8(json).unwrap())
    }

    #[test]
    fn to_json_keeps_values_types_and_order() {
        let yaml = concat!(
            "# A comment.\n",
            "b: [1, -2.5, 1e3, 01, 3.1.0, 2xx, true, null, '', '1', \"a\\n\"]\n",
            "a:\n  - {x: {}, y: []}\n  - text: |\n      one\n      two\n  - >-\n    three\n    four\n",
            "'404': no\n7: ~\n8:\n",
        );
        let json = concat!(
            r#"{"b":[1,-2.5,1e3,"01","3.1.0","2xx",true,null,"","1","a\n"],"#,
            r#""a":[{"x":{},"y":[]},{"text":"one\ntwo\n"},"three four"],"#,
            r#""404":"no","7":null,"8":null}"#,
        );
        assert_eq!(converted(yaml).as_deref(), Some(json));
    }

    #[test]
    fn to_json_refuses_what_json_does_not_have() {
        for yaml in
            ["a: &x 1\nb: *x\n", "a: !!str 1\n", "? [a]\n: 1\n", "a: [\n", "", "--- 1\n--- 2\n"]
        {
            assert_eq!(converted(yaml), None, "{yaml}");
        }
    }
}
