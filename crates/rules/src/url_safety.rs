//! Which values can be used in a URL, and what is wrong with the others (D13).

use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};
use strum::{IntoStaticStr, VariantArray};

use crate::encode::{decode_leniently, is_unreserved};

/// Why a value cannot be used in a URL. In the order of D13: the first fault is the reason.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::Display,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Fault {
    /// Absent or null.
    Missing,
    /// Empty, or white space only.
    Empty,
    /// Neither text nor an integer.
    NotString,
    /// A control character (Cc), or a line or paragraph separator.
    ControlChar,
    /// A bidirectional control or another invisible character.
    BidiOrInvisible,
    /// U+FFFD or a noncharacter.
    BadCodepoint,
    /// A `\`.
    Backslash,
    /// A `/` in a placeholder for one segment.
    HasSlash,
    /// An empty segment in a catch-all that is not the last one.
    EmptySegment,
    /// A `/` at the end of a catch-all.
    EndsWithSlash,
    /// `.` or `..`.
    DotSegment,
    /// One of the above faults after one or two percent-decodings.
    UnsafeAfterDecoding,
    /// The placeholder's constraint does not allow this value.
    NotAllowed,
    /// The placeholder is a part of a date, and the field holds no date.
    NotADate,
    /// The document is its own ancestor.
    AncestorCycle,
    /// The document has more ancestors than the settings allow.
    TooManyAncestors,
}

impl Fault {
    /// All of them, in the order of D13.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name that follows `<placeholder>_` in a reason.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How many segments a value may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// One: no `/`.
    One,
    /// One or more, separated by `/`: a catch-all.
    Many,
}

/// Checks a value that goes into a URL. Values are refused, never repaired.
///
/// `before` and `after` are the template's text around the placeholder. The value is checked alone,
/// because a server may decode it alone, and together with that text, because both together may be
/// a percent-escape.
pub(crate) fn check(before: &str, value: &str, after: &str, width: Width) -> Result<(), Fault> {
    check_raw(value, width)?;
    let is_alone = before.is_empty() && after.is_empty();
    if is_unsafe_decoded(value, width)
        || !is_alone && is_unsafe_decoded(&[before, value, after].concat(), width)
    {
        return Err(Fault::UnsafeAfterDecoding);
    }
    Ok(())
}

/// Whether a value is its own percent-encoding and has no fault. True for nearly all values, and
/// cheaper than [`check`].
pub(crate) fn is_plain(value: &str) -> bool {
    is_unreserved(value) && !matches!(value, "" | "." | "..")
}

/// Whether one or two percent-decodings of a text have a fault.
fn is_unsafe_decoded(text: &str, width: Width) -> bool {
    if !text.contains('%') {
        return false;
    }
    let once = decode_leniently(text);
    let twice = decode_leniently(&once);
    [once, twice].iter().any(|decoded| check_raw(decoded, width).is_err())
}

fn check_raw(value: &str, width: Width) -> Result<(), Fault> {
    if value.trim().is_empty() {
        return Err(Fault::Empty);
    }
    if let Some(fault) = value.chars().filter_map(char_fault).min() {
        return Err(fault);
    }
    match width {
        Width::One if value.contains('/') => Err(Fault::HasSlash),
        Width::Many if value.starts_with('/') || value.contains("//") => Err(Fault::EmptySegment),
        Width::Many if value.ends_with('/') => Err(Fault::EndsWithSlash),
        _ if value.split('/').any(|segment| segment == "." || segment == "..") => {
            Err(Fault::DotSegment)
        }
        _ => Ok(()),
    }
}

fn char_fault(c: char) -> Option<Fault> {
    match c {
        '\\' => Some(Fault::Backslash),
        ' '..='~' => None,
        '\u{2028}' | '\u{2029}' => Some(Fault::ControlChar),
        c if c.is_control() => Some(Fault::ControlChar),
        c if is_invisible(c) => Some(Fault::BidiOrInvisible),
        c if c == char::REPLACEMENT_CHARACTER || is_noncharacter(c) => Some(Fault::BadCodepoint),
        _ => None,
    }
}

/// Whether a character is visible and does not change how the text around it is shown.
///
/// The only such filter of the service: reports and terminal output escape all other characters.
pub fn is_visible(c: char) -> bool {
    !matches!(char_fault(c), Some(Fault::ControlChar | Fault::BidiOrInvisible))
        && !is_noncharacter(c)
}

/// `Default_Ignorable_Code_Point` includes the bidirectional controls. The joiners and variation
/// selectors are excepted: real words and emoji are written with them.
fn is_invisible(c: char) -> bool {
    let allowed = matches!(c, '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}');
    !allowed && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// The 66 noncharacters of Unicode, section 23.7.
fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encode;

    #[test]
    fn value_of_one_segment_has_the_first_fault_of_d13() {
        for (value, expected) in [
            ("hello", Ok(())),
            (" hello ", Ok(())),
            ("v1.2...", Ok(())),
            ("100%", Ok(())),
            ("%25252e%25252e", Ok(())),
            ("%c0%ae", Ok(())),
            ("\u{1F469}\u{200D}\u{1F680}\u{FE0F}", Ok(())),
            ("", Err(Fault::Empty)),
            ("\u{A0}\n", Err(Fault::Empty)),
            ("a\u{202E}\u{7}", Err(Fault::ControlChar)),
            ("a\u{2028}b", Err(Fault::ControlChar)),
            ("\u{FFFD}\u{61C}", Err(Fault::BidiOrInvisible)),
            ("a\u{AD}b", Err(Fault::BidiOrInvisible)),
            ("a\u{1FFFE}\\", Err(Fault::BadCodepoint)),
            ("a\u{FDD0}", Err(Fault::BadCodepoint)),
            ("a\\/b", Err(Fault::Backslash)),
            ("../b", Err(Fault::HasSlash)),
            ("..", Err(Fault::DotSegment)),
            (".", Err(Fault::DotSegment)),
            ("%2e", Err(Fault::UnsafeAfterDecoding)),
            ("a%252Fb", Err(Fault::UnsafeAfterDecoding)),
            ("a%2f%ff", Err(Fault::UnsafeAfterDecoding)),
            ("%20", Err(Fault::UnsafeAfterDecoding)),
            ("%EF%BF%BD", Err(Fault::UnsafeAfterDecoding)),
        ] {
            assert_eq!(check("", value, "", Width::One), expected, "{value:?}");
        }
    }

    #[test]
    fn value_of_a_catch_all_has_the_first_fault_of_d13() {
        for (value, expected) in [
            ("2024/05/launch", Ok(())),
            ("a//b", Err(Fault::EmptySegment)),
            ("a/", Err(Fault::EndsWithSlash)),
            ("a//", Err(Fault::EmptySegment)),
            ("/a/", Err(Fault::EmptySegment)),
            ("/a", Err(Fault::EmptySegment)),
            ("a/../b", Err(Fault::DotSegment)),
            ("a/%2e%2E/b", Err(Fault::UnsafeAfterDecoding)),
        ] {
            assert_eq!(check("", value, "", Width::Many), expected, "{value:?}");
        }
    }

    #[test]
    fn invisible_and_bidirectional_characters_are_not_visible() {
        for visible in ['a', ' ', '~', '\\', 'é', '\u{1F680}', '\u{FFFD}', '\u{200D}', '\u{FE0F}']
        {
            assert!(is_visible(visible), "{visible:?}");
        }
        for hidden in ['\n', '\0', '\u{7F}', '\u{85}', '\u{2028}', '\u{202E}', '\u{AD}', '\u{FFFE}']
        {
            assert!(!is_visible(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn value_that_completes_an_escape_with_the_text_around_it_is_unsafe() {
        assert_eq!(check("", "a%2", "f", Width::One), Err(Fault::UnsafeAfterDecoding));
        assert_eq!(check("", "a%2", "-f", Width::One), Ok(()));
        assert_eq!(check("%2", "f", "", Width::One), Err(Fault::UnsafeAfterDecoding));
        assert_eq!(check("", "2f", "%2f", Width::One), Err(Fault::UnsafeAfterDecoding));
    }

    #[test]
    fn value_beside_static_text_is_checked_alone_too() {
        for value in ["%2e%2e", "%2E.", "%252e", "%20", "%2520", "%2e%2e%2f", "%5c"] {
            for [before, after] in [["", ".html"], ["a-", ""], ["a-", ".html"]] {
                let checked = check(before, value, after, Width::One);
                assert_eq!(checked, Err(Fault::UnsafeAfterDecoding), "{before}{value}{after}");
            }
        }
        assert_eq!(check("a-", "v1%2e5", ".html", Width::One), Ok(()));
    }

    proptest! {
        #[test]
        fn plain_values_have_no_fault(value in "[.]{0,3}|[a-zA-Z0-9._~/%-]{0,12}|\\PC{0,3}") {
            if is_plain(&value) {
                prop_assert_eq!(encode(&value), &*value);
                for width in [Width::One, Width::Many] {
                    prop_assert_eq!(check("", &value, "", width), Ok(()));
                    prop_assert_eq!(check("-a", &value, "~.", width), Ok(()));
                }
            }
        }
    }
}
