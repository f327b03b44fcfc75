//! The `details` member of errors.

use std::borrow::Cow;

use frontend_map_catalog::json::Json;

/// The `details` of an error.
#[derive(Debug)]
pub(in crate::http) enum Details {
    /// 404 of `/api/get-content-type` and `/api/resolve`: no rule matches.
    NoMatch {
        pathname: String,
        normalized_path: String,
        candidates: Option<Vec<CandidateDetails>>,
        /// Until when a document had the path that is not published now.
        gone: Option<String>,
    },
    /// 404 of `/api/frontend-url`: why there is no URL. A reason of D13 has the rule.
    NoUrl { reason: Cow<'static, str>, rule: Option<String> },
    /// 404 of an address that the service does not have: which part of it.
    Missing { reason: &'static str },
    /// 501 of `/api/frontend-url`: the path, for a locale without a base URL.
    Path { path: String },
}

/// One rule that was tried (D10).
#[derive(Debug)]
pub(in crate::http) struct CandidateDetails {
    pub(in crate::http) collection_type: String,
    pub(in crate::http) rule: String,
    pub(in crate::http) reason: &'static str,
    pub(in crate::http) segment: Option<usize>,
}

impl Details {
    pub(super) fn write(&self, json: &mut Json) {
        match self {
            Self::NoMatch { pathname, normalized_path, candidates, gone } => {
                json.raw(r#"{"pathname":"#).text(pathname);
                json.raw(r#","normalizedPath":"#).text(normalized_path);
                if let Some(candidates) = candidates {
                    json.raw(r#","candidates":["#);
                    for (position, candidate) in candidates.iter().enumerate() {
                        json.raw(if position == 0 { "" } else { "," });
                        candidate.write(json);
                    }
                    json.raw("]");
                }
                if let Some(since) = gone {
                    json.raw(r#","gone":{"since":"#).text(since).raw("}");
                }
            }
            Self::NoUrl { reason, rule } => {
                json.raw(r#"{"reason":"#).text(reason);
                if let Some(rule) = rule {
                    json.raw(r#","rule":"#).text(rule);
                }
            }
            Self::Missing { reason } => {
                json.raw(r#"{"reason":"#).word(reason);
            }
            Self::Path { path } => {
                json.raw(r#"{"path":"#).text(path);
            }
        }
        json.raw("}");
    }
}

impl CandidateDetails {
    fn write(&self, json: &mut Json) {
        json.raw(r#"{"collectionType":"#).text(&self.collection_type);
        json.raw(r#","rule":"#).text(&self.rule);
        json.raw(r#","reason":"#).text(self.reason);
        if let Some(segment) = self.segment {
            json.raw(r#","segment":"#).number(segment);
        }
        json.raw("}");
    }
}
