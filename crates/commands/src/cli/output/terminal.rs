//! What the output of commands depends on: colours, the width of the terminal, a closed stdout.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;

use frontend_map_outbound::checks::report::Class;

/// The widest prose, in columns: longer lines are hard to read.
const MAX_WIDTH: usize = 90;
/// The narrowest prose: below, words are longer than lines.
const MIN_WIDTH: usize = 30;

/// Whether to use colours.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Colours(bool);

/// What a colour stands for.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) enum Style {
    Good,
    Warning,
    Bad,
    Heading,
    Dim,
}

impl Colours {
    /// Colours are used only on a terminal that has them, and unless `NO_COLOR` is set
    /// (<https://no-color.org>).
    pub(in crate::cli) fn new(is_terminal: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_none_or(|term| term == "dumb");
        Self(is_terminal && !dumb && set("NO_COLOR").is_none())
    }

    /// The colours of stdout.
    pub(in crate::cli) fn of_stdout() -> Self {
        Self::new(io::stdout().is_terminal())
    }

    /// No colours.
    #[cfg(test)]
    pub(in crate::cli) const PLAIN: Self = Self(false);
    /// Colours, whatever the environment says.
    #[cfg(test)]
    pub(in crate::cli) const COLOURED: Self = Self(true);

    /// The text, in the colour of `style`.
    pub(in crate::cli) fn apply(self, style: Style, text: impl Display) -> String {
        let code = match style {
            Style::Good => "32",
            Style::Warning => "33",
            Style::Bad => "31;1",
            Style::Heading => "1",
            Style::Dim => "2",
        };
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

impl From<Class> for Style {
    fn from(class: Class) -> Self {
        match class {
            Class::Success => Self::Good,
            Class::Redirect => Self::Warning,
            _ => Self::Bad,
        }
    }
}

/// The width of prose on stdout, in columns.
pub(in crate::cli) fn prose_width() -> usize {
    let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    // A terminal may not know its width; then it is 0.
    if columns == 0 { MAX_WIDTH } else { columns.clamp(MIN_WIDTH, MAX_WIDTH) }
}

/// Whether the error says that the reader of stdout has closed the pipe, as `head` does. There is
/// nothing to report then.
pub(in crate::cli) fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
