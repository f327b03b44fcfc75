//! Paths that were not found: nanoseconds to count one, the recall of the most requested ones, and the
//! time for a list with suggestions.
//!
//! `cargo bench --bench misses` prints the figures; `-- --quick` is a short run that only shows that it
//! works. The rows:
//!
//! - `count known`, `count random`: a path that has a row, and one that replaces another one.
//! - `list, slugs of words` and `list, numbered slugs`: the table of 1,000 paths beside all URLs of a
//!   site. Half of the paths are renamed pages, the others are random; numbered slugs differ in their
//!   digits alone, so that each is similar to all.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use frontend_map_catalog::misses::{MAX_ROWS, MissKey, Misses, Summary};
use frontend_map_catalog::site::{ResolveBy, Site, SitePages};
use frontend_map_catalog::snapshot::{Builder, Listing, Snapshot};
use frontend_map_catalog::tables::{Form, Rows as _};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

const UID: &str = "plugin::cms.article";
/// Odd, so that the median is one of them.
const ROUNDS: usize = 3;
/// The syllables of words: 32,768 words of three of them.
const SYLLABLES: [&str; 32] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va",
    "we", "xi", "yo", "zu", "bra", "cle", "dri", "flo", "gru", "sta", "tre", "pli", "sno", "kru",
    "ing", "er",
];

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick" || arg == "--test");
    let (urls, requests) = if quick { (2_000, 20_000) } else { (1_000_000, 5_000_000) };
    count(requests);
    let site = site();
    let mut random = fastrand::Rng::with_seed(1);
    let words: Vec<String> = (0..urls).map(|_| words(&mut random)).collect();
    let numbered: Vec<String> = (0..urls).map(|n| format!("product-{n:07}")).collect();
    for (name, slugs) in [("list, slugs of words", words), ("list, numbered slugs", numbered)] {
        let snapshots = [Arc::new(snapshot(&site, &slugs))];
        let summary = missed(&mut random, &slugs);
        let mut times = Vec::new();
        let mut suggested = 0;
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let misses = Misses::new(&summary, &site, &snapshots);
            let text: String = misses.chunks(Form::Lines).collect();
            times.push(begun.elapsed().as_millis());
            suggested = text.matches("\"reason\"").count();
        }
        times.sort_unstable();
        println!(
            "{name:<22} {:>6} ms  {} paths, {urls} URLs, {suggested} suggestions",
            times[ROUNDS / 2],
            summary.len()
        );
    }
}

/// Prints the time to count a request.
fn count(requests: u64) {
    let known: Vec<MissKey> =
        (0..MAX_ROWS).map(|n| MissKey::of("", format!("/en/articles/a-slug-{n}"))).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let mut summary = Summary::default();
    let begun = Instant::now();
    for now in 0..requests {
        let at = random.usize(..MAX_ROWS);
        summary.record(&known[at], i64::try_from(now).expect("a time"));
    }
    println!("{:<22} {:>6} ns", "count known", begun.elapsed().as_nanos() / u128::from(requests));
    let begun = Instant::now();
    for now in 0..requests {
        let key = MissKey::of("", format!("/en/articles/{:016x}", random.u64(..)));
        summary.record(&key, i64::try_from(now).expect("a time"));
    }
    println!("{:<22} {:>6} ns", "count random", begun.elapsed().as_nanos() / u128::from(requests));
    assert_eq!(black_box(summary).len(), MAX_ROWS);
}

fn words(random: &mut fastrand::Rng) -> String {
    let word = |random: &mut fastrand::Rng| -> String {
        // Some words are much more common than others.
        let words = 1_usize << random.u32(1..16);
        let mut number = random.usize(..words);
        let mut word = String::new();
        for _ in 0..3 {
            word.push_str(SYLLABLES[number % 32]);
            number /= 32;
        }
        word
    };
    let words: Vec<String> = (0..random.usize(2..7)).map(|_| word(random)).collect();
    words.join("-")
}

/// The paths of pages before they were renamed, and random ones.
fn missed(random: &mut fastrand::Rng, slugs: &[String]) -> Summary {
    let mut summary = Summary::default();
    for kind in (0..4).cycle() {
        if summary.len() == MAX_ROWS {
            break;
        }
        let slug = &slugs[random.usize(..slugs.len())];
        let path = match kind {
            0 => format!("/en/articles/{slug}-2"),
            1 => format!("/en/articles/old-{}", slug.split_once('-').expect("a word").1),
            2 => format!("/en/articles/{}", words(random)),
            _ => format!("/en/articles/product-{:07}x", random.u32(..10_000_000)),
        };
        summary.record(&MissKey::of("", path), 1);
    }
    summary
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
        source: 0,
    }
}

fn snapshot(site: &Site, slugs: &[String]) -> Snapshot {
    let mut part = Listing { rules: &site.rules, hosts: &site.hosts, uid: UID }.part();
    let fields: Arc<[FieldPath]> = FieldPath::parse("slug").into_iter().collect();
    for (n, slug) in slugs.iter().enumerate() {
        part.add(&Document {
            id: format!("d{n}").into(),
            locale: DocumentLocale::Named("en".into()),
            unpublished: false,
            fields: Arc::clone(&fields),
            values: vec![FieldValue::Text(slug.as_str().into())],
        });
    }
    Builder { path_table: true }.finish(vec![part]).expect("few enough")
}
