//! Ties: several rules match a pathname with equal precedence, on a site where the documents
//! decide.

use serde::Serialize;

use crate::rules::{ContentTypeUid, Pathname};
use crate::site::{ResolveBy, Site};

/// What decides a tie on a site with `resolve = "documents"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decidedBy", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum TieDecision {
    /// A document has the path.
    Documents {
        /// The position of its rule in the settings.
        #[serde(skip)]
        rule: usize,
        /// The position of its host, if the site has several.
        #[serde(skip)]
        host: Option<usize>,
        /// The document.
        document_id: String,
    },
    /// No document has the path, so the first rule in the settings matches.
    Rules,
    /// The documents could not be read.
    Unknown {
        /// Why.
        problem: String,
    },
}

/// The content types of the rules that match a pathname with equal precedence, if there are several
/// rules and the documents decide between them. Without a `host`, the rules of each host count.
#[must_use]
pub fn tied_types<'s>(
    site: &'s Site,
    written: &str,
    host: Option<usize>,
) -> Vec<&'s ContentTypeUid> {
    if site.resolve != ResolveBy::Documents {
        return Vec::new();
    }
    let pathname = Pathname::parse(written);
    let rules = site.rules.rules();
    let mut hosts: Vec<Option<usize>> = site.rules.hosts_of(&pathname).map(Some).collect();
    if host.is_some() || hosts.is_empty() {
        hosts = vec![host];
    }
    let is_tied = |rule: &usize| {
        hosts.iter().any(|host| site.rules.tie_on(&pathname, *rule, *host).is_some())
    };
    let tied: Vec<usize> = (0..rules.len()).filter(is_tied).collect();
    let mut types: Vec<_> = tied.iter().map(|rule| &rules[*rule].content_type).collect();
    types.sort_unstable();
    types.dedup();
    if tied.len() > 1 { types } else { Vec::new() }
}
