//! Timestamps as text (ISO 8601). Strapi and sitemaps write them in one form, once for each
//! document; writing it has a fast path, with the calendar left to `jiff`.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};

/// The form of Strapi and sitemaps, with zeros as digits.
const FORM: [u8; 24] = *b"0000-00-00T00:00:00.000Z";
/// The positions of its numbers.
const YEAR: Span = (0, 4);
const MONTH: Span = (5, 7);
const DAY: Span = (8, 10);
const HOUR: Span = (11, 13);
const MINUTE: Span = (14, 16);
const SECOND: Span = (17, 19);
const MILLISECOND: Span = (20, 23);

type Span = (usize, usize);

const NANOSECOND_DIGITS: usize = 9;
/// The nanoseconds of a millisecond.
const MILLION: i128 = 1_000_000;

/// The timestamp of a text, or the beginning of its day in UTC.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let day = || {
        let midnight = text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(midnight.timestamp())
    };
    text.parse().ok().or_else(day)
}

/// The last millisecond since 1970 that is not after a time in the form of RFC 3339, section 5.6: a
/// date and a time of day with seconds and an offset. No date at or after the time is before it, as
/// snapshots have dates: in whole milliseconds.
pub fn read_rfc3339(text: &str) -> Option<i64> {
    let (date_and_time, rest) = text.as_bytes().split_at_checked(19)?;
    let is_form = |(form, byte): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'T' => byte.eq_ignore_ascii_case(&b'T'),
        form => form == byte,
    };
    let digits = rest.strip_prefix(b".").unwrap_or_default();
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let fraction = if rest.starts_with(b".") { 1 + digits } else { 0 };
    let is_offset = match &rest[fraction..] {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => {
            [a, b, c, d].into_iter().all(u8::is_ascii_digit) && [*a, *b] <= *b"23"
        }
        _ => false,
    };
    // jiff reads more forms, such as a time without seconds or an offset of 25 hours.
    if !FORM[..19].iter().zip(date_and_time).all(is_form) || !is_offset || fraction == 1 {
        return None;
    }
    // jiff reads at most nanoseconds.
    let kept = fraction.min(1 + NANOSECOND_DIGITS);
    let text = format!("{}{}", &text[..19 + kept], &text[19 + fraction..]);
    let nanoseconds = text.parse::<Timestamp>().ok()?.as_nanosecond();
    i64::try_from(nanoseconds.div_euclid(MILLION)).ok()
}

/// The milliseconds since 1970 of a date in the form of a sitemap's `lastmod`: a W3C datetime with a
/// day, `2024-03-06`, which begins in UTC, or with a time of day and an offset.
pub fn read_w3c(text: &str) -> Option<i64> {
    let is_minute = |text: &str| text.as_bytes().get(16).is_some_and(|byte| b"Z+-".contains(byte));
    match text.len() {
        10 => read_rfc3339(&format!("{text}T00:00:00Z")),
        // RFC 3339 needs seconds.
        _ if is_minute(text) => {
            let (minute, offset) = text.split_at_checked(16)?;
            read_rfc3339(&format!("{minute}:00{offset}"))
        }
        _ => read_rfc3339(text),
    }
}

/// A timestamp by RFC 3339, in UTC and milliseconds; `None` for a year without four digits.
pub fn text(milliseconds: i64) -> Option<String> {
    let mut out = String::new();
    write(&mut out, milliseconds).then_some(out)
}

/// Appends a timestamp in the form of Strapi and sitemaps, which has years of four digits. Returns whether
/// the timestamp has such a form; if not, nothing is appended.
///
/// # Panics
/// Never: the form is ASCII.
pub fn write(out: &mut String, milliseconds: i64) -> bool {
    let moment = Timestamp::from_millisecond(milliseconds);
    let Ok(moment) = moment.map(|moment| Offset::UTC.to_datetime(moment)) else { return false };
    let Ok(year) = u16::try_from(moment.year()) else { return false };
    let mut text = FORM;
    put(&mut text, YEAR, year);
    for (span, number) in [
        (MONTH, moment.month()),
        (DAY, moment.day()),
        (HOUR, moment.hour()),
        (MINUTE, moment.minute()),
        (SECOND, moment.second()),
    ] {
        put(&mut text, span, number.unsigned_abs().into());
    }
    put(&mut text, MILLISECOND, moment.millisecond().unsigned_abs());
    out.push_str(str::from_utf8(&text).expect("digits and punctuation are ASCII"));
    true
}

fn put(text: &mut [u8; 24], (start, end): Span, mut number: u16) {
    for place in text[start..end].iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).expect("a digit");
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn leap_second_is_the_one_before_it() {
        assert_eq!(read("2016-12-31T23:59:60.649Z"), read("2016-12-31T23:59:59.649Z"));
    }

    proptest! {
        #[test]
        fn write_agrees_with_jiff(
            milliseconds in -62_167_219_200_000..253_402_207_200_000_i64
        ) {
            let mut text = String::new();
            prop_assert!(write(&mut text, milliseconds));
            let moment = Timestamp::from_millisecond(milliseconds).unwrap();
            prop_assert_eq!(&text, &format!("{moment:.3}"));
            prop_assert_eq!(read(&text), Some(moment));
        }

        #[test]
        fn write_appends_nothing_for_years_without_four_digits(milliseconds in any::<i64>()) {
            let mut text = String::new();
            if write(&mut text, milliseconds) {
                prop_assert_eq!(read(&text).map(Timestamp::as_millisecond), Some(milliseconds));
            } else {
                prop_assert!(text.is_empty());
            }
        }
    }
}
