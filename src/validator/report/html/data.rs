//! The URLs as the page's script reads them.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;

use crate::validator::report::{Change, Class, PreviousReport, SiteReport, Visible};

/// What the page's script makes its rows from.
#[derive(Serialize)]
pub(super) struct Data<'r> {
    base: &'r str,
    /// Content type and template.
    rules: Vec<(&'r str, &'r str)>,
    locales: Vec<&'r str>,
    rows: Vec<DataRow<'r>>,
}

/// Positions of rule and locale, documentId, path, status or 0, target or reason, and what has
/// changed.
type DataRow<'r> = (usize, usize, String, &'r str, u16, String, &'r str);

/// The rows in the order in which they are shown: the classes with the dead first, then the rules.
pub(super) fn data<'r>(report: &'r SiteReport<'_>, earlier: Option<&PreviousReport>) -> Data<'r> {
    let mut rules = Positions::default();
    let mut locales = Positions::default();
    let mut rows: Vec<(Class, DataRow<'r>)> = Vec::new();
    for finding in report.findings() {
        let entry = &finding.entry;
        let detail = entry.location.as_deref().or(entry.reason.as_deref()).unwrap_or_default();
        let row = (
            rules.of((finding.content_type, finding.rule)),
            locales.of(finding.locale),
            Visible(finding.document_id).to_string(),
            entry.url.strip_prefix(report.base).unwrap_or(&entry.url),
            entry.status.unwrap_or(0),
            Visible(detail).to_string(),
            earlier.and_then(|earlier| earlier.change(finding)).map_or("", Change::as_str),
        );
        rows.push((Class::of(entry.status), row));
    }
    rows.sort_by_key(|(class, row)| (*class, row.0));
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    Data { base: report.base, rules: rules.all, locales: locales.all, rows }
}

/// Numbers things in the order in which they come.
struct Positions<T> {
    all: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T> Default for Positions<T> {
    fn default() -> Self {
        Self { all: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Copy + Eq + Hash> Positions<T> {
    fn of(&mut self, thing: T) -> usize {
        *self.known.entry(thing).or_insert_with(|| {
            self.all.push(thing);
            self.all.len() - 1
        })
    }
}
