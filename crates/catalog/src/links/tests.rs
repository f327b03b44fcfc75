use std::sync::Arc;

use super::*;
use crate::moved::entries::{Destination, EntryRedirect};
use crate::moved::redirects::{FormerOwner, Redirect};
use crate::path_index::{PathIndex, TypePaths};
use crate::resolve::{Resolution, resolve};
use crate::site::{LinkSource, ResolveBy, Site, SitePages, Sites};
use crate::snapshot::{Builder, Listing, Snapshot};
use crate::tables::{Form, Rows as _};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Pathname, Rule, RuleSet, Template,
};

const PAGE: &str = "api::page.page";

fn uid() -> ContentTypeUid {
    ContentTypeUid::parse(PAGE).unwrap()
}

/// A site with pages in two locales, each on the host for it.
fn site(key: &str, bases: [&str; 2]) -> Site {
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap());
    let locales = Locales::new(locales.to_vec()).unwrap();
    let hosts = Hosts::new(bases.map(|base| Some(BaseUrl::parse(base).unwrap())).to_vec());
    let rule = Rule::new(uid(), Template::parse("/{locale}/{slug}").unwrap());
    let fields = ["body", "zone.text"].map(|path| FieldPath::parse(path).unwrap());
    Site {
        key: key.to_owned(),
        rules: RuleSet::new(locales, LocalePrefix::Always, vec![rule])
            .with_hosts(&hosts.by_locale()),
        hosts,
        resolve: ResolveBy::Documents,
        sitemap_path: String::new(),
        pages: SitePages::default(),
        redirects: None,
        links: vec![LinkSource { content_type: uid(), fields: fields.to_vec() }],
        links_fingerprint: 7,
        fingerprint: 0,
        source: 0,
    }
}

/// The pages: `(documentId, locale, slug)`; the locale `""` is none.
fn snapshot(site: &Site, pages: &[(&str, &str, &str)]) -> Arc<Snapshot> {
    let mut part = Listing { rules: &site.rules, hosts: &site.hosts, uid: PAGE }.part();
    for (id, locale, slug) in pages {
        let named = DocumentLocale::Named((*locale).into());
        part.add(&Document {
            id: (*id).into(),
            locale: if locale.is_empty() { DocumentLocale::None } else { named },
            unpublished: false,
            fields: Arc::new([FieldPath::parse("slug").unwrap()]),
            values: vec![FieldValue::Text((*slug).into())],
        });
    }
    Arc::new((Builder { path_table: true }).finish(vec![part]).unwrap())
}

/// What is known of the first site; another one has no path index.
struct World {
    hosts: KnownHosts,
    index: Arc<PathIndex>,
    snapshot: Arc<Snapshot>,
}

impl World {
    fn new(sites: Vec<Site>, pages: &[(&str, &str, &str)]) -> Self {
        let snapshot = snapshot(&sites[0], pages);
        let paths = TypePaths::Fresh(Arc::clone(&snapshot));
        let index = Arc::new(PathIndex::new(&sites[0].rules, [(&uid(), paths)]));
        Self { hosts: KnownHosts::new(&Sites::new(sites)), index, snapshot }
    }

    fn own(&self) -> &Arc<Site> {
        &self.hosts.sites()[0]
    }

    fn former(&self, path: &str) -> FormerOwner<'_> {
        let to = self.snapshot.owner("/en/a").unwrap();
        let entry = |destination| EntryRedirect {
            entry: to,
            destination,
            suffix: "?from=1".to_owned(),
            status: 301,
            is_stale: false,
        };
        match path {
            "/en/was" => FormerOwner::Moved(Redirect { to, since: 1, is_stale: false }),
            "/en/gone" => FormerOwner::Gone { since: 1 },
            "/en/entry" => FormerOwner::Entry(entry(Some(Destination::Document(to)))),
            "/en/entry-to-nothing" | "/en/B" => {
                let path = "/en/nothing".to_owned();
                FormerOwner::Entry(entry(Some(Destination::Path { path, locale: 0 })))
            }
            "/en/entry-to-upper-case" => {
                let path = "/en/A".to_owned();
                FormerOwner::Entry(entry(Some(Destination::Path { path, locale: 0 })))
            }
            "/en/entry-to-a-site" => {
                let url = "https://other.example/en/a".to_owned();
                FormerOwner::Entry(entry(Some(Destination::Url(url))))
            }
            "/en/entry-elsewhere" => {
                let url = "https://elsewhere.example/en/a".to_owned();
                FormerOwner::Entry(entry(Some(Destination::Url(url))))
            }
            "/en/gone-by-entry" => FormerOwner::Entry(entry(None)),
            "/en/not-known" => FormerOwner::NotKnown(uid()),
            _ => FormerOwner::None,
        }
    }
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
        let former = || self.former(&pathname.normalized());
        (site == 0)
            .then(|| resolve(self.own(), &self.index, pathname, host, FormerOwner::None, former))
    }

    fn index(&self, site: usize) -> Option<&PathIndex> {
        (site == 0).then_some(&*self.index)
    }
}

const BASE: &str = "https://www.example.com";

fn one_host() -> World {
    let sites = vec![site("main", [BASE, BASE]), site("other", ["https://other.example"; 2])];
    World::new(sites, &[("a", "en", "a"), ("a", "de", "ah"), ("b", "en", "b"), ("none", "", "n")])
}

/// The verdict about an address in the English version of document `a`, and its target.
fn judged(world: &World, written: &str) -> String {
    judged_in(world, Some(0), written)
}

fn judged_in(world: &World, locale: Option<usize>, written: &str) -> String {
    let address = match world.hosts.classify(written) {
        AddressKind::Internal(address) => address,
        other => return format!("{other:?}").to_lowercase(),
    };
    let mut table = LinkTable::new(7, 0, 1 << 20);
    table.add(0, "a", [NewLink { locale, field: 0, address: &address, text: "t" }]);
    let judged = judge(&table, world, 0, &LinkFilter::default());
    let Some(row) = judged.rows.first() else { return "outside".to_owned() };
    let outcome = &judged.outcomes[row.outcome as usize];
    let to = outcome.target.as_ref().and_then(|target| target.url.clone());
    [outcome.verdict.as_str().to_owned()].into_iter().chain(to).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_verdict_is_that_of_the_path_that_the_address_means() {
    let world = one_host();
    for (address, expected) in [
        ("/en/a", "ok"),
        (" /en/a#part ", "ok"),
        ("/en/a?x=/y#z", "ok"),
        ("https://www.example.com/en/a", "ok"),
        ("https://WWW.example.com:443/en/a", "ok"),
        ("//www.example.com/en/a", "ok"),
        ("/x/../en/./a", "ok"),
        ("/en/%61", "ok"),
        ("b", "ok"),
        ("../en/b", "ok"),
        ("/en/was", "moved https://www.example.com/en/a"),
        ("/en/entry", "moved https://www.example.com/en/a?from=1"),
        ("/en/entry-elsewhere", "moved https://elsewhere.example/en/a?from=1"),
        ("/en/B", "no_such_page https://www.example.com/en/nothing?from=1"),
        ("/en/entry-to-upper-case", "moved https://www.example.com/en/A?from=1"),
        // The test knows nothing of the pages of another site.
        ("/en/entry-to-a-site", "unknown https://other.example/en/a?from=1"),
        ("/en/entry-to-nothing", "no_such_page https://www.example.com/en/nothing?from=1"),
        ("/en/gone", "gone"),
        ("/en/gone-by-entry", "gone"),
        ("/en/nothing", "no_such_page"),
        ("/nothing/at/all", "no_such_page"),
        ("/", "no_such_page"),
        ("https://www.example.com", "no_such_page"),
        ("/en/a%2Fb", "no_such_page"),
        ("/en/..%2fa", "no_such_page"),
        ("nothing", "no_such_page"),
        ("/de/ah", "other_locale https://www.example.com/en/a"),
        ("/en/a/", "not_canonical https://www.example.com/en/a"),
        ("/en//a", "not_canonical https://www.example.com/en/a"),
        ("/En/A", "not_canonical https://www.example.com/en/a"),
        ("/DE/Ah", "other_locale https://www.example.com/en/a"),
        ("http://www.example.com/en/a", "not_canonical https://www.example.com/en/a"),
        ("https://example.com/en/a", "not_canonical https://www.example.com/en/a"),
        ("/de/n", "not_canonical https://www.example.com/en/n"),
        ("/en/not-known", "unknown"),
        ("https://other.example/en/a", "unknown"),
        ("https://elsewhere.example/en/a", "external"),
        ("//elsewhere.example/en/a", "external"),
        ("https://www.example.com:8443/en/a", "external"),
        ("https://user@www.example.com/en/a", "external"),
        ("#part", "nothing"),
        ("?x=1", "nothing"),
        ("mailto:a@www.example.com", "nothing"),
        ("JavaScript:alert(1)", "nothing"),
        ("", "nothing"),
    ] {
        assert_eq!(judged(&world, address), expected, "{address}");
    }
    let long = format!("/en/{}", "a".repeat(8 << 10));
    assert_eq!(judged(&world, &long), "toolong");
}

#[test]
fn document_without_a_locale_links_to_any_locale() {
    let world = one_host();
    assert_eq!(judged_in(&world, None, "/de/ah"), "ok");
    assert_eq!(judged_in(&world, Some(1), "/en/b"), "other_locale");
    assert_eq!(judged_in(&world, Some(1), "/en/n"), "ok");
}

#[test]
fn slug_of_a_document_does_not_change_the_host_of_a_relative_address() {
    let world = World::new(
        vec![site("main", [BASE, BASE])],
        &[("a", "en", "//evil.example"), ("b", "en", "b")],
    );
    assert_eq!(judged(&world, "b"), "unknown", "a slug with slashes has no URL");
    let world = one_host();
    assert_eq!(judged(&world, ".//evil.example/x"), "no_such_page");
    assert_eq!(judged(&world, "../../..//evil.example/x"), "no_such_page");
}

#[test]
fn base_path_and_host_of_a_locale_decide_which_site_a_path_is_on() {
    let bases = ["https://en.example/shop", "https://de.example"];
    let sites = vec![site("main", bases), site("rest", ["https://en.example"; 2])];
    let world = World::new(sites, &[("a", "en", "a"), ("a", "de", "ah")]);
    for (address, expected) in [
        ("/shop/en/a", "ok"),
        ("https://en.example/shop/en/a", "ok"),
        ("a", "ok"),
        // Another site has the rest of the host.
        ("/en/a", "unknown"),
        ("/shopping/en/a", "unknown"),
        ("https://de.example/de/ah", "other_locale https://en.example/shop/en/a"),
        ("/shop/de/ah", "no_such_page"),
    ] {
        assert_eq!(judged(&world, address), expected, "{address}");
    }
    let alone = World::new(vec![site("main", bases)], &[("a", "en", "a"), ("a", "de", "ah")]);
    assert_eq!(judged(&alone, "/en/a"), "outside");
    assert_eq!(judged_in(&alone, Some(1), "/de/ah"), "ok");
}

#[test]
fn site_below_the_base_url_of_another_one_has_its_paths() {
    let shop = site("shop", ["https://www.example.com/shop"; 2]);
    let pages = [("a", "en", "a"), ("a", "de", "ah"), ("shop", "en", "shop")];
    let world = World::new(vec![site("main", [BASE, BASE]), shop], &pages);
    for (address, expected) in [
        ("/en/a", "ok"),
        ("/shopping", "no_such_page"),
        // The test knows nothing of the pages of another site.
        ("/shop", "unknown"),
        ("/shop/en/a", "unknown"),
        ("https://www.example.com/shop/en/a", "unknown"),
        ("https://example.com/shop/en/a", "unknown"),
        ("../shop/en/a", "unknown"),
        ("shop", "ok"),
    ] {
        assert_eq!(judged(&world, address), expected, "{address}");
    }
}

#[test]
fn filter_of_targets_lets_through_links_that_lead_there() {
    let world = one_host();
    let addresses = ["/en/a", "/en/a/", "/en/was", "/de/ah", "/en/entry-elsewhere", "/en/b"];
    let mut table = LinkTable::new(7, 0, 1 << 20);
    let link = |address| NewLink { locale: Some(0), field: 0, address, text: "t" };
    table.add(0, "b", addresses.map(link));
    let to = |path: &str| {
        let filter = LinkFilter { to: Some(path.to_owned()), ..LinkFilter::default() };
        let judged = judge(&table, &world, 0, &filter);
        judged.rows.iter().map(|row| addresses[row.link as usize]).collect::<Vec<_>>()
    };
    assert_eq!(to("/en/a"), ["/en/a", "/en/a/", "/en/was"]);
    assert_eq!(to("/de/ah"), ["/de/ah"]);
    assert_eq!(to("/en/entry-elsewhere"), ["/en/entry-elsewhere"]);
}

#[test]
fn paths_that_are_not_known_are_not_missing() {
    let mut world = one_host();
    let site = Arc::clone(world.own());
    world.index = Arc::new(PathIndex::new(&site.rules, [(&uid(), TypePaths::Missing)]));
    assert_eq!(judged(&world, "/en/nothing"), "unknown");
    let stale = TypePaths::Stale(Arc::clone(&world.snapshot));
    world.index = Arc::new(PathIndex::new(&site.rules, [(&uid(), stale)]));
    assert_eq!(judged(&world, "/en/nothing"), "unknown");
    assert_eq!(judged(&world, "/en/a"), "ok");
}

fn link<'a>(locale: usize, address: &'a str, text: &'a str) -> NewLink<'a> {
    NewLink { locale: Some(locale), field: 1, address, text }
}

fn table() -> LinkTable {
    let mut table = LinkTable::new(7, 1_700_000_000_000, 1 << 20);
    table.add(0, "b", [link(0, "/en/a", "one"), link(0, "/en/was", "two"), link(0, "/en/x", "3")]);
    table.add(0, "a", [link(0, "/en/b/", "four")]);
    table.add(0, "a", [link(1, "/en/b", "one")]);
    table.count(0, Some("b"), Missing { left_out: 2, unreadable: 0 });
    table.count(0, None, Missing { left_out: 0, unreadable: 1 });
    table
}

/// The rows of a table as lines, and the line of their figures.
fn rows(world: &World, table: LinkTable, filter: &LinkFilter) -> Vec<String> {
    let (hosts, index) = (world.hosts.clone(), Arc::clone(&world.index));
    let linking = Linking { hosts, site: 0, index, admin: None };
    let judged = judge(&table, world, 0, filter);
    let text: String =
        LinkRows::new(Arc::new(table), judged, linking).chunks(Form::Lines).collect();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn row_has_the_path_below_the_base_url_that_the_address_means() {
    let bases = ["https://en.example/shop", "https://de.example"];
    let world = World::new(vec![site("main", bases)], &[("a", "en", "a"), ("b", "en", "b")]);
    for (document, address, path) in [
        ("a", "b", r#""/en/b""#),
        ("a", "../en/./b?x=1", r#""/en/b""#),
        ("a", "/shop/en/b", r#""/en/b""#),
        ("a", "https://en.example/shop", r#""/""#),
        ("a", "https://de.example/de/ü", r#""/de/%C3%BC""#),
        // The document has no URL.
        ("c", "b", "null"),
    ] {
        let mut table = LinkTable::new(7, 0, 1 << 20);
        table.add(0, document, [link(0, address, "text")]);
        let rows = rows(&world, table, &LinkFilter::default());
        let expected = format!(r#""path":{path},"verdict""#);
        assert!(rows[0].contains(&expected), "{address}: {}", rows[0]);
    }
}

#[test]
fn rows_have_link_verdict_and_figures_of_what_was_asked_for() {
    let world = one_host();
    let text = |filter: LinkFilter| rows(&world, table(), &filter);
    let all = text(LinkFilter::default());
    assert_eq!(
        all[0],
        r#"{"contentType":"api::page.page","documentId":"a","locale":"en","url":"https://www.example.com/en/a","field":"zone.text","text":"four","address":"/en/b/","path":"/en/b","verdict":"not_canonical","to":"https://www.example.com/en/b"}"#
    );
    assert_eq!(
        all.last().unwrap(),
        r#"{"count":5,"documents":2,"broken":1,"verdicts":{"ok":1,"moved":1,"gone":0,"no_such_page":1,"other_locale":1,"not_canonical":1,"unknown":0},"readAt":"2023-11-14T22:13:20.000Z","leftOut":2,"unreadable":1}"#
    );
    let to = LinkFilter { to: Some("/en//a/".to_owned()), ..LinkFilter::default() };
    let to = text(to);
    assert_eq!(to.len(), 3, "directly and by a redirect: {to:?}");
    assert!(
        to[2].starts_with(r#"{"count":2,"documents":1,"broken":0,"verdicts":{"ok":1,"moved":1"#)
    );
    let of = LinkFilter {
        document_id: Some("b".to_owned()),
        verdicts: vec![Verdict::NoSuchPage],
        ..LinkFilter::default()
    };
    let of = text(of);
    assert_eq!(of.len(), 2);
    assert!(
        of[1].starts_with(r#"{"count":1,"documents":1,"broken":1,"verdicts":{"ok":1,"moved":1"#)
    );
}

#[test]
fn table_is_read_as_it_was_written_or_refused() {
    let site = site("main", [BASE, BASE]);
    let bytes = table().to_bytes();
    let read = LinkTable::from_bytes(&bytes, &site, 1 << 20).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    assert_eq!(read.documents, table().documents);
    assert_eq!((read.read_at(), read.summary().missing.left_out), (1_700_000_000_000, 2));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(LinkTable::from_bytes(&damaged, &site, 1 << 20).is_err(), "byte {at}");
        assert!(LinkTable::from_bytes(&bytes[..at], &site, 1 << 20).is_err(), "{at} bytes");
    }
    let other = Site { links_fingerprint: 8, ..site.clone() };
    assert!(LinkTable::from_bytes(&bytes, &other, 1 << 20).is_err());
    let fewer = Site { links: Vec::new(), ..site };
    assert!(LinkTable::from_bytes(&bytes, &fewer, 1 << 20).is_err());
}

#[test]
fn table_is_bounded_and_counts_what_it_leaves_out() {
    let max_bytes = 64 << 10;
    let mut table = LinkTable::new(7, 0, max_bytes);
    for n in 0..10_000 {
        let (id, address) = (format!("d{n}"), format!("/en/{n}"));
        table.add(0, &id, [link(0, &address, "same"), link(1, &address, "same")]);
    }
    let summary = table.summary();
    assert!(summary.bytes <= max_bytes + 1_024, "{summary:?}");
    assert!(summary.links > 300, "{summary:?}");
    assert_eq!(summary.links as u64 + summary.missing.left_out, 20_000);
}

#[test]
fn links_of_a_document_are_replaced_removed_and_copied() {
    let mut one = table();
    one.replace(0, "b", [link(0, "/en/new", "new")]);
    one.remove(0, "a");
    one.remove(0, "unknown");
    let summary = one.summary();
    assert_eq!((summary.links, summary.documents), (1, 1));
    let compact = one.compacted();
    assert!(compact.summary().bytes < summary.bytes);
    assert_eq!(compact.summary().links, 1);
    let mut other = table();
    other.copy_document(0, "b", &one);
    other.copy_document(0, "a", &one);
    assert_eq!(other.compacted().to_bytes(), compact.to_bytes());
}
