//! Human-readable numbers and durations, and line wrapping.

use std::time::Duration;

use indicatif::HumanCount;

/// A number of things: `1 URL`, `1,234 URLs`. The plural is the singular and `s`.
pub(in crate::cli) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{} {thing}s", digits(number)) }
}

/// A number with a comma between each three digits.
pub(in crate::cli) fn digits(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A duration: `0.4 s`, `12 s`, `2 min 5 s`, `1 h 3 min`.
pub(in crate::cli) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    // Rounded first, so that there is no `60 s`.
    let seconds = (duration + Duration::from_millis(500)).as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// The text in lines of at most `width` columns, each with the indent. Longer words have a line of
/// their own.
pub(in crate::cli) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length <= width {
            lines.push(' ');
            column += 1;
        } else {
            lines.push_str(if column > 0 { "\n" } else { "" });
            lines.push_str(indent);
            column = indent.chars().count();
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_has_plurals_and_separators() {
        let urls = [0, 1, 2, 1_234, 1_000_000].map(|number| count(number, "URL"));
        assert_eq!(urls, ["0 URLs", "1 URL", "2 URLs", "1,234 URLs", "1,000,000 URLs"]);
    }

    #[test]
    fn duration_has_at_most_two_units() {
        for (milliseconds, expected) in [
            (0, "0.0 s"),
            (420, "0.4 s"),
            (9_940, "9.9 s"),
            (9_960, "10 s"),
            (59_400, "59 s"),
            (59_600, "1 min"),
            (125_000, "2 min 5 s"),
            (3_599_600, "1 h"),
            (3_780_000, "1 h 3 min"),
        ] {
            assert_eq!(duration(Duration::from_millis(milliseconds)), expected);
        }
    }

    #[test]
    fn wrapped_breaks_lines_between_words_only() {
        assert_eq!(wrapped("a bb  ccc", 6, "  "), "  a bb\n  ccc");
        assert_eq!(wrapped("too-long-for-a-line x", 6, "  "), "  too-long-for-a-line\n  x");
        assert_eq!(wrapped("", 6, "  "), "");
    }
}
