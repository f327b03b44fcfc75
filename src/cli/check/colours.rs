//! The colours of a report, by its form: lines at the margin are headings, and an indented line begins
//! with a label of one word.

use crate::cli::output::terminal::{Colours, Style};

/// The report in colours.
pub(super) fn coloured(report: &str, colours: Colours) -> String {
    report.split_inclusive('\n').map(|line| coloured_line(line, colours)).collect()
}

fn coloured_line(line: &str, colours: Colours) -> String {
    let text = line.trim_end();
    let end = &line[text.len()..];
    if text.is_empty() {
        return line.to_owned();
    }
    if !text.starts_with(' ') {
        let style = match text.split(':').next() {
            Some("the settings are fine") => Style::Good,
            Some("warning") => Style::Warning,
            _ => Style::Heading,
        };
        return colours.apply(style, text) + end;
    }
    let start = text.len() - text.trim_start().len();
    let (label, rest) = text[start..].split_once(' ').unwrap_or((&text[start..], ""));
    let style = match label {
        "wins" => Style::Good,
        "loses" => Style::Warning,
        _ => Style::Dim,
    };
    let space = if rest.is_empty() { "" } else { " " };
    format!("{}{}{space}{rest}{end}", &text[..start], colours.apply(style, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coloured_colours_headings_and_labels_and_changes_no_text() {
        let report = "the settings are fine: 1 site\n\nwarning: no x\nnote: two\n  wins   x y\n";
        assert_eq!(coloured(report, Colours::PLAIN), report);
        let expected = "\u{1b}[32mthe settings are fine: 1 site\u{1b}[0m\n\n\
            \u{1b}[33mwarning: no x\u{1b}[0m\n\u{1b}[1mnote: two\u{1b}[0m\n  \u{1b}[32mwins\u{1b}[0m   x y\n";
        assert_eq!(coloured(report, Colours::COLOURED), expected);
    }
}
