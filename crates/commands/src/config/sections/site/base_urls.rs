//! `front_end_url` of a `[[site]]`: one base URL, or a table by locale. Environment variables win.

use config::{Value, ValueKind};

use crate::config::section::{Section, table};
use crate::config::value::{line, origin, shown_address};
use frontend_map_catalog::site::Site;
use frontend_map_platform::spelling::did_you_mean;
use frontend_map_rules::SiteLocale;
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};

/// A base URL as text with its origin. An empty text means that there is none (D15).
#[derive(Clone)]
struct Source {
    text: String,
    origin: Option<String>,
}

/// The base URL of each locale (D15): the variable of the locale wins over that of the site, and that
/// over the file. `None`: there is a problem, or key or locales have one.
pub(super) fn read(
    site: &mut Section<'_>,
    key: Option<&str>,
    locales: Option<&[SiteLocale]>,
) -> Option<Hosts> {
    let file = site.take("front_end_url");
    let (key, locales) = (key?, locales?);
    let before = site.reader.count();
    let from_file = file.and_then(|file| by_locale(&file, locales, site));
    let from_variable = |name: String| {
        let text = site.reader.environment.get(&name)?.clone();
        Some(Source { text, origin: Some(name) })
    };
    let of_site = from_variable(Site::base_url_variable(key));
    let mut from_file = from_file.unwrap_or_default().into_iter();
    let sources = locales.iter().map(|locale| {
        let of_file = from_file.next().flatten();
        let own = from_variable(Site::locale_variable(key, locale.as_str()));
        own.or_else(|| of_site.clone()).or(of_file)
    });
    let sources: Vec<Option<Source>> = sources.collect();
    let bases = parse_all(sources, site);
    if site.reader.count() > before {
        return None;
    }
    let hosts = Hosts::new(bases);
    if let Err(conflict) = hosts.check_one_base_url_per_host() {
        let [one, other] = conflict.locales.map(|at| locales[at].as_str());
        let what = format!(
            "the locales `{one}` and `{other}` have different base URLs on the host `{}`: a path belongs to a host; give them the same base URL, or each a host",
            conflict.host
        );
        site.problem("front_end_url", what);
        return None;
    }
    Some(hosts)
}

/// The base URL of each locale in the file; `None`: it has a problem.
fn by_locale(
    file: &Value,
    locales: &[SiteLocale],
    site: &Section<'_>,
) -> Option<Vec<Option<Source>>> {
    if let ValueKind::String(text) = &file.kind {
        let source = Source { text: text.clone(), origin: origin(file) };
        return Some(vec![Some(source); locales.len()]);
    }
    let Ok(table) = table(file) else {
        let what = "must be a URL in quotes, or a table by locale such as { en = \"https://example.com\" }";
        site.problem("front_end_url", what);
        return None;
    };
    let mut sources = vec![None; locales.len()];
    for (code, value) in table {
        let problem = |what: &str| {
            let place = site.named(&format!("front_end_url.{}", code.escape_debug()));
            site.reader.add(value.origin(), &place, what);
        };
        let known = || locales.iter().map(SiteLocale::as_str);
        match (known().position(|known| *known == code), &value.kind) {
            (Some(at), ValueKind::String(text)) => {
                sources[at] = Some(Source { text: text.clone(), origin: origin(&value) });
            }
            (Some(_), _) => problem("must be a URL in quotes"),
            (None, _) => {
                let suggestion = did_you_mean(&code, known());
                let code = code.escape_debug();
                problem(&format!("the site has no locale `{code}`{suggestion}"));
            }
        }
    }
    Some(sources)
}

/// The base URLs; each text with a problem is reported once, although several locales may have it.
fn parse_all(sources: Vec<Option<Source>>, site: &Section<'_>) -> Vec<Option<BaseUrl>> {
    let mut reported: Vec<Option<String>> = Vec::new();
    let mut parse = |Source { text, origin }: Source| {
        let error = match BaseUrl::parse(&text) {
            Ok(base) => return Some(base),
            Err(error) => format!("{} is not a base URL: {error}", shown_address(&text)),
        };
        if !reported.contains(&origin) {
            let is_variable = origin.as_deref().is_some_and(|origin| line(origin).is_none());
            let key = if is_variable { "" } else { "front_end_url" };
            site.reader.add(origin.as_deref(), &site.named(key), error);
            reported.push(origin);
        }
        None
    };
    let is_set = |source: &Source| !source.text.is_empty();
    sources.into_iter().map(|source| parse(source.filter(is_set)?)).collect()
}
