//! Text from outside, made safe to show.

use std::fmt::{self, Write as _};

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
