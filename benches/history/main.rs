//! The path history: memory a path, and nanoseconds for a path that no document has now.
//!
//! `cargo bench --bench history` prints the table; `-- --quick` is a short run that only shows that it
//! works. Each document has had four other paths. The rows:
//!
//! - `live`: the path index finds the document that has the path; the history is not used.
//! - `moved`: no document has the path; the history and the path index find where it is now.
//! - `unknown`: no document has or had the path.
//! - `unknown, no history`: the same with an empty history.
//!
//! Each figure is the median of several rounds, over paths in random order.

use std::fs;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use frontend_map_catalog::moved::history::{Limits, PathHistory, Row};
use frontend_map_catalog::moved::redirects::{FormerOwner, SiteHistory, former_owner};
use frontend_map_catalog::path_index::{PathIndex, TypePaths};
use frontend_map_catalog::site::{ResolveBy, Site, SitePages};
use frontend_map_catalog::snapshot::{Builder, Listing};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Pathname, Rule, RuleSet, Template,
};

const UID: &str = "plugin::cms.article";
const SOURCE: u128 = 1;
const NOW: i64 = 1;
const LIMITS: Limits = Limits { max_paths: usize::MAX, keep: i64::MAX };
/// Former paths of each document.
const FORMER: usize = 4;
/// Odd, so that the median is one of them.
const ROUNDS: usize = 7;

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick" || arg == "--test");
    let documents = if quick { 1_000 } else { 250_000 };
    let site = site();
    let index = index(&site, documents);
    let empty = PathHistory::new(LIMITS);
    let (before, history) = (resident_bytes(), PathHistory::new(LIMITS));
    let allocated = allocation_counter::measure(|| {
        history.load((0..documents).flat_map(|n| (0..FORMER).map(move |age| row(n, age))), NOW);
    });
    let paths = history.len();
    println!(
        "{paths} former paths of {} bytes: {} bytes of resident memory a path, {} allocated",
        row(documents - 1, 0).path.len(),
        (resident_bytes() - before) / paths as u64,
        allocated.bytes_current.unsigned_abs() / paths as u64,
    );
    let mut random = fastrand::Rng::with_seed(1);
    let mut any = |path: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..documents).map(|_| path(random.usize(..documents))).collect()
    };
    let rows = [
        ("live", any(&|n| path(n, None)), &history),
        ("moved", any(&|n| path(n, Some(n % FORMER))), &history),
        ("unknown", any(&|n| path(n + documents, None)), &history),
        ("unknown, no history", any(&|n| path(n + documents, None)), &empty),
    ];
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for ((name, paths, history), times) in rows.iter().zip(&mut times) {
            let id = history.site(SOURCE, &site.key).expect("one site");
            let of_site = SiteHistory { history, id, now: NOW };
            let begun = Instant::now();
            let found: usize = paths.iter().map(|path| resolve(&site, &index, of_site, path)).sum();
            times.push(begun.elapsed().as_nanos() / paths.len() as u128);
            let expected = if name.starts_with("unknown") { 0 } else { paths.len() };
            assert_eq!(black_box(found), expected, "{name}");
        }
    }
    for ((name, ..), mut times) in rows.iter().zip(times) {
        times.sort_unstable();
        println!("{name:<20} {:>6} ns", times[times.len() / 2]);
    }
}

/// 1 if the path leads to a document.
fn resolve(site: &Site, index: &PathIndex, history: SiteHistory<'_>, path: &str) -> usize {
    let pathname = Pathname::parse(path);
    let decision = index.decide(&site.rules, &pathname, None);
    if decision.is_some_and(|decision| decision.owner.is_some()) {
        return 1;
    }
    let owner = former_owner(history, site, index, &pathname, None);
    usize::from(matches!(owner, FormerOwner::Moved(_)))
}

/// The present path of a document, or one that it had.
fn path(n: usize, former: Option<usize>) -> String {
    match former {
        None => format!("/en/articles/a-slug-of-usual-length-{n:06}"),
        Some(age) => format!("/en/articles/an-old-slug-of-length-{age}-{n:06}"),
    }
}

fn document_id(n: usize) -> String {
    let number = (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    format!("{number:032x}").chars().take(24).collect()
}

fn row(n: usize, age: usize) -> Row {
    Row {
        source: SOURCE,
        site: "main".to_owned(),
        host: String::new(),
        path: path(n, Some(age)),
        uid: UID.to_owned(),
        document_id: document_id(n),
        locale: "en".to_owned(),
        last_seen: NOW,
        is_imported: false,
    }
}

fn site() -> Site {
    let template = Template::parse("/{locale}/articles/{slug}").expect("a template");
    let rule = Rule::new(ContentTypeUid::parse(UID).expect("a UID"), template);
    let codes = ["en", "de"].map(|code| Locale::parse(code).expect("a locale"));
    let locales = Locales::new(codes.to_vec()).expect("locales");
    let base = BaseUrl::parse("https://www.example.com").expect("a base URL");
    Site {
        key: "main".to_owned(),
        rules: RuleSet::new(locales, LocalePrefix::Always, vec![rule]),
        hosts: Hosts::one(base, codes.len()),
        resolve: ResolveBy::Documents,
        sitemap_path: String::new(),
        pages: SitePages::default(),
        redirects: None,
        links: Vec::new(),
        links_fingerprint: 0,
        fingerprint: 0,
        source: SOURCE,
    }
}

fn index(site: &Site, documents: usize) -> PathIndex {
    let mut part = Listing { rules: &site.rules, hosts: &site.hosts, uid: UID }.part();
    let fields: Arc<[FieldPath]> = FieldPath::parse("slug").into_iter().collect();
    for n in 0..documents {
        let path = path(n, None);
        let slug = path.rsplit('/').next().expect("a segment").to_owned();
        part.add(&Document {
            id: document_id(n).into(),
            locale: DocumentLocale::Named("en".into()),
            unpublished: false,
            fields: Arc::clone(&fields),
            values: vec![FieldValue::Text(slug.into())],
        });
    }
    let snapshot = Builder { path_table: true }.finish(vec![part]).expect("few enough");
    assert_eq!(snapshot.listed_count(), documents, "every document has a URL");
    let uid = ContentTypeUid::parse(UID).expect("a UID");
    PathIndex::new(&site.rules, [(&uid, TypePaths::Fresh(Arc::new(snapshot)))])
}

/// The memory of this process, in bytes.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the accounting of Linux");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    resident.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
