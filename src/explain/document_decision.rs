//! What documents decide: ties, where several rules match a pathname with equal precedence, and
//! pathnames that are the own path of a document (D41).

use serde::Serialize;

use crate::rules::{ContentTypeUid, Pathname, Rule};
use crate::site::{ResolveBy, Site};
use crate::snapshot::PublicUrl;

/// What decides on a site with `resolve = "documents"`, if rules are tied or a document has a path of
/// its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decidedBy", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum DocumentDecision {
    /// A document has the path.
    Documents {
        /// The document.
        document_id: String,
    },
    /// A document has the path as its own, whatever the rules say.
    #[serde(rename = "own_path")]
    OwnPath {
        /// The document.
        document_id: String,
    },
    /// No document has the path, so the first rule in the settings matches.
    #[serde(rename = "rules")]
    NoDocument,
    /// The documents could not be read.
    Unknown {
        /// Why.
        problem: String,
    },
}

/// The content types whose documents decide about a pathname: those of the rules that match with equal
/// precedence, if there are several rules, and those whose documents may have a path of their own.
/// Without a `host`, the rules of each host count.
#[must_use]
pub fn deciding_types<'s>(
    site: &'s Site,
    written: &str,
    host: Option<usize>,
) -> Vec<&'s ContentTypeUid> {
    if site.resolve != ResolveBy::Documents {
        return Vec::new();
    }
    let tied = tied_rules(site, written, host).into_iter();
    let deciding = tied.chain(site.rules.with_path_field());
    let mut types: Vec<_> = deciding.map(|rule| &site.rules.rules()[rule].content_type).collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// What the documents decide; `owner` is the one that has the path. `None`: no rules are tied, and no
/// document has a path of its own there.
pub(super) fn decided(
    site: &Site,
    written: &str,
    host: Option<usize>,
    owner: Option<PublicUrl<'_>>,
) -> Option<DocumentDecision> {
    let document_id = |owner: PublicUrl<'_>| owner.document_id().to_owned();
    match owner {
        Some(owner) if owner.has_own_path() => {
            Some(DocumentDecision::OwnPath { document_id: document_id(owner) })
        }
        _ if tied_rules(site, written, host).is_empty() => None,
        Some(owner) => Some(DocumentDecision::Documents { document_id: document_id(owner) }),
        None => Some(DocumentDecision::NoDocument),
    }
}

/// The positions of the rules that match with equal precedence; none if there is one match. A rule may
/// have several, with templates for different locales.
fn tied_rules(site: &Site, written: &str, host: Option<usize>) -> Vec<usize> {
    let pathname = Pathname::parse(written);
    let rules = site.rules.rules();
    let mut hosts: Vec<Option<usize>> = site.rules.hosts_of(&pathname).map(Some).collect();
    if host.is_some() || hosts.is_empty() {
        hosts = vec![host];
    }
    let matches: Vec<_> = hosts.iter().map(|host| site.rules.ties(&pathname, *host)).collect();
    let is_tied = |rule: &Rule| {
        let mut matches = matches.iter().flatten();
        matches.any(|found| std::ptr::eq(found.rule, rule))
    };
    let count: usize = matches.iter().map(Vec::len).sum();
    if count > 1 {
        (0..rules.len()).filter(|at| is_tied(&rules[*at])).collect()
    } else {
        Vec::new()
    }
}
