//! The redirects as they are read, and where their paths are on the frontend.

use std::cmp::Reverse;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use frontend_map_catalog::site::Site;
use frontend_map_rules::frontend_url::BaseUrl;

/// All redirects of a site.
#[derive(Debug, Default)]
pub(super) struct Redirects {
    pub(super) rows: Vec<Row>,
    /// The former paths of documents that are not published.
    pub(super) gone: u64,
}

/// The figures of `/api/redirects`.
#[derive(Deserialize)]
pub(super) struct Figures {
    /// The former paths of documents that are not published.
    pub(super) gone: u64,
}

/// A row of `/api/redirects`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub(super) from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    pub(super) to: Option<String>,
    /// Of a target on another host its path there; none for a page that is gone.
    pub(super) path: Option<String>,
    pub(super) status: u16,
    pub(super) document_id: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) locale: String,
    /// When the document had the path last; none for a redirect of the CMS.
    pub(super) since: Option<String>,
    /// The redirect of the CMS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<Entry>,
}

/// A document of the CMS that is a redirect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) content_type: String,
    pub(super) document_id: String,
    /// Whether it comes before a live page.
    pub(super) force: bool,
}

/// The end of a path that stands for all paths below.
const ALL_BELOW: &str = "/*";

/// The status of a page that is gone (RFC 9110, section 15.5.11).
const GONE: u16 = 410;

/// Where the paths of a site are on its frontend.
pub(super) struct FrontendPaths<'s> {
    site: &'s Site,
    /// Whether all rows are of one host, which the output need not name.
    one_host: bool,
}

impl Redirects {
    /// Drops the rows of other hosts.
    pub(super) fn keep_host(&mut self, host: &str) {
        self.rows.retain(|row| row.host.as_deref() == Some(host));
    }

    /// Drops the rows whose paths differ from a target only in letter case, for programs that ignore it:
    /// they would redirect the page of the target, possibly to itself. Returns how many there were.
    pub(super) fn drop_case_variants(&mut self) -> usize {
        let targets: HashSet<String> =
            self.rows.iter().filter_map(Row::target_path).map(str::to_owned).collect();
        let folded: HashSet<String> = targets.iter().map(|path| path.to_lowercase()).collect();
        let before = self.rows.len();
        let is_variant =
            |path: &String| !targets.contains(path) && folded.contains(&path.to_lowercase());
        self.rows.retain(|row| !is_variant(&row.from));
        before - self.rows.len()
    }

    /// Drops the rows that a format cannot express. Returns how many there were.
    pub(super) fn keep(&mut self, is_expressed: impl Fn(&Row) -> bool) -> usize {
        let before = self.rows.len();
        self.rows.retain(is_expressed);
        before - self.rows.len()
    }

    pub(super) fn sort(&mut self) {
        // Programs take the first one that matches: the path itself, then the longest beginning.
        let key = |row: &Row| {
            let beginning = row.all_below().map(|start| Reverse(start.len()));
            (row.host.clone(), beginning, row.from.clone())
        };
        self.rows.sort_by_cached_key(key);
    }
}

impl Row {
    /// Whether the page is gone, so that the path leads nowhere.
    pub(super) fn is_gone(&self) -> bool {
        self.status == GONE
    }

    /// The beginning of the paths for which the row is, if it is for all paths below one.
    pub(super) fn all_below(&self) -> Option<&str> {
        self.from.strip_suffix(ALL_BELOW)
    }

    /// Whether it comes before a live page.
    pub(super) fn is_forced(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.force)
    }

    /// The path of the target, without query and fragment.
    fn target_path(&self) -> Option<&str> {
        Some(split_suffix(self.path.as_deref()?).0)
    }

    /// Whether a target of its own paths is among them, so that a program would send visitors in a circle.
    pub(super) fn leads_below_itself(&self) -> bool {
        let (Some(start), Some(path)) = (self.all_below(), self.target_path()) else {
            return false;
        };
        path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The query and fragment of the target.
    pub(super) fn suffix(&self) -> &str {
        let target = self.to.as_deref().or(self.path.as_deref());
        target.map_or("", |target| split_suffix(target).1)
    }

    /// The target without its end, if that is the rest of the path that was requested.
    pub(super) fn without_rest<'t>(&self, target: &'t str) -> Option<&'t str> {
        self.all_below().and_then(|_| split_suffix(target).0.strip_suffix(ALL_BELOW))
    }
}

impl<'s> FrontendPaths<'s> {
    pub(super) fn new(site: &'s Site, one_host: bool) -> Self {
        let one_host = one_host || !site.hosts.are_several();
        Self { site, one_host }
    }

    /// The host of a row, where the output has to name it.
    pub(super) fn host<'r>(&self, row: &'r Row) -> Option<&'r str> {
        row.host.as_deref().filter(|_| !self.one_host)
    }

    /// Whether a host of the site has a port.
    pub(super) fn has_ports(&self) -> bool {
        self.site.hosts.all().iter().any(|host| host.base.host().contains(':'))
    }

    /// The path of the base URL in front of the paths of a row; empty without one.
    pub(super) fn prefix(&self, row: &Row) -> &'s str {
        self.base(row).map_or("", BaseUrl::path)
    }

    /// The target: a path on the same host, as the host has it; else a URL.
    pub(super) fn target<'r>(&self, row: &'r Row) -> &'r str {
        let Some(to) = row.to.as_deref() else { return row.path.as_deref().unwrap_or_default() };
        let base = self.base(row).filter(|base| to.starts_with(base.as_str()));
        base.map_or(to, |base| &to[base.as_str().len() - base.path().len()..])
    }

    /// Whether the target is on the host of the row.
    pub(super) fn is_same_host(&self, row: &Row) -> bool {
        self.target(row).starts_with('/')
    }

    fn base(&self, row: &Row) -> Option<&'s BaseUrl> {
        let mut hosts = self.site.hosts.all().iter();
        let host = match &row.host {
            Some(host) => hosts.find(|found| found.base.host() == host),
            None => hosts.next(),
        };
        host.map(|host| &host.base)
    }
}

/// What the service percent-encodes and browsers leave as it is in a path (WHATWG URL, "path
/// percent-encode set").
const PLAIN: &str = "!$&'()*+,;=:@[]|";

/// The forms in which browsers send a path: as it is, and with plain characters.
pub(super) fn forms(path: &str) -> impl Iterator<Item = String> {
    let plain = PLAIN.chars().fold(path.to_owned(), |path, character| {
        path.replace(&format!("%{:02X}", u32::from(character)), character.encode_utf8(&mut [0; 4]))
    });
    let plain = Some(plain).filter(|plain| plain != path);
    std::iter::once(path.to_owned()).chain(plain)
}

/// A target, and its query and fragment.
pub(super) fn split_suffix(target: &str) -> (&str, &str) {
    target.split_at(target.find(['?', '#']).unwrap_or(target.len()))
}

/// Splits a target after its scheme, host and port; a target that is a path has none.
pub(super) fn split_origin(target: &str) -> (&str, &str) {
    let host = target.find("://").map_or(0, |at| at + "://".len());
    target.split_at(target[host..].find('/').map_or(target.len(), |at| host + at))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A row from a path to a path below a base URL.
    pub(in super::super) fn row(host: Option<&str>, from: &str, base: &str, path: &str) -> Row {
        Row {
            from: from.to_owned(),
            host: host.map(str::to_owned),
            to: (!base.is_empty()).then(|| format!("{base}{path}")),
            path: Some(path.to_owned()),
            status: 308,
            document_id: Some("d1".to_owned()),
            content_type: Some("api::page.page".to_owned()),
            locale: "en".to_owned(),
            since: Some("2026-11-22T19:00:00.000Z".to_owned()),
            entry: None,
        }
    }

    #[test]
    fn path_has_a_form_for_each_way_to_send_it() {
        let all = |path| forms(path).collect::<Vec<_>>();
        assert_eq!(all("/caf%C3%A9%20x"), ["/caf%C3%A9%20x"]);
        assert_eq!(all("/a%28b%29%2528"), ["/a%28b%29%2528", "/a(b)%2528"]);
    }

    #[test]
    fn rows_that_differ_from_a_target_in_case_alone_are_dropped() {
        let base = "https://a.example";
        let mut redirects = Redirects {
            rows: vec![
                row(None, "/About", base, "/about"),
                row(None, "/x", base, "/Y"),
                row(None, "/y", base, "/about"),
                row(Some("b.example"), "/about", base, "/about"),
                row(None, "/z", base, "/about"),
            ],
            gone: 0,
        };
        assert_eq!(redirects.drop_case_variants(), 2);
        let left: Vec<&str> = redirects.rows.iter().map(|row| &*row.from).collect();
        assert_eq!(left, ["/x", "/about", "/z"]);
    }
}
