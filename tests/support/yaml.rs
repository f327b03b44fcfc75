//! Reads the YAML files of the repository.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A collection that has not ended, with the key of a mapping whose value comes next.
enum Open {
    Sequence(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

/// All documents of a file, as JSON. A scalar without quotes is null, a truth value or a whole
/// number where it looks like one.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let mut documents = Vec::new();
    let mut open = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.expect("YAML");
        let value = match event {
            Event::Scalar(text, style, _, _) => scalar(&text, style),
            Event::SequenceStart(..) => {
                open.push(Open::Sequence(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop().expect("it began") {
                Open::Sequence(list) => Value::Array(list),
                Open::Mapping(members, _) => Value::Object(members),
            },
            Event::Alias(_) => panic!("an alias"),
            _ => continue,
        };
        match open.last_mut() {
            None => documents.push(value),
            Some(Open::Sequence(list)) => list.push(value),
            Some(Open::Mapping(members, key)) => match key.take() {
                None => *key = Some(value.as_str().expect("a key is a text").to_owned()),
                Some(key) => {
                    assert!(members.insert(key.clone(), value).is_none(), "{key} twice");
                }
            },
        }
    }
    documents
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        number => number.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}
