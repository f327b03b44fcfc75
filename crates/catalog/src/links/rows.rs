//! The table of links with their verdicts, as JSON.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::judge::{Judged, JudgedRow, url_of};
use super::known_hosts::{AddressTarget, KnownHosts, LinkingVersion};
use super::table::LinkTable;
use super::verdict::Verdict;
use crate::json::Json;
use crate::path_index::PathIndex;
use crate::site::AdminLinks;
use crate::snapshot::{PublicUrl, timestamp_text};
use crate::tables::{Rows, Step};
use frontend_map_rules::{Locale, Pathname};

/// What the rows say of the documents with the links.
#[derive(Clone)]
pub struct Linking {
    /// The hosts of all sites.
    pub hosts: KnownHosts,
    /// The position of their site among the sites of `hosts`.
    pub site: usize,
    /// Their URLs.
    pub index: Arc<PathIndex>,
    /// Their pages in the admin panel of the CMS, if the address of that is set.
    pub admin: Option<Arc<AdminLinks>>,
}

/// The figures of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkFigures {
    /// The number of rows.
    pub count: usize,
    /// The number of documents with these links.
    pub documents: usize,
    /// Of the documents and targets that were asked for: how many links lead to no page.
    pub broken: usize,
    /// Of the documents and targets that were asked for: how many links have each verdict.
    pub verdicts: VerdictCounts,
    /// When the content was read (RFC 3339).
    pub read_at: String,
    /// How many links are not in the table: it is full, or their addresses are too long.
    pub left_out: u64,
    /// How many fields and documents could not be read.
    pub unreadable: u64,
}

/// How many links have each verdict, in the order of [`Verdict::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts(pub [usize; Verdict::ALL.len()]);

/// A link in the content of a document, with the verdict about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentLink<'a> {
    /// The content type of the document.
    pub content_type: Cow<'a, str>,
    /// Its `documentId`.
    pub document_id: Cow<'a, str>,
    /// Its locale; `None`: it is not localized.
    pub locale: Option<Cow<'a, str>>,
    /// Its URL, or its path without a base URL; `None`: it has none.
    pub url: Option<String>,
    /// Its page in the admin panel of the CMS, if the address of that is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_url: Option<String>,
    /// The field with the link.
    pub field: String,
    /// The text of the link.
    pub text: Cow<'a, str>,
    /// The address as a browser reads it: no white space around it, no tabs or line breaks, `/` for `\` in
    /// the path, no fragment.
    pub address: Cow<'a, str>,
    /// The path that it means, normalized; `None`: that is not known.
    pub path: Option<String>,
    /// The name of the verdict.
    pub verdict: Cow<'a, str>,
    /// The URL of the page to which the link leads, or should lead.
    pub to: Option<Cow<'a, str>>,
}

/// The rows, written one after the other.
pub struct LinkRows {
    table: Arc<LinkTable>,
    judged: Judged,
    linking: Linking,
    next: usize,
}

impl LinkRows {
    /// The rows of a table with these verdicts.
    pub fn new(table: Arc<LinkTable>, judged: Judged, linking: Linking) -> Self {
        Self { table, judged, linking, next: 0 }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.judged.rows.len()
    }

    fn row(&self, row: JudgedRow) -> ContentLink<'_> {
        let Linking { hosts, site: position, index, admin } = &self.linking;
        let site = &hosts.sites()[*position];
        let key = &self.judged.documents[row.document as usize];
        let source = &site.links[usize::from(key.content_type)];
        let (uid, id) = (&source.content_type, &*key.id);
        let link = self.table.link(self.table.documents[key][row.link as usize]);
        let outcome = &self.judged.outcomes[row.outcome as usize];
        let codes = site.rules.locales().codes();
        let locale = link.locale.and_then(|at| codes.get(at)).map(Locale::as_str);
        let to = outcome.target.as_ref();
        let url = url_of(site, index, uid, id, link.locale);
        let path = url.map(PublicUrl::path);
        let version = LinkingVersion { site: *position, locale: link.locale, path };
        let path = match hosts.locate(link.address, version) {
            AddressTarget::At(place) => {
                Some(Pathname::parse(&place.path).normalized().into_owned())
            }
            AddressTarget::Outside | AddressTarget::NotKnown => None,
        };
        let on_host = |url: PublicUrl<'_>| site.hosts.url(url.locale(), url.path());
        ContentLink {
            content_type: uid.as_str().into(),
            document_id: id.into(),
            locale: locale.map(Cow::Borrowed),
            url: url.map(|url| on_host(url).unwrap_or_else(|| url.path().to_owned())),
            admin_url: admin.as_ref().map(|admin| admin.link(uid.as_str(), id, locale)),
            field: source.fields.get(link.field).map_or_else(String::new, ToString::to_string),
            text: link.text.into(),
            address: link.address.into(),
            path,
            verdict: outcome.verdict.as_str().into(),
            to: to.map(|target| target.url.as_deref().unwrap_or(&target.path).into()),
        }
    }
}

impl Rows for LinkRows {
    const NAME: &'static str = "links";
    type Figures = LinkFigures;

    fn figures(&self) -> LinkFigures {
        let summary = self.table.summary();
        LinkFigures {
            count: self.count(),
            documents: self.judged.documents.len(),
            broken: self.judged.broken(),
            verdicts: VerdictCounts(Verdict::ALL.map(|verdict| self.judged.count(verdict))),
            // Only times beyond the year 9999 have no text.
            read_at: timestamp_text(self.table.read_at()).unwrap_or_default(),
            left_out: summary.missing.left_out,
            unreadable: summary.missing.unreadable,
        }
    }

    fn write_next(&mut self, out: &mut Json) -> Step {
        let Some(row) = self.judged.rows.get(self.next).copied() else { return Step::End };
        self.next += 1;
        out.value(&self.row(row));
        Step::Row
    }
}

impl Serialize for VerdictCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Verdict::ALL.map(Verdict::as_str).into_iter().zip(self.0))
    }
}
