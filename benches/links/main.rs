//! Links in content: bytes for one, and the time for the verdicts about a million of them.
//!
//! `cargo bench --bench links` prints the figures; `-- --quick` is a short run that only shows that it
//! works. The rows, each with a tenth as many documents as links:
//!
//! - `shared addresses`: each address is in ten links, as in sites that link to the same pages.
//! - `own addresses`: no two links have the same address.
//! - `relative addresses`: each depends on the URL of its document.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use frontend_map_catalog::links::{
    KnownHosts, LinkFilter, LinkTable, NewLink, PageLookup, Verdict, judge,
};
use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::path_index::{PathIndex, TypePaths};
use frontend_map_catalog::resolve::{Resolution, resolve};
use frontend_map_catalog::site::{LinkSource, ResolveBy, Site, SitePages, Sites};
use frontend_map_catalog::snapshot::{Builder, Listing, Snapshot};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Pathname, Rule, RuleSet, Template,
};

const UID: &str = "plugin::cms.article";
/// Odd, so that the median is one of them.
const ROUNDS: usize = 5;
const LINKS_OF_A_DOCUMENT: usize = 10;

struct World {
    hosts: KnownHosts,
    index: PathIndex,
}

impl PageLookup for World {
    fn hosts(&self) -> &KnownHosts {
        &self.hosts
    }

    fn resolve<'a>(
        &'a self,
        site: usize,
        pathname: &'a Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Resolution<'a, 'a>> {
        let site = &self.hosts.sites()[site];
        let former = || FormerOwner::None;
        Some(resolve(site, &self.index, pathname, host, FormerOwner::None, former))
    }

    fn index(&self, _: usize) -> Option<&PathIndex> {
        Some(&self.index)
    }
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick" || arg == "--test");
    let links = if quick { 10_000 } else { 1_000_000 };
    let documents = links / LINKS_OF_A_DOCUMENT;
    let world = world(documents);
    // Half of the addresses have a page.
    let pages = documents * 2;
    for (name, address) in [
        (
            "shared addresses",
            &(|n: usize| format!("/en/articles/{}", slug(n % pages))) as &dyn Fn(_) -> _,
        ),
        ("own addresses", &|n| format!("/en/articles/{}?n={n}", slug(n % pages))),
        ("relative addresses", &|n| slug(n % pages)),
    ] {
        let mut table = LinkTable::new(0, 0, usize::MAX);
        for document in 0..documents {
            let links: Vec<(String, String)> = (0..LINKS_OF_A_DOCUMENT)
                .map(|n| (document * LINKS_OF_A_DOCUMENT + n) * 7_919)
                .map(|n| (address(n), format!("text {}", n % 50_000)))
                .collect();
            let links = links.iter().map(|(address, text)| NewLink {
                locale: Some(0),
                field: 0,
                address,
                text,
            });
            table.add(0, &id(document), links);
        }
        let table = table.compacted();
        let mut times = Vec::new();
        let mut missing = 0;
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let judged = black_box(judge(&table, &world, 0, &LinkFilter::default()));
            times.push(begun.elapsed().as_millis());
            missing = judged.count(Verdict::NoSuchPage);
        }
        times.sort_unstable();
        let begun = Instant::now();
        let stored = table.to_bytes().len();
        let written = begun.elapsed().as_millis();
        let summary = table.summary();
        assert!(summary.links == links && missing > 0);
        println!(
            "{name:<20} {:>6} ms  {links} links, {missing} without a page, {} bytes a link in memory, {} stored in {written} ms",
            times[ROUNDS / 2],
            summary.bytes / links,
            stored / links,
        );
    }
}

fn id(number: usize) -> String {
    format!("document{number:016}")
}

fn slug(number: usize) -> String {
    format!("an-article-with-a-slug-{number}")
}

fn world(documents: usize) -> World {
    let template = Template::parse("/{locale}/articles/{slug}").expect("a template");
    let uid = ContentTypeUid::parse(UID).expect("a UID");
    let codes = ["en", "de"].map(|code| Locale::parse(code).expect("a locale"));
    let locales = Locales::new(codes.to_vec()).expect("locales");
    let base = BaseUrl::parse("https://www.example.com").expect("a base URL");
    let fields = FieldPath::parse("body").into_iter().collect();
    let site = Site {
        key: "main".to_owned(),
        rules: RuleSet::new(locales, LocalePrefix::Always, vec![Rule::new(uid.clone(), template)]),
        hosts: Hosts::one(base, codes.len()),
        resolve: ResolveBy::Documents,
        sitemap_path: String::new(),
        pages: SitePages::default(),
        redirects: None,
        links: vec![LinkSource { content_type: uid.clone(), fields }],
        links_fingerprint: 0,
        fingerprint: 0,
        source: 0,
    };
    let paths = TypePaths::Fresh(Arc::new(snapshot(&site, documents)));
    let index = PathIndex::new(&site.rules, [(&uid, paths)]);
    World { hosts: KnownHosts::new(&Sites::new(vec![site])), index }
}

fn snapshot(site: &Site, documents: usize) -> Snapshot {
    let mut part = Listing { rules: &site.rules, hosts: &site.hosts, uid: UID }.part();
    let fields: Arc<[FieldPath]> = FieldPath::parse("slug").into_iter().collect();
    for number in 0..documents {
        part.add(&Document {
            id: id(number).into(),
            locale: DocumentLocale::Named("en".into()),
            unpublished: false,
            fields: Arc::clone(&fields),
            values: vec![FieldValue::Text(slug(number).into())],
        });
    }
    Builder { path_table: true }.finish(vec![part]).expect("few enough")
}
