//! Text from outside, made safe to show.

use std::fmt::{self, Write as _};

use quick_xml::escape::escape;

use frontend_map_rules::is_visible;

/// Shows each character that is not visible by its number, such as `\u{202e}`: text from a frontend must
/// neither control a terminal nor reverse the direction of a line.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'a>(pub &'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if is_visible(c) {
                f.write_char(c)?;
            } else {
                write!(f, "{}", c.escape_unicode())?;
            }
        }
        Ok(())
    }
}

/// Text of others between tags or inside a quoted attribute. Characters that XML 1.0 forbids are
/// among those that [`Visible`] shows by their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct XmlText<'a>(pub(super) &'a str);

impl fmt::Display for XmlText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(Visible(self.0).to_string()))
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn every_character_makes_well_formed_xml_and_is_read_back_as_it_is_shown() {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for some in all.chunks(4096) {
            let text = format!("]]>{}</a>&amp;", String::from_iter(some));
            let xml = format!("<a b=\"{0}\">{0}</a>", XmlText(&text));
            let parsed = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
            let shown = Visible(&text).to_string();
            assert_eq!(parsed.root_element().attribute("b"), Some(&*shown));
            assert_eq!(parsed.root_element().text(), Some(&*shown));
        }
    }
}
