//! Why there is no content (D27).

mod redirect;
mod setup;

pub use redirect::Redirect;
pub use setup::{QueryPart, SetupProblem};

use std::fmt;

use frontend_map_rules::ContentTypeUid;

/// Why there is no content (D27). `Display` is the text for clients: it has no body, address or
/// token of the CMS. [`ContentError::detail`] is the text for operators. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The CMS cannot be reached, broke the connection, or returned 429 or 5xx: 503.
    #[error("the CMS is not available")]
    Unavailable {
        /// The CMS's `Retry-After` in seconds, if it sent one.
        retry_after: Option<u64>,
        /// What has failed.
        outage: Outage,
    },
    /// The CMS returned a plain 500 for this content type, which says nothing about others: 503.
    #[error("the CMS is not available for {uid}: it returned 500")]
    TypeFails {
        /// The content type.
        uid: ContentTypeUid,
        /// The CMS's `Retry-After` in seconds, if it sent one.
        retry_after: Option<u64>,
    },
    /// No request was sent, because the circuit breaker is open: 503.
    #[error("the CMS is not available")]
    CircuitOpen {
        /// What is left of the CMS's `Retry-After` in seconds, if it sent one.
        retry_after: Option<u64>,
        /// What has failed last.
        cause: Option<Outage>,
    },
    /// The CMS did not respond in time: 504.
    #[error("the CMS did not respond in time")]
    TimedOut,
    /// The TLS handshake with the CMS failed: 502. The text for clients does not say so.
    #[error("the CMS sent an unusable response")]
    TlsFailed,
    /// The CMS sent a response that cannot be used: 502.
    #[error("the CMS sent an unusable response: {0}")]
    Unusable(&'static str),
    /// The CMS, or a proxy in front of it, redirects the request: 502. The text for clients does not say
    /// where to.
    #[error("the CMS sent an unusable response: a redirect ({}); correct cms.url", .0.status)]
    Redirected(Redirect),
    /// The token, the permissions or the content types of the CMS do not fit the settings: 502.
    #[error("the CMS sent an unusable response: {0}")]
    Setup(SetupProblem),
}

impl ContentError {
    /// The CMS is not available and did not say for how long.
    pub const fn unavailable(outage: Outage) -> Self {
        Self::Unavailable { retry_after: None, outage }
    }

    /// Whether the CMS did not respond, or a proxy responded in its place.
    pub const fn is_without_response(&self) -> bool {
        match self {
            Self::Unavailable { .. }
            | Self::CircuitOpen { .. }
            | Self::TlsFailed
            | Self::TimedOut => true,
            Self::TypeFails { .. } | Self::Unusable(_) | Self::Redirected(_) | Self::Setup(_) => {
                false
            }
        }
    }

    /// The text for operators: in the log and in the output of commands, never in a response.
    pub fn detail(&self) -> String {
        match self {
            Self::Unavailable { outage, .. } => format!("{self}: {outage}"),
            Self::CircuitOpen { cause: Some(cause), .. } => {
                format!("{self}: {cause}; the circuit breaker is open")
            }
            Self::CircuitOpen { cause: None, .. } => format!("{self}: the circuit breaker is open"),
            Self::TlsFailed => {
                "the TLS handshake with the CMS failed: check its certificate, and whether cms.url should begin with http://".to_owned()
            }
            Self::TypeFails { .. } | Self::TimedOut | Self::Unusable(_) => self.to_string(),
            Self::Redirected(redirect) => format!("{redirect}: {}", redirect.remedy()),
            Self::Setup(problem) => problem.to_string(),
        }
    }
}

impl From<SetupProblem> for ContentError {
    fn from(problem: SetupProblem) -> Self {
        Self::Setup(problem)
    }
}

/// What has failed where the CMS is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// The name of the CMS's host has no address.
    NameNotFound,
    /// No connection: refused, or the network is unreachable.
    ConnectionRefused,
    /// No connection in time.
    ConnectTimeout,
    /// The connection broke before the response was complete.
    ConnectionBroken,
    /// The response was not complete in time.
    NoResponse,
    /// 429 or 5xx.
    Status(u16),
    /// Documents changed during each attempt at a walk.
    KeepsChanging,
    /// Another instance reads the CMS for this one, and says that it is not available.
    Elsewhere,
    /// The service itself ended the request: it stops, or has a bug.
    Aborted,
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NameNotFound => "its host name has no address",
            Self::ConnectionRefused => "connection refused",
            Self::ConnectTimeout => "no connection in time",
            Self::ConnectionBroken => "the connection broke",
            Self::NoResponse => "it did not respond in time",
            Self::Status(status) => return write!(f, "it returned {status}"),
            Self::KeepsChanging => "its documents changed during each attempt to read all of them",
            Self::Elsewhere => "another instance could not read it; its log says why",
            Self::Aborted => "the request was aborted",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_rules::FieldPath;

    #[test]
    fn display_names_a_setup_problem_and_its_fix_but_not_the_kind_of_an_outage() {
        let uid = || ContentTypeUid::parse("api::news.news").unwrap();
        let path = || FieldPath::parse("category.parent").unwrap();
        let unusable = "the CMS sent an unusable response: ";
        for (problem, expected) in [
            (
                SetupProblem::TokenRefused { endpoint: "pages".into() },
                "401 on /api/pages: the token is wrong or has expired",
            ),
            (
                SetupProblem::NotPermitted { endpoint: "pages".into(), has_token: true },
                "403 on /api/pages: grant find",
            ),
            (
                SetupProblem::NotPermitted { endpoint: "pages".into(), has_token: false },
                "403 on /api/pages: no token is set",
            ),
            (
                SetupProblem::NoEndpoint {
                    endpoint: "newses".into(),
                    uid: uid(),
                    is_configured: false,
                },
                "404 on /api/newses: write [[content_type]] uid = \"api::news.news\"",
            ),
            (
                SetupProblem::UnknownKey { uid: uid(), key: Some("slugg".into()), part: None },
                "400: api::news.news has no field or relation `slugg`",
            ),
            (
                SetupProblem::AbsentKey {
                    uid: uid(),
                    path: path(),
                    is_relation: true,
                    target: None,
                },
                "the token may not read the relation `category.parent` of api::news.news: grant find",
            ),
            (
                SetupProblem::AbsentKey {
                    uid: uid(),
                    path: path(),
                    is_relation: true,
                    target: ContentTypeUid::parse("api::category.category").ok(),
                },
                "the token may not read the relation `category.parent` of api::news.news: grant find on api::category.category to the token",
            ),
        ] {
            let error = ContentError::from(problem);
            let text = error.to_string();
            assert!(text.starts_with(&format!("{unusable}{expected}")), "{text}");
            assert_eq!(format!("{unusable}{}", error.detail()), text);
        }
        let down = ContentError::unavailable(Outage::ConnectionRefused);
        assert_eq!(down.to_string(), "the CMS is not available");
        assert_eq!(down.detail(), "the CMS is not available: connection refused");
        let open = |cause| ContentError::CircuitOpen { retry_after: None, cause };
        assert_eq!(open(None).detail(), "the CMS is not available: the circuit breaker is open");
        let refused = open(Some(Outage::ConnectionRefused));
        assert_eq!(refused.to_string(), "the CMS is not available");
        let detail = "the CMS is not available: connection refused; the circuit breaker is open";
        assert_eq!(refused.detail(), detail);
        let tls = ContentError::TlsFailed;
        assert_eq!(tls.to_string(), "the CMS sent an unusable response");
        assert!(tls.detail().starts_with("the TLS handshake with the CMS failed: "));
        let fails = ContentError::TypeFails { uid: uid(), retry_after: None };
        assert_eq!(
            fails.to_string(),
            "the CMS is not available for api::news.news: it returned 500"
        );
    }
}
