//! Lines in columns, for a terminal.

use std::fmt::Write as _;

use crate::cli::output::terminal::{Colours, Style};

/// The cells of a line.
pub(super) type Line = Vec<String>;

/// Adds lines in columns. Only in the last column may characters take more than one cell.
pub(super) fn add(text: &mut String, heading: &str, lines: &[Line], colours: Colours) {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{}", colours.apply(Style::Heading, heading));
    for line in lines {
        let mut row = String::from("  ");
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(row, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
}
