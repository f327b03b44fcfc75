//! Links in HTML, as browsers read it.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

use super::{RawLink, add_text};

/// The elements with which rich text in HTML begins.
const BLOCK_ELEMENTS: [&str; 28] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "div",
    "dl",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "iframe",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];

/// Whether a text begins with a block of HTML.
pub(super) fn is_html(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('<') else { return false };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let is_tag = rest[end..].starts_with([' ', '>', '/', '\n', '\r', '\t']);
    is_tag && BLOCK_ELEMENTS.iter().any(|block| block.eq_ignore_ascii_case(&rest[..end]))
}

/// Finds `a[href]` and `area[href]`. What is in comments, scripts and raw text is no link.
pub(super) fn find(html: &str, found: &mut Vec<RawLink>) {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    // The link whose end tag has not come yet.
    let mut open: Option<RawLink> = None;
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => match tag.name.as_slice() {
                // Another link ends the one that is open.
                b"a" => {
                    found.extend(open.take());
                    open = attribute(&tag, "href").map(RawLink::to);
                }
                b"area" => {
                    let link = attribute(&tag, "href").map(RawLink::to);
                    found.extend(link.map(|link| link.with_text(attribute(&tag, "alt"))));
                }
                b"img" => open = open.map(|link| link.with_text(attribute(&tag, "alt"))),
                b"br" => open = open.map(|link| link.with_text(Some(" ".to_owned()))),
                _ => {}
            },
            Token::EndTag(tag) if tag.name.as_slice() == b"a" => found.extend(open.take()),
            Token::String(text) => {
                if let Some(link) = &mut open {
                    add_text(&mut link.text, &String::from_utf8_lossy(&text.value));
                }
            }
            Token::EndTag(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    found.extend(open);
    // Spaces before the end tag.
    for link in found.iter_mut().filter(|link| link.text.ends_with(' ')) {
        link.text.pop();
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(&value.value).into_owned())
}

impl RawLink {
    fn to(address: String) -> Self {
        Self { address, text: String::new() }
    }

    fn with_text(mut self, text: Option<String>) -> Self {
        add_text(&mut self.text, &text.unwrap_or_default());
        self
    }
}
