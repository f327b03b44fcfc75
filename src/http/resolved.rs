//! What is said of a pathname that belongs to a rule, as a text and as an answer.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::Full;

use super::envelope::{Answer, JSON, whole};
use super::etag;
use super::json::Json;
use crate::rules::{Locale, Match};
use crate::site::Site;

/// A match as shape 2.2 has it.
pub(super) struct Resolved<'a, 'm> {
    site: &'a Site,
    pathname: &'a str,
    locale: &'a str,
    found: &'a Match<'m>,
}

impl<'a, 'm> Resolved<'a, 'm> {
    /// `asked` is the locale of the parameter.
    pub(super) fn new(
        site: &'a Site,
        pathname: &'a str,
        found: &'a Match<'m>,
        asked: Option<&Locale>,
    ) -> Self {
        let locales = site.rules.locales();
        // The path decides; if it says none, the parameter does, if it is one of the site's (D9).
        let asked = asked.and_then(|locale| locales.get(locale.as_str()));
        let asked = asked.filter(|asked| found.shared.is_empty() || found.shared.contains(asked));
        let first = found.shared.first().unwrap_or(locales.default_locale());
        let locale = found.locale.or(asked).unwrap_or(first).as_str();
        Self { site, pathname, locale, found }
    }

    /// Writes the members without the braces around them.
    pub(super) fn write(&self, json: &mut Json) {
        json.raw(r#""site":"#).word(&self.site.key);
        json.raw(r#","pathname":"#).text(self.pathname);
        json.raw(r#","locale":"#).word(self.locale);
        json.raw(r#","matched":{"collectionType":"#).word(self.found.rule.content_type.as_str());
        json.raw(r#","rule":"#).text(self.found.template.as_str());
        json.raw(r#","params":"#);
        self.write_params(json);
        json.raw("}");
    }

    /// The placeholders' values, and always `locale`.
    fn write_params(&self, json: &mut Json) {
        let mut separator = "{";
        if !self.found.params.has("locale") {
            json.raw(r#"{"locale":"#).word(self.locale);
            separator = ",";
        }
        for (name, value) in self.found.params.iter() {
            json.raw(separator).word(name).raw(":").text(value);
            separator = ",";
        }
        json.raw("}");
    }
}

/// 200 with this text, tagged by its bytes; a client that has them gets a 304 without a body
/// (RFC 9110, section 15.4.5).
pub(super) fn conditional(text: Vec<u8>, policy: &HeaderValue, request: HeaderMap) -> Answer {
    let tag = etag::tag(&text);
    let known = etag::is_known(&tag, &request);
    let mut answer = if known {
        whole(StatusCode::NOT_MODIFIED, Full::default(), request)
    } else {
        whole(StatusCode::OK, Full::from(text), request)
    };
    let headers = answer.headers_mut();
    if !known {
        headers.insert(CONTENT_TYPE, JSON);
    }
    headers.insert(ETAG, tag);
    headers.insert(CACHE_CONTROL, policy.clone());
    answer
}
