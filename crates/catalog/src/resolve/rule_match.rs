//! The answer of `/api/get-content-type`, whose members `/api/resolve` has too: the rule that matches, and
//! the locale of the pathname.

use serde::{Serialize, Serializer};

use crate::site::Site;
use frontend_map_rules::{Locale, Match, Params, SiteLocale};

/// The pathname of a request.
#[derive(Clone, Copy, Debug)]
pub struct Requested<'a> {
    /// As requested.
    pub pathname: &'a str,
    /// The locale of the parameter.
    pub locale: Option<&'a Locale>,
    /// The position of the host of the request among the site's hosts, if the site has several.
    pub host: Option<usize>,
}

/// A pathname, and the rule that matches it.
#[derive(Debug, Serialize)]
pub struct PathMatch<'a> {
    /// The key of the site.
    pub site: &'a str,
    /// As requested.
    pub pathname: &'a str,
    /// The locale of the path, else of the request.
    pub locale: &'a str,
    /// The rule.
    pub matched: RuleMatch<'a>,
}

/// A rule that matches a pathname.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleMatch<'a> {
    /// Its content type.
    pub collection_type: &'a str,
    /// Its template.
    pub rule: &'a str,
    /// The values of its placeholders.
    pub params: ParamValues<'a>,
}

/// The values of placeholders, and always `locale`.
#[derive(Clone, Copy, Debug)]
pub struct ParamValues<'a> {
    /// The locale of a path that does not have it.
    pub locale: &'a str,
    /// The values in the path.
    pub captured: Option<Params<'a>>,
}

/// The answer with `compact=true`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactMatch<'a> {
    /// The content type of the rule.
    pub content_type: &'a str,
}

impl<'a> PathMatch<'a> {
    /// Of a match. The host of the request is `requested.host`, else that of the document.
    pub fn new(site: &'a Site, requested: Requested<'a>, found: &Match<'a>) -> Self {
        let locale = locale(site, requested, found);
        let params = ParamValues { locale, captured: Some(found.params) };
        let (collection_type, rule) = (found.rule.content_type.as_str(), found.template.as_str());
        let matched = RuleMatch { collection_type, rule, params };
        Self { site: &site.key, pathname: requested.pathname, locale, matched }
    }
}

/// The locale of a match: the path decides; if it has no locale, the parameter does, if the site and the
/// host have it (D9); else it is the first that the path can have.
fn locale<'a>(site: &'a Site, requested: Requested<'a>, found: &Match<'a>) -> &'a str {
    if let Some(own) = found.locale {
        return own.code().as_str();
    }
    let locales = site.rules.locales();
    let is_shared = |locale: &&Locale| found.shared.is_empty() || found.shared.contains(locale);
    let wanted = requested.locale.and_then(|locale| locales.get(locale.as_str()));
    let mut wanted = wanted.map(SiteLocale::code).filter(is_shared);
    let mut first = found.shared.first().unwrap_or(locales.default_locale().code());
    if let Some(host) = requested.host {
        let mut on_host = site.hosts.locales_of(host).map(|at| &locales.codes()[at]);
        wanted = wanted.filter(|locale| on_host.clone().any(|own| own == *locale));
        first = on_host.find(is_shared).unwrap_or(first);
    }
    wanted.unwrap_or(first).as_str()
}

impl Serialize for ParamValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let has_locale = self.captured.is_some_and(Params::has_locale);
        let locale = (!has_locale).then_some(("locale", self.locale));
        let captured = self.captured.into_iter().flat_map(Params::iter);
        serializer.collect_map(locale.into_iter().chain(captured))
    }
}
