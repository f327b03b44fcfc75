//! The result of one URL together with the document and rule that the URL comes from.

use std::fmt;

use serde::{Serialize, Serializer};

use super::HEAD_TIMEOUT;
use super::content::Fault;
use super::targets::Target;
use frontend_map_catalog::site::PAGES;

/// The result of one URL, as it is serialized.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UrlCheck {
    /// The requested URL.
    pub url: String,
    /// The HTTP status; null without a response.
    pub status: Option<u16>,
    /// Whether the status is in the 2xx range.
    pub ok: bool,
    /// The target of a redirect that names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Why there is no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl UrlCheck {
    /// The check of a URL with this result.
    pub fn new(url: String, checked: CheckResult) -> Self {
        let (status, location, reason) = match checked {
            CheckResult::Response { status, location, .. } => (Some(status), location, None),
            CheckResult::Failed(failure) => (None, None, Some(failure.to_string())),
        };
        let ok = status.is_some_and(|status| (200..=299).contains(&status));
        Self { url, status, ok, location, reason }
    }
}

/// A result and its source. Serialized as one flat object: the members in docs/http-api.md first. A
/// page outside the CMS has `page` in place of `documentId` and `rule`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<'t> {
    /// The result.
    pub entry: UrlCheck,
    /// The content-type UID, or [`PAGES`].
    pub content_type: &'t str,
    /// The `documentId`, or the name of a page outside the CMS.
    pub document_id: &'t str,
    /// The locale of the URL.
    pub locale: &'t str,
    /// The template that built the URL, as written in the settings; empty for a page.
    pub rule: &'t str,
    /// The title of the version, if its rule names a field for it; only in reports.
    pub title: Option<&'t str>,
    /// The document in the admin panel of the CMS, if the address of that is set; only in reports.
    pub admin_url: Option<String>,
    /// What is wrong with the page, in the order of reports; none if pages are not judged.
    pub faults: Vec<Fault>,
}

/// A finding as it is serialized.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Members<'f> {
    #[serde(flatten)]
    entry: &'f UrlCheck,
    content_type: &'f str,
    #[serde(flatten)]
    source: Source<'f>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_url: Option<&'f str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    faults: &'f [Fault],
}

/// What a URL comes from, as it is serialized: a document, or a page outside the CMS.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Source<'f> {
    /// A version of a document and the template of its rule.
    Document {
        /// The `documentId`.
        document_id: &'f str,
        /// The locale of the URL.
        locale: &'f str,
        /// The template that built the URL.
        rule: &'f str,
    },
    /// A page outside the CMS.
    Page {
        /// Its name.
        page: &'f str,
        /// The locale of the URL.
        locale: &'f str,
    },
}

impl<'f> Source<'f> {
    /// The source of a target.
    pub fn of(target: &Target<'f>) -> Self {
        Self::new(target.content_type, target.document_id, target.locale, target.rule)
    }

    fn new(content_type: &str, id: &'f str, locale: &'f str, rule: &'f str) -> Self {
        if content_type == PAGES {
            Self::Page { page: id, locale }
        } else {
            Self::Document { document_id: id, locale, rule }
        }
    }
}

impl Serialize for Finding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { entry, content_type, document_id, locale, rule, title, admin_url, faults } =
            self;
        let source = Source::new(content_type, document_id, locale, rule);
        let (title, admin_url) = (*title, admin_url.as_deref());
        Members { entry, content_type, source, title, admin_url, faults }.serialize(serializer)
    }
}

impl<'t> Finding<'t> {
    /// The finding of one target.
    pub fn new(target: Target<'t>, checked: CheckResult) -> Self {
        let Target { url, content_type, document_id, locale, rule } = target;
        let entry = UrlCheck::new(url, checked);
        Self {
            entry,
            content_type,
            document_id,
            locale,
            rule,
            title: None,
            admin_url: None,
            faults: Vec::new(),
        }
    }

    /// With the faults of its page.
    pub fn with_faults(self, faults: Vec<Fault>) -> Self {
        Self { faults, ..self }
    }
}

/// The result of one URL. A failed check is data, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// The head of a response was received.
    Response {
        /// The HTTP status, 100 to 999.
        status: u16,
        /// The `Location` header of a 3xx that has one: at most 2,048 characters, with U+FFFD for
        /// each one that is not visible.
        location: Option<String>,
        /// The seconds in the `Retry-After` of a 429 or 5xx, for retries. No report shows it.
        retry_after: Option<u32>,
    },
    /// No head of a response was received.
    Failed(Failure),
}

/// Why there is no response. `Display` is the `reason` in docs/http-api.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No head of a response within [`HEAD_TIMEOUT`].
    Timeout,
    /// The host name has no address.
    Dns,
    /// No connection: refused or unreachable.
    Refused,
    /// The peer closed or reset the connection before the head of its response was complete.
    Reset,
    /// No TLS connection.
    Tls,
    /// The peer sent something other than the head of an HTTP response.
    InvalidResponse,
    /// No address of the host name is one that a public site may have: no request was sent.
    AddressNotAllowed,
    /// The deadline of the run expired first.
    NotChecked,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = match self {
            Self::Timeout => return write!(f, "timeout after {}ms", HEAD_TIMEOUT.as_millis()),
            Self::Dns => "dns",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Tls => "tls",
            Self::InvalidResponse => "invalid response",
            Self::AddressNotAllowed => "address not allowed",
            Self::NotChecked => return f.write_str("not checked: deadline"),
        };
        write!(f, "fetch failed: {cause}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Failure;

    #[test]
    fn finding_is_serialized_as_an_entry_with_its_source() {
        let target = Target {
            url: "https://www.example.com/en/articles/hello".to_owned(),
            content_type: "api::article.article",
            document_id: "a1",
            locale: "en",
            rule: "/{locale}/articles/{slug}",
        };
        let finding = Finding::new(target, CheckResult::Failed(Failure::Refused));
        assert_eq!(
            serde_json::to_string(&finding).unwrap(),
            concat!(
                r#"{"url":"https://www.example.com/en/articles/hello","status":null,"ok":false,"#,
                r#""reason":"fetch failed: refused","contentType":"api::article.article","#,
                r#""documentId":"a1","locale":"en","rule":"/{locale}/articles/{slug}"}"#
            )
        );
    }
}
