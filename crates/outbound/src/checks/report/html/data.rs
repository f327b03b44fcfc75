//! The URLs in the form that the page's script reads.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use serde::Serialize;

use crate::checks::content::Fault;
use crate::checks::report::{Change, Class, PreviousReport, SiteReport, Visible};

/// The input of the page's script.
#[derive(Serialize)]
pub(super) struct Data<'r> {
    /// The base URL that all URLs have; empty if they have several.
    base: &'r str,
    /// Pairs of content type and template.
    rules: Vec<(&'r str, &'r str)>,
    locales: Vec<&'r str>,
    rows: Vec<DataRow<'r>>,
    /// By the position of the row, the faults of its page, each with its kind and its detail.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    faults: BTreeMap<usize, Vec<(&'r str, String)>>,
}

/// Indexes of rule and locale, `documentId`, path, status or 0, target or reason, the change since the
/// previous report, the title, and the page in the admin panel unless the URL is fine.
type DataRow<'r> = (usize, usize, String, &'r str, u16, String, &'r str, String, &'r str);

/// The rows in the order of the page: by class with the dead ones first, then by rule.
pub(super) fn data<'r>(report: &'r SiteReport<'_>, earlier: Option<&PreviousReport>) -> Data<'r> {
    let base = match *report.bases {
        [base] => base,
        _ => "",
    };
    let mut rules = Interner::default();
    let mut locales = Interner::default();
    let mut rows: Vec<(Class, DataRow<'r>, &'r [Fault])> = Vec::new();
    for finding in report.findings() {
        let entry = &finding.entry;
        let detail = entry.location.as_deref().or(entry.reason.as_deref()).unwrap_or_default();
        let row = (
            rules.index((finding.content_type, finding.rule)),
            locales.index(finding.locale),
            Visible(finding.document_id).to_string(),
            entry.url.strip_prefix(base).unwrap_or(&entry.url),
            entry.status.unwrap_or(0),
            Visible(detail).to_string(),
            earlier.and_then(|earlier| earlier.change(finding)).map_or("", Change::as_str),
            Visible(finding.title.unwrap_or_default()).to_string(),
            finding
                .admin_url
                .as_deref()
                .filter(|_| !entry.ok || !finding.faults.is_empty())
                .unwrap_or_default(),
        );
        rows.push((Class::of(entry.status), row, &finding.faults));
    }
    // Of one class and rule, faulty pages come first.
    rows.sort_by_key(|(class, row, faults)| (*class, row.0, faults.is_empty()));
    let with_faults = rows.iter().enumerate().filter(|(_, (.., faults))| !faults.is_empty());
    let shown = |fault: &'r Fault| (fault.kind.as_str(), Visible(&fault.detail).to_string());
    let faults = with_faults.map(|(at, (.., faults))| (at, faults.iter().map(shown).collect()));
    let faults = faults.collect();
    let rows = rows.into_iter().map(|(_, row, _)| row).collect();
    Data { base, rules: rules.all, locales: locales.all, rows, faults }
}

/// Distinct values, each with its index in the order of arrival.
struct Interner<T> {
    all: Vec<T>,
    indexes: HashMap<T, usize>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { all: Vec::new(), indexes: HashMap::new() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    fn index(&mut self, value: T) -> usize {
        *self.indexes.entry(value).or_insert_with(|| {
            self.all.push(value);
            self.all.len() - 1
        })
    }
}
