//! `locales` of a `[[site]]`: each a code, or a table with its code, segment and `hreflang`.

use serde::Deserialize;

use crate::config::value::{Kind, Value};
use crate::config::{Problems, table};
use frontend_map_rules::{HreflangError, Locale, SiteLocale};

#[derive(Debug, Deserialize)]
#[serde(expecting = "a table such as { code = \"de\", segment = \"deutsch\" }")]
struct LocaleToml {
    code: String,
    segment: Option<String>,
    hreflang: Option<String>,
}

/// The locales of a site as they are listed; `None`: there is a problem. `list` is the list as
/// written.
pub(super) fn read(
    list: Option<Value>,
    place: &str,
    problems: &mut Problems,
) -> Option<Vec<SiteLocale>> {
    let Some(Value { kind: Kind::List(values), origin }) = list else {
        return Some(Vec::new());
    };
    let outer = problems.enter(Some(origin));
    let locales = read_list(values, place, problems);
    problems.enter(outer);
    locales
}

fn read_list(values: Vec<Value>, place: &str, problems: &mut Problems) -> Option<Vec<SiteLocale>> {
    let read = |(at, value)| entry(at + 1, value, place, problems);
    // All are read before the first `None` ends it, so that every problem is reported.
    let locales: Vec<Option<SiteLocale>> = values.into_iter().enumerate().map(read).collect();
    locales.into_iter().collect()
}

fn entry(at: usize, value: Value, place: &str, problems: &mut Problems) -> Option<SiteLocale> {
    let outer = problems.enter(Some(value.origin.clone()));
    let locale = entry_at_origin(at, value, place, problems);
    problems.enter(outer);
    locale
}

fn entry_at_origin(
    at: usize,
    value: Value,
    place: &str,
    problems: &mut Problems,
) -> Option<SiteLocale> {
    let code = value.table().and_then(|table| table.get("code"));
    let code = code.unwrap_or(&value).text();
    let place = code.map_or(format!("{place}, locale {at}"), |code| {
        format!("{place}, locale `{}`", code.escape_debug())
    });
    let toml = match value.kind {
        Kind::Text(code) => LocaleToml { code, segment: None, hreflang: None },
        Kind::Table(_) => table::one(value, "site.locales", &place, problems)?,
        _ => {
            let what = "must be a code in quotes, or a table such as { code = \"de\", segment = \"deutsch\" }";
            problems.add(&place, what);
            return None;
        }
    };
    locale(toml, &place, problems)
}

/// Does not return early, so that all problems of a locale are reported.
fn locale(toml: LocaleToml, place: &str, problems: &mut Problems) -> Option<SiteLocale> {
    let locale: SiteLocale = problems.take(place, Locale::parse(&toml.code))?.into();
    let tagged = match toml.hreflang {
        Some(hreflang) => locale.clone().with_hreflang(&hreflang),
        // A code that is no language tag only causes a warning.
        None => match locale.check_hreflang() {
            Err(error @ HreflangError::Default) => Err(error),
            Ok(()) | Err(HreflangError::Tag(_)) => Ok(locale.clone()),
        },
    };
    let tagged = problems.take(&format!("{place}, hreflang"), tagged);
    let known = tagged.clone().unwrap_or(locale);
    let whole = match toml.segment {
        Some(segment) => problems.take(&format!("{place}, segment"), known.with_segment(&segment)),
        None => Some(known),
    };
    tagged.and(whole)
}
