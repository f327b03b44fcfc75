//! A run as one HTML page without other files: to open, to filter and to print.
//!
//! The counters are in the page itself. The URLs are in a block of JSON, from which the page's script
//! builds rows when they are scrolled to: a table of 50,000 rows would block a browser for seconds.

mod problems;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::io;
use std::io::Write;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use self::problems::{LinkView, ProblemsView};
use super::{Change, Class, FoundInPages, PreviousReport, SiteReport, TypeReport, Visible};
use crate::checks::content::Fault;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The most removed URLs that are listed.
const REMOVED_SHOWN: usize = 1000;

/// The most problems of a kind, and broken links, that are listed.
const PROBLEMS_SHOWN: usize = 1000;

/// The width of the bar of classes, in units of its own.
const BAR_WIDTH: u64 = 1000;
/// The least width of a class with URLs: a few among thousands must be visible.
const MIN_SHARE: u64 = 6;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'r> {
    site: Visible<'r>,
    bases: Vec<Visible<'r>>,
    date: String,
    style: &'static str,
    /// Sources of the content security policy.
    style_hash: String,
    script: &'static str,
    script_hash: String,
    count: u64,
    dead: u64,
    redirects: u64,
    classes: Vec<ClassView>,
    bar_width: u64,
    types: Vec<TypeRow<'r>>,
    changes: Option<Changes<'r>>,
    content: Option<ContentView<'r>>,
    problems: Option<ProblemsView<'r>>,
    links: Vec<LinkView<'r>>,
    /// JSON without `<`, which could end its block or start a comment.
    data: String,
}

/// A button that shows or hides the URLs of a class, and the class's part of the bar.
struct ClassView {
    tone: &'static str,
    key: &'static str,
    meaning: &'static str,
    urls: u64,
    /// Whether its URLs are shown when the page is opened.
    is_shown_first: bool,
    bar_start: u64,
    bar_width: u64,
}

/// A row of the table of content types.
struct TypeRow<'r> {
    content_type: Visible<'r>,
    count: u64,
    /// Tone and number of URLs for each class.
    classes: Vec<(&'static str, u64)>,
}

/// What was found in the pages.
struct ContentView<'r> {
    read: u64,
    faulty: u64,
    /// Name, meaning, pages.
    kinds: Vec<(&'static str, &'static str, u64)>,
    /// URL, reason.
    robots: Vec<(Visible<'r>, Visible<'r>)>,
}

/// What has changed since a previous report.
struct Changes<'r> {
    since: String,
    counts: Vec<(&'static str, usize)>,
    /// URLs that are no longer there, with their class at the time.
    removed: Vec<(Visible<'r>, &'static str)>,
}

/// Writes the page. With a previous report, it names the URLs that broke, recovered, are new or were removed.
///
/// # Errors
/// The errors of `out`.
pub fn write(
    report: &SiteReport<'_>,
    previous: Option<&PreviousReport>,
    out: &mut impl Write,
) -> io::Result<()> {
    let classes = class_views(report);
    let by_class = report.tally.by_class;
    let problems = report.problems.as_ref().filter(|list| list.count > 0);
    let page = Page {
        site: Visible(report.site),
        bases: report.bases.iter().copied().map(Visible).collect(),
        date: date(&report.checked_at),
        style: STYLE,
        style_hash: hash(STYLE),
        script: SCRIPT,
        script_hash: hash(SCRIPT),
        count: report.tally.count,
        dead: by_class.dead(),
        redirects: by_class.redirect,
        bar_width: classes.iter().map(|class| class.bar_width).sum::<u64>().max(1),
        classes,
        types: report.content_types.iter().map(type_row).collect(),
        changes: previous.map(|previous| changes(report, previous)),
        content: report.content.as_ref().map(content_view),
        problems: problems.map(|list| ProblemsView::new(list, PROBLEMS_SHOWN)),
        links: report.broken_links().iter().map(LinkView::new).collect(),
        data: serde_json::to_string(&data(report, previous))?.replace('<', "\\u003c"),
    };
    page.write_into(out)?;
    writeln!(out)
}

fn class_views(report: &SiteReport<'_>) -> Vec<ClassView> {
    let (by_class, count) = (report.tally.by_class, report.tally.count);
    let all_succeeded = by_class.success == count;
    let mut bar_start = 0;
    let view = |class: Class| {
        let urls = by_class.get(class);
        let share = (urls * BAR_WIDTH).checked_div(count).unwrap_or(0);
        let view = ClassView {
            tone: tone(class),
            key: class.as_str(),
            meaning: class.meaning(),
            urls,
            is_shown_first: urls > 0 && (class != Class::Success || all_succeeded),
            bar_start,
            bar_width: if urls > 0 { share.max(MIN_SHARE) } else { 0 },
        };
        bar_start += view.bar_width;
        view
    };
    Class::ALL.map(view).into()
}

fn type_row<'r>(part: &TypeReport<'r>) -> TypeRow<'r> {
    let classes = Class::ALL.map(|class| (tone(class), part.tally.by_class.get(class)));
    let (content_type, count) = (Visible(part.content_type), part.tally.count);
    TypeRow { content_type, count, classes: classes.into() }
}

fn content_view(content: &FoundInPages) -> ContentView<'_> {
    let FoundInPages { tally, robots } = content;
    let kinds = tally.kinds.iter().map(|(kind, pages)| (kind.as_str(), kind.meaning(), *pages));
    let robots = robots.iter().map(|file| (Visible(&file.url), Visible(&file.reason)));
    ContentView {
        read: tally.read,
        faulty: tally.faulty,
        kinds: kinds.collect(),
        robots: robots.collect(),
    }
}

fn changes<'r>(report: &SiteReport<'_>, previous: &'r PreviousReport) -> Changes<'r> {
    let count = |change: Change| {
        let urls = report.findings().filter(|finding| previous.change(finding) == Some(change));
        (change.as_str(), urls.count())
    };
    let removed = previous.removed_urls(report).into_iter();
    Changes {
        since: previous.checked_at.as_deref().map_or("the earlier check".to_owned(), date),
        counts: [Change::Broke, Change::Healed, Change::New].map(count).into(),
        removed: removed.map(|url| (Visible(url.url), url.class.as_str())).collect(),
    }
}

/// The time to the minute.
fn date(rfc3339: &str) -> String {
    let minute = rfc3339.get(..16).unwrap_or(rfc3339).replace('T', " ");
    format!("{} UTC", Visible(&minute))
}

fn tone(class: Class) -> &'static str {
    match class {
        Class::Success => "c2xx",
        Class::Redirect => "c3xx",
        Class::ClientError => "c4xx",
        Class::ServerError => "c5xx",
        Class::Error => "error",
    }
}

/// The source of a script or style in a content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}

/// The input of the page's script.
#[derive(Serialize)]
struct Data<'r> {
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
fn data<'r>(report: &'r SiteReport<'_>, earlier: Option<&PreviousReport>) -> Data<'r> {
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
