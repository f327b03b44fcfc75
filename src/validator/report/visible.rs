//! Text of others as people may be shown it.

use std::fmt::{self, Write as _};

use crate::rules::is_visible;

/// Shows each character that cannot be seen, or that moves others, by its number: `\u{202e}`. What
/// a front end sends must neither drive a terminal nor turn a line around.
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
