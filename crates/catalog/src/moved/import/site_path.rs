//! The paths in lists of redirects: paths and URLs as other systems write them.

use super::Reason;
use crate::site::Site;
use frontend_map_rules::Pathname;
use frontend_map_rules::frontend_url::HostName;

/// The schemes of the frontend's URLs.
const SCHEMES: [&str; 2] = ["http", "https"];

/// The longest path that a request may have, in bytes (D3).
const MAX_PATH: usize = 2_048;

/// A path of the site.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct SitePath {
    /// Normalized (D7).
    pub(super) path: String,
    /// The position of its host, if the site has several and the text names one.
    pub(super) host: Option<usize>,
}

impl SitePath {
    /// A former path. One with a query stands for many pages, and one with an asterisk for many paths.
    pub(super) fn former(site: &Site, text: &str) -> Result<Self, Reason> {
        if text.contains(['?', '*']) {
            return Err(Reason::Malformed);
        }
        Self::parse(site, text)
    }

    /// A path, or a URL on a host of the site. A path without a slash in front begins at the root, as
    /// Drupal writes it.
    pub(super) fn parse(site: &Site, text: &str) -> Result<Self, Reason> {
        let hosts = &site.hosts;
        // In a path, it is part of a query.
        let absolute = text.split_once("://").filter(|_| !text.starts_with('/'));
        let (path, host) = match absolute {
            Some((scheme, rest)) if SCHEMES.iter().any(|one| scheme.eq_ignore_ascii_case(one)) => {
                let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
                let (name, path) = rest.split_at(end);
                let name = HostName::parse(name).map_err(|_| Reason::OtherHost)?;
                let at = hosts.position(&name).ok_or(Reason::OtherHost)?;
                let path = hosts.all()[at].base.below(path).ok_or(Reason::OtherHost)?;
                (path, Some(at).filter(|_| hosts.are_several()))
            }
            Some(_) => return Err(Reason::Malformed),
            None => (text, None),
        };
        // A query or a fragment alone is relative to the page that has the link.
        let path_is_missing = text.is_empty() || text.starts_with(['?', '#']);
        let is_rooted = path.starts_with('/');
        let rooted = if is_rooted { path.to_owned() } else { format!("/{path}") };
        let is_path = !path_is_missing && rooted.len() <= MAX_PATH && !rooted.starts_with("//");
        if !is_path || rooted.chars().any(char::is_control) {
            return Err(Reason::Malformed);
        }
        Ok(Self { path: Pathname::parse(&rooted).normalized().into_owned(), host })
    }
}
