//! `locales` of a `[[site]]`: each a code, or a table with its code, segment and `hreflang`.

use config::{Value, ValueKind};

use crate::config::section::Section;
use crate::config::value::{elements, origin, text};
use frontend_map_rules::{HreflangError, Locale, SiteLocale};

/// The locales of a site as they are listed; `None`: there is a problem.
pub(super) fn read(site: &mut Section<'_>) -> Option<Vec<SiteLocale>> {
    let is_set = site.has("locales");
    let Some(list) = site.optional("locales", elements) else {
        return (!is_set).then(Vec::new);
    };
    // All are read before the first `None` ends it, so that every problem is reported.
    let locales = list.iter().enumerate().map(|(at, value)| entry(at + 1, value, site));
    let locales: Vec<Option<SiteLocale>> = locales.collect();
    locales.into_iter().collect()
}

fn entry(at: usize, value: &Value, site: &Section<'_>) -> Option<SiteLocale> {
    let table = match &value.kind {
        ValueKind::Table(table) => table.clone(),
        ValueKind::String(_) => [("code".to_owned(), value.clone())].into(),
        _ => {
            let what = "must be a code in quotes, or a table such as { code = \"de\", segment = \"deutsch\" }";
            site.reader.add(value.origin(), &site.named(&format!("locale {at}")), what);
            return None;
        }
    };
    let code = table.get("code").and_then(|code| text(code).ok());
    let place =
        code.map_or(format!("locale {at}"), |code| format!("locale `{}`", code.escape_debug()));
    site.child("locales", &site.named(&place), origin(value), table, locale)
}

/// Does not return early, so that all problems of a locale are reported.
fn locale(entry: &mut Section<'_>) -> Option<SiteLocale> {
    let code = entry.required("code", text);
    let [segment, hreflang] = ["segment", "hreflang"].map(|key| entry.optional(key, text));
    let locale: SiteLocale = entry.check("", Locale::parse(&code?))?.into();
    let tagged = match hreflang {
        Some(hreflang) => locale.clone().with_hreflang(&hreflang),
        // A code that is no language tag only causes a warning.
        None => match locale.check_hreflang() {
            Err(error @ HreflangError::Default) => Err(error),
            Ok(()) | Err(HreflangError::Tag(_)) => Ok(locale.clone()),
        },
    };
    let tagged = entry.check("hreflang", tagged);
    let known = tagged.clone().unwrap_or(locale);
    let whole = match segment {
        Some(segment) => entry.check("segment", known.with_segment(&segment)),
        None => Some(known),
    };
    tagged.and(whole)
}
