//! What documents decide on a site with `resolve = "documents"`: which document has a pathname, and so
//! which rule (D41).

use serde::Serialize;

use crate::site::{ResolveBy, Site};
use crate::snapshot::PublicUrl;
use frontend_map_rules::{ContentTypeUid, Match, Pathname};

/// What decides about a pathname on a site with `resolve = "documents"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decidedBy", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum DocumentDecision {
    /// A document has the path.
    Documents(PathDocument),
    /// A document has the path as its own, whatever the rules say.
    #[serde(rename = "own_path")]
    OwnPath(PathDocument),
    /// No document of these content types has the path, so the first rule matches.
    #[serde(rename = "rules")]
    NoDocument {
        /// The content types of the rules that match with the highest precedence.
        content_types: Vec<String>,
    },
    /// The documents could not be read.
    Unknown {
        /// Why.
        problem: String,
    },
}

/// The document of a pathname.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathDocument {
    /// Its content type.
    pub content_type: String,
    /// Strapi's `documentId`.
    pub document_id: String,
    /// The locale of the version; the site's first if the document is not localized.
    pub locale: String,
    /// The path of the version. A document that is not localized has another one than the pathname if
    /// that one is for another locale.
    pub path: String,
}

/// The content types whose documents decide about a pathname: those of the rules that match it, because
/// a path that a document has never leads to another one (D19), and those whose documents may have a
/// path of their own. None on a site whose rules decide.
pub fn deciding_types<'s>(site: &'s Site, written: &str) -> Vec<&'s ContentTypeUid> {
    if site.resolve != ResolveBy::Documents {
        return Vec::new();
    }
    let (pathname, rules) = (Pathname::parse(written), &site.rules);
    let matching = |uid: &&ContentTypeUid| {
        !rules.matches_of_type(&pathname, uid.as_str()).is_empty()
            || rules.with_path_field().any(|rule| rules.rules()[rule].content_type == **uid)
    };
    rules.content_types().into_iter().filter(matching).collect()
}

/// What the documents decide; `owner` is the one that has the path. `None`: no rule matches, and no
/// document has a path of its own there.
pub(super) fn decided(
    site: &Site,
    pathname: &Pathname<'_>,
    host: Option<usize>,
    owner: Option<PublicUrl<'_>>,
) -> Option<DocumentDecision> {
    if let Some(owner) = owner {
        let document = PathDocument {
            content_type: site.rules.rules()[owner.rule()].content_type.to_string(),
            document_id: owner.document_id().to_owned(),
            locale: site.rules.locales().codes()[owner.locale()].as_str().to_owned(),
            path: owner.path().to_owned(),
        };
        let of = if owner.has_own_path() {
            DocumentDecision::OwnPath
        } else {
            DocumentDecision::Documents
        };
        return Some(of(document));
    }
    let content_types = first_types(site, pathname, host);
    (!content_types.is_empty()).then_some(DocumentDecision::NoDocument { content_types })
}

/// The content types of the rules that match with the highest precedence. Without a `host`, the rules of
/// each host count.
fn first_types(site: &Site, pathname: &Pathname<'_>, host: Option<usize>) -> Vec<String> {
    let mut hosts: Vec<Option<usize>> = site.rules.hosts_of(pathname).map(Some).collect();
    if host.is_some() || hosts.is_empty() {
        hosts = vec![host];
    }
    let uid = |found: Match<'_>| found.rule.content_type.to_string();
    let mut types: Vec<String> =
        hosts.iter().flat_map(|host| site.rules.ties(pathname, *host)).map(uid).collect();
    types.sort_unstable();
    types.dedup();
    types
}
