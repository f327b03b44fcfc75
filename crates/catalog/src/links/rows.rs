//! The table of links with their verdicts, as JSON.

use std::sync::Arc;

use super::judge::{Judged, JudgedRow};
use super::table::LinkTable;
use super::verdict::Verdict;
use crate::json::Json;
use crate::path_index::{DocumentLocation, PathIndex, VersionId};
use crate::site::{AdminLinks, Site};
use crate::snapshot::timestamp_text;
use crate::tables::{Chunks, Form, Rows, Step};
use frontend_map_rules::{ContentTypeUid, Pathname};

/// What the rows say of the documents with the links.
#[derive(Clone)]
pub struct Linking {
    /// Their site.
    pub site: Arc<Site>,
    /// Their URLs.
    pub index: Arc<PathIndex>,
    /// Their pages in the admin panel of the CMS, if the address of that is set.
    pub admin: Option<Arc<AdminLinks>>,
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
    #[must_use]
    pub fn new(table: Arc<LinkTable>, judged: Judged, linking: Linking) -> Self {
        Self { table, judged, linking, next: 0 }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.judged.rows.len()
    }

    /// The table as a text.
    #[must_use]
    pub fn chunks(self, form: Form) -> Chunks<Self> {
        Chunks::new(self, form)
    }

    fn write_row(&self, row: JudgedRow, out: &mut Json) {
        let Linking { site, index, admin } = &self.linking;
        let key = &self.judged.documents[row.document as usize];
        let source = &site.links[usize::from(key.content_type)];
        let (uid, id) = (&source.content_type, &*key.id);
        let link = self.table.link(self.table.documents[key][row.link as usize]);
        let outcome = &self.judged.outcomes[row.outcome as usize];
        let path = outcome.path.as_deref().map(|path| Pathname::parse(path).normalized());
        let codes = site.rules.locales().codes();
        let locale = link.locale.and_then(|at| codes.get(at)).map(|code| code.as_str());
        let field = source.fields.get(link.field).map(ToString::to_string);
        out.raw(r#"{"contentType":"#).word(uid.as_str());
        out.raw(r#","documentId":"#).text(id);
        out.raw(r#","locale":"#).text_or_null(locale);
        out.raw(r#","url":"#).text_or_null(page(site, index, uid, id, locale).as_deref());
        if let Some(admin) = admin {
            out.raw(r#","adminUrl":"#).text(&admin.link(uid.as_str(), id, locale));
        }
        out.raw(r#","field":"#).text_or_null(field.as_deref());
        out.raw(r#","text":"#).text(link.text);
        out.raw(r#","address":"#).text(link.address);
        out.raw(r#","path":"#).text_or_null(path.as_deref());
        out.raw(r#","verdict":"#).word(outcome.verdict.as_str());
        let to = outcome.target.as_ref();
        let to = to.map(|target| target.url.as_deref().unwrap_or(&target.path));
        out.raw(r#","to":"#).text_or_null(to).raw("}");
    }
}

/// The URL of the document with a link, or its path without a base URL.
fn page(
    site: &Site,
    index: &PathIndex,
    uid: &ContentTypeUid,
    document_id: &str,
    locale: Option<&str>,
) -> Option<String> {
    let locale = locale.unwrap_or(site.rules.locales().codes()[0].as_str());
    let version = VersionId { uid: uid.as_str(), document_id, locale };
    let host = |locale| site.hosts.host_if_several(locale);
    match index.locate(&site.rules, version, host) {
        DocumentLocation::At { url, .. } => {
            site.hosts.url(url.locale(), url.path()).or_else(|| Some(url.path().to_owned()))
        }
        DocumentLocation::None | DocumentLocation::NotKnown(_) => None,
    }
}

impl Rows for LinkRows {
    const NAME: &'static str = "links";

    fn figures(&self) -> String {
        let summary = self.table.summary();
        let verdicts: Vec<String> = Verdict::ALL
            .iter()
            .map(|verdict| format!(r#""{}":{}"#, verdict.as_str(), self.judged.count(*verdict)))
            .collect();
        // Only times beyond the year 9999 have no text.
        let read_at = timestamp_text(self.table.read_at()).unwrap_or_default();
        format!(
            r#""count":{},"documents":{},"broken":{},"verdicts":{{{}}},"readAt":"{read_at}","leftOut":{},"unreadable":{}"#,
            self.count(),
            self.judged.documents.len(),
            self.judged.broken(),
            verdicts.join(","),
            summary.left_out,
            summary.unreadable,
        )
    }

    fn write_next(&mut self, out: &mut Json) -> Step {
        let Some(row) = self.judged.rows.get(self.next).copied() else { return Step::End };
        self.next += 1;
        self.write_row(row, out);
        Step::Row
    }
}
