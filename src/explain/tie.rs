//! What documents decide: ties, where several rules match a pathname with equal precedence, and
//! pathnames that are the own path of a document (D41).

use serde::Serialize;

use crate::rules::{ContentTypeUid, Pathname};
use crate::site::{ResolveBy, Site};

/// What decides on a site with `resolve = "documents"`, if rules are tied or a document has a path of
/// its own.
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
    /// A document has the path as its own, whatever the rules say.
    #[serde(rename = "own_path")]
    OwnPath {
        /// The position of its rule in the settings.
        #[serde(skip)]
        rule: usize,
        /// The position of its locale in the site's locales.
        #[serde(skip)]
        locale: usize,
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

/// Whether several rules match a pathname with equal precedence.
#[must_use]
pub fn is_tied(site: &Site, written: &str, host: Option<usize>) -> bool {
    !tied_rules(site, written, host).is_empty()
}

/// The positions of the rules that match with equal precedence; none if there is one.
fn tied_rules(site: &Site, written: &str, host: Option<usize>) -> Vec<usize> {
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
    if tied.len() > 1 { tied } else { Vec::new() }
}
