//! Markdown (`CommonMark`, which Strapi's rich text is) as HTML.

use pulldown_cmark::{Options, Parser, html};

/// Whether a text may have links: without a bracket and an angle bracket there is none, and most texts
/// have neither.
pub(super) fn may_have_links(text: &str) -> bool {
    text.contains(['[', '<'])
}

/// The HTML. The tables of GitHub's dialect are read, because their cells are no code.
pub(super) fn to_html(text: &str) -> String {
    let mut rendered = String::with_capacity(text.len() + text.len() / 4);
    html::push_html(&mut rendered, Parser::new_ext(text, Options::ENABLE_TABLES));
    rendered
}
