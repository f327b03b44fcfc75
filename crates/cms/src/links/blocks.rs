//! Links in Strapi's Blocks: a list of nodes, each with a type and children.
//!
//! See <https://docs.strapi.io/cms/features/content-manager>, "Rich text (Blocks)".

use serde_json::Value;

use super::{RawLink, add_text};

/// Finds the nodes with the type `link` and a `url`, in the order of the content. A value of another form
/// has none.
pub(super) fn find(value: &Value, found: &mut Vec<RawLink>) {
    // The last one is searched next. serde_json reads 128 levels at most.
    let mut left = vec![value];
    while let Some(node) = left.pop() {
        match node {
            Value::Array(nodes) => left.extend(nodes.iter().rev()),
            Value::Object(_) => {
                let is_link = node.get("type").and_then(Value::as_str) == Some("link");
                if let Some(url) = node.get("url").and_then(Value::as_str).filter(|_| is_link) {
                    let mut link = RawLink { address: url.to_owned(), text: String::new() };
                    add_texts(node, &mut link.text);
                    link.text.truncate(link.text.trim_end().len());
                    found.push(link);
                }
                left.extend(node.get("children"));
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }
}

/// Appends the texts of a node and of those below it.
fn add_texts(node: &Value, text: &mut String) {
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        match node {
            Value::Array(nodes) => left.extend(nodes.iter().rev()),
            Value::Object(_) => {
                add_text(text, node.get("text").and_then(Value::as_str).unwrap_or_default());
                left.extend(node.get("children"));
            }
            _ => {}
        }
    }
}
