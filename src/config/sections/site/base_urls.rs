//! `front_end_url` of a `[[site]]`: one base URL, or a table by locale. Environment variables win.

use crate::config::value::{Kind, Origin, Value, shown_address};
use crate::config::{Environment, Problems};
use frontend_map_catalog::site::Site;
use frontend_map_platform::suggestion::did_you_mean;
use frontend_map_rules::SiteLocale;
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};

/// The settings of one site from which its base URLs are read.
pub(super) struct Written<'a> {
    pub(super) key: &'a str,
    pub(super) locales: &'a [SiteLocale],
    /// `front_end_url` as written.
    pub(super) file: Option<Value>,
    pub(super) environment: &'a Environment,
}

/// A base URL as text with its origin. An empty text means that there is none (D15).
#[derive(Clone)]
struct Source {
    text: String,
    origin: Origin,
}

/// The base URL of each locale (D15): the variable of the locale wins over that of the site, and that
/// over the file. `None`: there is a problem.
pub(super) fn read(written: Written<'_>, place: &str, problems: &mut Problems) -> Option<Hosts> {
    let Written { key, locales, file, environment } = written;
    let before = problems.count();
    let from_file = by_locale(file, locales, place, problems);
    let from_variable = |name: String| {
        let text = environment.get(&name)?.clone();
        Some(Source { text, origin: Origin::Variable(name) })
    };
    let of_site = from_variable(Site::base_url_variable(key));
    let mut from_file = from_file.unwrap_or_default().into_iter();
    let sources = locales.iter().map(|locale| {
        let of_file = from_file.next().flatten();
        let own = from_variable(Site::locale_variable(key, locale.as_str()));
        own.or_else(|| of_site.clone()).or(of_file)
    });
    let sources: Vec<Option<Source>> = sources.collect();
    let bases = parse_all(sources, place, problems);
    if problems.count() > before {
        return None;
    }
    let hosts = Hosts::new(bases);
    if let Err(conflict) = hosts.check_one_base_url_per_host() {
        let [one, other] = conflict.locales.map(|at| locales[at].as_str());
        let what = format!(
            "the locales `{one}` and `{other}` have different base URLs on the host `{}`: a path belongs to a host; give them the same base URL, or each a host",
            conflict.host
        );
        problems.add(&format!("{place}, front_end_url"), what);
        return None;
    }
    Some(hosts)
}

/// The base URL of each locale in the file; `None`: the file has none, or has a problem.
fn by_locale(
    file: Option<Value>,
    locales: &[SiteLocale],
    place: &str,
    problems: &mut Problems,
) -> Option<Vec<Option<Source>>> {
    let place = format!("{place}, front_end_url");
    let Value { kind, origin } = file?;
    let mut table = match kind {
        Kind::Text(text) => return Some(vec![Some(Source { text, origin }); locales.len()]),
        Kind::Table(table) => table,
        _ => {
            let what = "must be a URL in quotes, or a table by locale such as { en = \"https://example.com\" }";
            problems.add_written(&origin, &place, what);
            return None;
        }
    };
    let mut of = |locale: &SiteLocale| {
        let value = table.remove(locale.as_str())?;
        if let Kind::Text(text) = value.kind {
            return Some(Source { text, origin: value.origin });
        }
        let place = format!("{place}.{}", locale.as_str());
        problems.add_written(&value.origin, &place, "must be a URL in quotes");
        None
    };
    let sources = locales.iter().map(&mut of).collect();
    for (code, value) in table {
        let suggestion = did_you_mean(&code, locales.iter().map(SiteLocale::as_str));
        let code = code.escape_debug();
        let what = format!("the site has no locale `{code}`{suggestion}");
        problems.add_written(&value.origin, &format!("{place}.{code}"), what);
    }
    Some(sources)
}

/// The base URLs; each text with a problem is reported once, although several locales may have it.
fn parse_all(
    sources: Vec<Option<Source>>,
    place: &str,
    problems: &mut Problems,
) -> Vec<Option<BaseUrl>> {
    let mut reported: Vec<Origin> = Vec::new();
    let mut parse = |source: Source| {
        let error = match BaseUrl::parse(&source.text) {
            Ok(base) => return Some(base),
            Err(error) => format!("{} is not a base URL: {error}", shown_address(&source.text)),
        };
        if !reported.contains(&source.origin) {
            match &source.origin {
                Origin::Variable(_) => problems.add_written(&source.origin, place, error),
                Origin::Line(_) => {
                    let place = format!("{place}, front_end_url");
                    problems.add_written(&source.origin, &place, error);
                }
            }
            reported.push(source.origin);
        }
        None
    };
    let is_set = |source: &Source| !source.text.is_empty();
    sources.into_iter().map(|source| parse(source.filter(is_set)?)).collect()
}
