//! From JSON pages to sitemap files: documents per second and allocations per document.
//!
//! `cargo bench --bench sitemap` prints the table; `-- --quick` is a short run that only shows that
//! it works. The rows:
//!
//! - `parse alone`: `serde_json` reads each page into a struct that borrows from it.
//! - `page to URL`: all that a walk does with a page, up to the entry in the snapshot.
//! - `snapshot`: putting the entries in order, with a table of paths, and into files.
//! - `XML`, `JSON`: writing crawlers' files, and the list of `/api/build-sitemap`.
//!
//! Each figure is the median of several rounds; within a round all are measured in turn.

mod pages;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use frontend_map_catalog::sitemap::files::{Frame, Layout, write};
use frontend_map_catalog::sitemap::{Form, List};
use frontend_map_catalog::snapshot::{Builder, Listing, Part, Snapshot};
use frontend_map_cms::{BadItem, Page, Projection};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use pages::{BASE, UID, borrowed, pages, rules};

/// Odd, so that the median is one of them.
const ROUNDS: usize = 7;

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick" || arg == "--test");
    let documents = if quick { 1_000 } else { 200_000 };
    let (pages, rules) = (pages(documents), rules());
    let base = BaseUrl::parse(BASE).expect("a base URL");
    let hosts = Hosts::one(base, rules.locales().as_slice().len());
    let listing = Listing { rules: &rules, hosts: &hosts, uid: UID };
    let projection = Projection::new(rules.listing_fields(UID));
    let frame = Frame::new(&hosts, rules.locales(), 0);
    let snapshot = Arc::new(snapshot(walk(&pages, &projection, listing)));
    let layout = Layout::new(&snapshot, None, &frame);
    assert_eq!(snapshot.listed_count(), documents, "every document has a URL");

    println!("{documents} documents, pages of 100; {} bytes a page", pages[0].len());
    println!("{:<14} {:>14} {:>9} {:>12}", "", "documents/s", "ns each", "allocations");
    let parse = || pages.iter().map(|page| borrowed(page)).sum::<usize>();
    let to_url = || walk(&pages, &projection, listing);
    let xml = || {
        let text = |range| write(&snapshot, None, &frame, range);
        layout.files.iter().map(|file| text(file.range.clone()).len()).sum::<usize>()
    };
    let json = || {
        List::new(Arc::clone(&snapshot), None, &hosts, Form::Json)
            .map(|piece| piece.len())
            .sum::<usize>()
    };
    let mut times = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        times[0].push(time(parse));
        times[1].push(time(to_url));
        let part = to_url();
        times[2].push(time(|| Layout::new(&self::snapshot(part), None, &frame)));
        times[3].push(time(xml));
        times[4].push(time(json));
    }
    let part = to_url();
    let counts = [
        allocations(parse),
        allocations(to_url),
        allocations(|| Layout::new(&self::snapshot(part), None, &frame)),
        allocations(xml),
        allocations(json),
    ];
    let names = ["parse alone", "page to URL", "snapshot", "XML", "JSON"];
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    for ((name, seconds), count) in names.iter().zip(&medians).zip(counts) {
        row(name, documents, *seconds, count);
    }
    println!("page to URL / parse alone: {:.2}", medians[1] / medians[0]);
    println!("{} bytes a URL in the snapshot", snapshot.bytes() / snapshot.len());
}

fn row(name: &str, documents: usize, seconds: f64, allocations: u64) {
    #[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
    let (documents, allocations) = (documents as f64, allocations as f64);
    let (rate, each) = (documents / seconds, seconds / documents * 1e9);
    println!("{name:<14} {rate:>14.0} {each:>9.0} {:>12.3}", allocations / documents);
}

fn walk<'s>(pages: &[String], projection: &Projection, listing: Listing<'s>) -> Part<'s> {
    let mut part = listing.part();
    for page in pages {
        let page = Page::read(page, projection).expect("a page");
        let taken = page.each(usize::MAX, |row| {
            part.add(row?);
            Ok::<(), BadItem>(())
        });
        taken.expect("rows that are documents");
    }
    part
}

fn snapshot(part: Part<'_>) -> Snapshot {
    Builder { path_table: true }.finish(vec![part]).expect("few enough")
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed()
}

fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    let work = || {
        black_box(work());
    };
    allocation_counter::measure(work).count_total
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}
