//! The table of all pages of a site: a row for each content type and path, of its owner.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::chunks::{Chunks, Form, Rows, Step, write_json};
use crate::rules::{Locale, Params, Pathname, PatternsByRule};
use crate::site::Site;
use crate::snapshot::{PublicUrl, Snapshot, write_timestamp};

/// How many pages in turn that a filter leaves out are looked at in one step.
const MAX_LEFT_OUT: usize = 1_000;

/// Which pages are in the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFilter {
    /// Only those in the locale at this position of the site's locales.
    pub locale: Option<usize>,
    /// Without those that were modified before, in milliseconds since 1970. Pages without a date
    /// stay.
    pub since: Option<i64>,
    /// With those that sitemaps leave out.
    pub unlisted: bool,
}

/// The table of pages, in the order of the sitemap: content types in the order of their rules, then
/// the site's order of locales, then the path by code point.
#[derive(Debug)]
pub struct Pages {
    site: Arc<Site>,
    patterns: PatternsByRule,
    /// In the order of the rules.
    snapshots: Vec<Arc<Snapshot>>,
    filter: PageFilter,
    count: u64,
    next: Next,
}

/// The positions of the next page.
#[derive(Clone, Copy, Debug, Default)]
struct Next {
    snapshot: usize,
    listed: usize,
    unlisted: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    path: &'a str,
    url: Option<String>,
    locale: &'a str,
    content_type: &'a str,
    document_id: &'a str,
    rule: &'a str,
    params: RowParams<'a>,
    last_modified: Option<String>,
    listed: bool,
}

/// The params of a path as `/api/get-content-type` gives them.
struct RowParams<'a> {
    locale: &'a Locale,
    found: Option<Params<'a>>,
}

impl PageFilter {
    fn has(&self, url: PublicUrl<'_>) -> bool {
        let is_since = |since| url.modified().is_none_or(|modified| modified >= since);
        self.locale.is_none_or(|locale| url.locale() == locale)
            && self.since.is_none_or(is_since)
            && (self.unlisted || url.is_listed())
    }

    fn count(&self, snapshot: &Snapshot) -> u64 {
        let count = match self {
            Self { locale: None, since: None, unlisted: true } => snapshot.len(),
            Self { locale: None, since: None, unlisted: false } => snapshot.listed_count(),
            // Not in the order of the table, which would read the entries at random.
            _ => snapshot.owners().filter(|url| self.has(*url)).count(),
        };
        count as u64
    }
}

impl Pages {
    /// The pages in these snapshots of the site, which are in the order of the rules. Counts them,
    /// which takes some milliseconds for a million.
    #[must_use]
    pub fn new(site: Arc<Site>, snapshots: Vec<Arc<Snapshot>>, filter: PageFilter) -> Self {
        let count = snapshots.iter().map(|snapshot| filter.count(snapshot)).sum();
        let patterns = site.rules.patterns_by_rule();
        Self { site, patterns, snapshots, filter, count, next: Next::default() }
    }

    /// The number of rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The table as a text.
    #[must_use]
    pub fn chunks(self, form: Form) -> Chunks<Self> {
        Chunks::new(self, form)
    }

    fn write(&self, url: PublicUrl<'_>, out: &mut Vec<u8>) {
        let rules = &self.site.rules;
        let locale = &rules.locales().codes()[url.locale()];
        let rule = &rules.rules()[url.rule()];
        let pathname = Pathname::parse(url.path());
        let found = rules.own_match(&self.patterns, &pathname, url.rule(), locale);
        let template = rule.template(locale).unwrap_or(rule.first_template());
        write_json(
            out,
            &Row {
                path: url.path(),
                url: self.site.hosts.url(url.locale(), url.path()),
                locale: locale.as_str(),
                content_type: rule.content_type.as_str(),
                document_id: url.document_id(),
                rule: template.as_str(),
                params: RowParams { locale, found: found.map(|found| found.params) },
                last_modified: url.modified().and_then(timestamp),
                listed: url.is_listed(),
            },
        );
    }
}

impl Rows for Pages {
    const NAME: &'static str = "pages";

    fn figures(&self) -> String {
        format!(r#""count":{}"#, self.count)
    }

    fn write_next(&mut self, out: &mut Vec<u8>) -> Step {
        for _ in 0..MAX_LEFT_OUT {
            let Some(snapshot) = self.snapshots.get(self.next.snapshot).cloned() else {
                return Step::End;
            };
            match self.next.url(&snapshot, self.filter.unlisted) {
                Some(url) if self.filter.has(url) => {
                    self.write(url, out);
                    return Step::Row;
                }
                Some(_) => {}
                None => self.next = Next { snapshot: self.next.snapshot + 1, ..Next::default() },
            }
        }
        Step::Nothing
    }
}

impl Next {
    /// The next page of the snapshot in the order of sitemaps; `None` behind the last one.
    fn url<'s>(&mut self, snapshot: &'s Snapshot, with_unlisted: bool) -> Option<PublicUrl<'s>> {
        let listed = snapshot.listed_from(self.listed).next();
        let unlisted =
            with_unlisted.then(|| snapshot.unlisted_from(self.unlisted).next()).flatten();
        let order = |url: PublicUrl<'s>| (url.locale(), url.path());
        let is_listed = match (listed, unlisted) {
            (Some(listed), Some(unlisted)) => order(listed).cmp(&order(unlisted)) == Ordering::Less,
            (listed, _) => listed.is_some(),
        };
        let (next, url) =
            if is_listed { (&mut self.listed, listed) } else { (&mut self.unlisted, unlisted) };
        *next += 1;
        url
    }
}

impl Serialize for RowParams<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.found.is_some_and(Params::has_locale) {
            map.serialize_entry("locale", self.locale.as_str())?;
        }
        for (name, value) in self.found.iter().flat_map(|params| params.iter()) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// RFC 3339; `None` for a year that it cannot write.
fn timestamp(milliseconds: i64) -> Option<String> {
    let mut text = String::new();
    write_timestamp(&mut text, milliseconds).then_some(text)
}
