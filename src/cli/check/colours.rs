//! The colours of a report, by its form: lines at the margin are headings, and an indented line begins
//! with a label of one word.

use crate::cli::terminal::{Paint, Tone};

/// The report in colours.
pub(super) fn coloured(report: &str, paint: Paint) -> String {
    report.split_inclusive('\n').map(|line| coloured_line(line, paint)).collect()
}

fn coloured_line(line: &str, paint: Paint) -> String {
    let text = line.trim_end();
    let end = &line[text.len()..];
    if text.is_empty() {
        return line.to_owned();
    }
    if !text.starts_with(' ') {
        let tone = match text.split(':').next() {
            Some("the settings are fine") => Tone::Good,
            Some("warning") => Tone::Warning,
            _ => Tone::Heading,
        };
        return paint.of(tone, text) + end;
    }
    let start = text.len() - text.trim_start().len();
    let (label, rest) = text[start..].split_once(' ').unwrap_or((&text[start..], ""));
    let tone = match label {
        "wins" => Tone::Good,
        "loses" => Tone::Warning,
        _ => Tone::Soft,
    };
    let space = if rest.is_empty() { "" } else { " " };
    format!("{}{}{space}{rest}{end}", &text[..start], paint.of(tone, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coloured_paints_headings_and_labels_and_changes_no_text() {
        let report = "the settings are fine: 1 site\n\nwarning: no x\nnote: two\n  wins   x y\n";
        assert_eq!(coloured(report, Paint::PLAIN), report);
        let expected = "\u{1b}[32mthe settings are fine: 1 site\u{1b}[0m\n\n\
            \u{1b}[33mwarning: no x\u{1b}[0m\n\u{1b}[1mnote: two\u{1b}[0m\n  \u{1b}[32mwins\u{1b}[0m   x y\n";
        assert_eq!(coloured(report, Paint::COLOURED), expected);
    }
}
