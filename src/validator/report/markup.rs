//! Text inside XML and HTML.

use std::fmt::{self, Write as _};

use super::Visible;

/// Text of others between tags or inside a quoted attribute. What XML 1.0 forbids is among what
/// [`Visible`] shows by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Markup<'a>(pub(super) &'a str);

impl fmt::Display for Markup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in Visible(self.0).to_string().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn every_character_makes_good_xml_and_comes_back_as_it_is_shown() {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for some in all.chunks(4096) {
            let text = format!("]]>{}</a>&amp;", String::from_iter(some));
            let xml = format!("<a b=\"{0}\">{0}</a>", Markup(&text));
            let parsed = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
            let shown = Visible(&text).to_string();
            assert_eq!(parsed.root_element().attribute("b"), Some(&*shown));
            assert_eq!(parsed.root_element().text(), Some(&*shown));
        }
    }
}
