//! Links in the value of a field: rich text as HTML, as Markdown (Strapi's rich text) or as Strapi's
//! Blocks, or a text that is a URL.
//!
//! Here and not in the catalog, because it is about what fields of the CMS look like; the catalog gets
//! addresses and texts. Pure.
//!
//! - A text that begins with a block of HTML and has no Markdown link is HTML, as `CKEditor` writes it.
//! - A text that is one URL is one link.
//! - Any other text is `CommonMark`, which has HTML inside: it becomes HTML first, so that there is one
//!   reader of links. HTML in Markdown that is indented by four spaces after an empty line is code there.
//! - A list or an object is [Blocks](https://docs.strapi.io/cms/features/content-manager). Nodes of unknown types are searched for children.

mod html;

use pulldown_cmark::{Options, Parser};
use serde_json::Value;

/// The longest text of a link that is kept, in bytes.
pub const MAX_TEXT: usize = 120;

/// A link, as the content has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLink {
    /// The address as it is written.
    pub address: String,
    /// The text, with single spaces, at most [`MAX_TEXT`] bytes; of an image its description.
    pub text: String,
}

/// The value is not JSON that can be read as text: a lone surrogate, or too many levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value of a field cannot be read")]
pub struct UnreadableValue;

/// Finds the links in the value of a field, which is JSON, in their order.
///
/// # Errors
/// [`UnreadableValue`]
pub fn find_links(json: &str, found: &mut Vec<RawLink>) -> Result<(), UnreadableValue> {
    let json = json.trim_ascii();
    match json.as_bytes().first() {
        Some(b'"') => {
            let text: String = serde_json::from_str(json).map_err(|_| UnreadableValue)?;
            find_in_text(&text, found);
        }
        Some(b'[' | b'{') => {
            let value: Value = serde_json::from_str(json).map_err(|_| UnreadableValue)?;
            find_in_blocks(&value, found);
        }
        // A number, a boolean or null has no link.
        _ => {}
    }
    Ok(())
}

/// Finds the links in a text.
pub fn find_in_text(text: &str, found: &mut Vec<RawLink>) {
    let text = text.trim();
    if is_one_url(text) {
        found.push(RawLink { address: text.to_owned(), text: String::new() });
    } else if html::is_html(text) && !text.contains("](") {
        html::find(text, found);
    } else if may_be_markdown_with_links(text) {
        html::find(&markdown_to_html(text), found);
    }
}

/// Whether a text is a URL or a path and nothing else. A single word is none: most texts of one word are
/// no addresses.
fn is_one_url(text: &str) -> bool {
    let starts = ["/", "./", "../", "http://", "https://"];
    let is_word = !text.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`'));
    let start = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    is_word && !text.contains("](") && starts.iter().any(|one| start.starts_with(one))
}

/// Whether a text may have links: without a bracket and an angle bracket there is none, and most texts
/// have neither.
fn may_be_markdown_with_links(text: &str) -> bool {
    text.contains(['[', '<'])
}

/// The HTML. The tables of GitHub's dialect are read, because their cells are no code.
fn markdown_to_html(text: &str) -> String {
    let mut rendered = String::with_capacity(text.len() + text.len() / 4);
    pulldown_cmark::html::push_html(&mut rendered, Parser::new_ext(text, Options::ENABLE_TABLES));
    rendered
}

/// Finds the nodes with the type `link` and a `url`, in the order of the content. A value of another form
/// has none.
fn find_in_blocks(value: &Value, found: &mut Vec<RawLink>) {
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

/// Appends a text with single spaces, up to [`MAX_TEXT`] bytes.
fn add_text(to: &mut String, text: &str) {
    for character in text.chars() {
        if to.len() + character.len_utf8() > MAX_TEXT {
            return;
        }
        match character {
            c if c.is_whitespace() || c.is_control() => {
                if !to.is_empty() && !to.ends_with(' ') {
                    to.push(' ');
                }
            }
            c => to.push(c),
        }
    }
}

#[cfg(test)]
mod tests;
