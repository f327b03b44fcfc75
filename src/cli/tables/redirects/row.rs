//! The redirects as they are read, and where their paths are on the frontend.

use serde::{Deserialize, Serialize};

use crate::frontend_url::BaseUrl;
use crate::site::Site;

/// All redirects of a site.
#[derive(Debug, Default)]
pub(super) struct Redirects {
    pub(super) rows: Vec<Row>,
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
    pub(super) path: String,
    pub(super) status: u16,
    pub(super) document_id: String,
    pub(super) content_type: String,
    pub(super) locale: String,
    pub(super) since: String,
}

/// The last line of the list of `/api/redirects`.
#[derive(Debug, Deserialize)]
struct Figures {
    count: u64,
    gone: u64,
}

/// A line of the list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Row(Row),
    Figures(Figures),
}

/// Reads the list line by line.
#[derive(Debug, Default)]
pub(super) struct Reader {
    redirects: Redirects,
    figures: Option<Figures>,
}

/// Where the paths of a site are on its frontend.
pub(super) struct FrontendPaths<'s> {
    site: &'s Site,
    /// Whether all rows are of one host, which the output need not name.
    one_host: bool,
}

impl Reader {
    /// Takes the next line.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if self.figures.is_some() {
            return Err("the list continues after its end".to_owned());
        }
        match serde_json::from_slice(line) {
            Ok(Line::Row(row)) => self.redirects.rows.push(row),
            Ok(Line::Figures(figures)) => self.figures = Some(figures),
            Err(_) => return Err("a line of the list cannot be read".to_owned()),
        }
        Ok(())
    }

    /// All redirects. An error if the list is not complete.
    pub(super) fn end(self) -> Result<Redirects, String> {
        let (mut redirects, figures) = (self.redirects, self.figures);
        let incomplete = || "the list is not complete".to_owned();
        let figures = figures.ok_or_else(incomplete)?;
        if figures.count != redirects.rows.len() as u64 {
            return Err(incomplete());
        }
        redirects.gone = figures.gone;
        Ok(redirects)
    }
}

impl Redirects {
    /// Drops the rows of other hosts.
    pub(super) fn keep_host(&mut self, host: &str) {
        self.rows.retain(|row| row.host.as_deref() == Some(host));
    }

    pub(super) fn sort(&mut self) {
        self.rows.sort_by(|one, other| (&one.host, &one.from).cmp(&(&other.host, &other.from)));
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
        self.base(row).map_or("", |base| &base.as_str()[origin_length(base)..])
    }

    /// The target: a path on the same host, as the host has it; else a URL.
    pub(super) fn target<'r>(&self, row: &'r Row) -> &'r str {
        let Some(to) = row.to.as_deref() else { return &row.path };
        let base = self.base(row).filter(|base| to.starts_with(base.as_str()));
        base.map_or(to, |base| &to[origin_length(base)..])
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

/// Splits a target after its scheme, host and port; a target that is a path has none.
pub(super) fn split_origin(target: &str) -> (&str, &str) {
    let host = target.find("://").map_or(0, |at| at + "://".len());
    target.split_at(target[host..].find('/').map_or(target.len(), |at| host + at))
}

/// The length of scheme and host.
fn origin_length(base: &BaseUrl) -> usize {
    base.scheme().len() + "://".len() + base.host().len()
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
            path: path.to_owned(),
            status: 308,
            document_id: "d1".to_owned(),
            content_type: "api::page.page".to_owned(),
            locale: "en".to_owned(),
            since: "2026-11-22T19:00:00.000Z".to_owned(),
        }
    }

    #[test]
    fn list_is_complete_with_its_last_line_alone() {
        let line = serde_json::to_vec(&row(None, "/a", "https://a.example", "/b")).unwrap();
        let read = |lines: &[&[u8]]| {
            let mut reader = Reader::default();
            lines.iter().try_for_each(|line| reader.take(line))?;
            reader.end()
        };
        let read_all = read(&[&line, br#"{"count":1,"gone":3}"#]).unwrap();
        assert_eq!((read_all.rows.len(), read_all.gone), (1, 3));
        for (lines, expected) in [
            (&[&*line][..], "not complete"),
            (&[&line, br#"{"count":2,"gone":0}"#], "not complete"),
            (&[br#"{"count":0,"gone":0}"#, &line], "after its end"),
            (&[b"<html>"], "cannot be read"),
            (&[], "not complete"),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
