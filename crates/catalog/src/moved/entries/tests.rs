use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::moved::history::{PathHistory, Row};
use crate::site::{ResolveBy, SitePages};
use crate::snapshot::{Builder, Listing, Snapshot};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales, RedirectFields,
    Rule, RuleSet, Template,
};

const PAGE: &str = "api::page.page";
const REDIRECT: &str = "api::redirect.redirect";

fn field(name: &str) -> FieldPath {
    FieldPath::parse(name).unwrap()
}

fn uid(text: &str) -> ContentTypeUid {
    ContentTypeUid::parse(text).unwrap()
}

/// A site whose pages have any path, and its redirects.
fn site() -> Site {
    let locales = || Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    let with = |rule| RuleSet::new(locales(), LocalePrefix::Always, vec![rule]);
    let hosts = Hosts::one(BaseUrl::parse("https://www.example.com").unwrap(), 1);
    let redirects = RedirectFields {
        to: Some(field("to")),
        document: Some(field("target.documentId")),
        status: Some(field("status")),
        force: Some(field("force")),
        hosts: ["www.example.com", "other.example"].map(str::to_owned).to_vec(),
    };
    let of = |rules, redirects| Site {
        key: "main".to_owned(),
        rules,
        hosts: hosts.clone(),
        resolve: ResolveBy::Documents,
        sitemap_path: String::new(),
        pages: SitePages::default(),
        redirects,
        links: Vec::new(),
        links_fingerprint: 0,
        fingerprint: 0,
        source: 0,
    };
    let entries = with(Rule::redirect(uid(REDIRECT), field("from"), redirects));
    let pages = with(Rule::new(uid(PAGE), Template::parse("/{*slug}").unwrap()));
    of(pages, Some(Arc::new(of(entries, None))))
}

fn snapshot(site: &Site, uid: &str, documents: &[(String, Vec<(&str, String)>)]) -> Arc<Snapshot> {
    let Site { rules, hosts, .. } = site;
    let mut part = Listing { rules, hosts, uid }.part();
    for (id, values) in documents {
        let value = |text: &String| match text.as_str() {
            "true" => FieldValue::Boolean(true),
            text => FieldValue::Text(text.to_owned().into()),
        };
        part.add(&Document {
            id: id.clone().into(),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: values.iter().map(|(name, _)| field(name)).collect(),
            values: values.iter().map(|(_, text)| value(text)).collect(),
        });
    }
    Arc::new((Builder { path_table: true }).finish(vec![part]).unwrap())
}

/// The pages at these paths, and entries written as `from target`: an address, `@path` for the document
/// of a path, or `410`; `!` in front makes one come before a live page.
struct World {
    site: Site,
    index: PathIndex,
    entries: PathIndex,
    history: PathHistory,
}

impl World {
    /// Each of `former` is written as `path page`: the page had the path before.
    fn with_former(pages: &[&str], entries: &[&str], former: &[&str]) -> Self {
        let world = Self::new(pages, entries);
        let row = |(at, text): (usize, &&str)| {
            let (path, page) = text.split_once(" /").unwrap();
            Row {
                source: 0,
                site: "main".to_owned(),
                host: String::new(),
                path: path.to_owned(),
                uid: PAGE.to_owned(),
                document_id: page.to_owned(),
                locale: "en".to_owned(),
                last_seen: at.try_into().unwrap(),
                is_imported: false,
            }
        };
        world.history.load(former.iter().enumerate().map(row), 0);
        world
    }

    fn new(pages: &[&str], entries: &[&str]) -> Self {
        let site = site();
        let page = |path: &&str| (path[1..].to_owned(), vec![("slug", path[1..].to_owned())]);
        let pages: Vec<_> = pages.iter().map(page).collect();
        let entry = |(at, text): (usize, &&str)| {
            let (text, force) = text.strip_prefix('!').map_or((*text, ""), |text| (text, "true"));
            let (from, target) = text.split_once(' ').unwrap();
            let (status, target) = target.split_once(": ").unwrap_or(("", target));
            let mut values = vec![("from", from.to_owned()), ("status", status.to_owned())];
            values.push(match target.strip_prefix("@/") {
                Some(id) => ("target.documentId", id.to_owned()),
                None if target == "410" => ("status", target.to_owned()),
                None => ("to", target.to_owned()),
            });
            if target == "410" {
                values.remove(1);
            }
            if !force.is_empty() {
                values.push(("force", force.to_owned()));
            }
            (format!("r{at}"), values)
        };
        let entries: Vec<_> = entries.iter().enumerate().map(entry).collect();
        let of_redirects = site.redirects.clone().unwrap();
        let pages = snapshot(&site, PAGE, &pages);
        let entries = snapshot(&of_redirects, REDIRECT, &entries);
        let index = PathIndex::new(&site.rules, [(&uid(PAGE), TypePaths::Fresh(pages))]);
        let entries =
            PathIndex::new(&of_redirects.rules, [(&uid(REDIRECT), TypePaths::Fresh(entries))]);
        Self { site, index, entries, history: PathHistory::default() }
    }

    fn redirects(&self) -> RedirectWorld<'_> {
        RedirectWorld {
            site: &self.site,
            index: &self.index,
            entries: RedirectEntries { index: &self.entries },
            history: Some(self.site_history()),
            status: 308,
        }
    }

    fn site_history(&self) -> SiteHistory<'_> {
        let id = self.history.site(0, "main").unwrap();
        SiteHistory { history: &self.history, id, now: 0 }
    }

    /// What is known of a path without a page: entries come before former paths.
    fn former_owner(&self, pathname: &Pathname<'_>) -> FormerOwner<'_> {
        let world = self.redirects();
        match world.former_owner(pathname, None) {
            FormerOwner::None => {}
            of_entries => return of_entries,
        }
        match former_owner(self.site_history(), &self.site, &self.index, pathname, None) {
            FormerOwner::Moved(moved) => world.of_former_path(moved, pathname, None),
            former => former,
        }
    }

    /// The target and the status of a path: what comes before a live page, the live page, an entry.
    fn of(&self, path: &str) -> String {
        let (world, pathname) = (self.redirects(), Pathname::parse(path));
        let forced = world.forced(&pathname, None);
        let former = match forced {
            FormerOwner::None if is_live(&self.site, &self.index, path, None) => {
                return "live".to_owned();
            }
            FormerOwner::None => self.former_owner(&pathname),
            forced => forced,
        };
        match former {
            FormerOwner::Entry(entry) => {
                let to = match &entry.destination {
                    Some(Destination::Url(url)) => Some(url.clone()),
                    _ => entry.path(),
                };
                let to = to.unwrap_or_default();
                format!("{} {to}", entry.status)
            }
            FormerOwner::Moved(moved) => format!("308 {}", moved.to.path()),
            FormerOwner::None | FormerOwner::Gone { .. } => "none".to_owned(),
            FormerOwner::NotKnown(uid) => format!("not known: {uid}"),
        }
    }

    fn faults(&self) -> Vec<(String, EntryFault)> {
        let world = self.redirects();
        let mut faults: Vec<_> = (world.entries.all())
            .filter_map(|entry| Some((as_written(entry.path()), world.fault(entry)?)))
            .collect();
        faults.sort_by(|one, other| one.0.cmp(&other.0));
        faults
    }
}

#[test]
fn path_leads_to_the_end_of_its_chain_and_a_live_page_wins() {
    let world = World::new(
        &["/home", "/news/final", "/c", "/e", "/two"],
        &[
            "/old /home",
            "/older 302: /old",
            "/oldest 301: /older",
            "/c /home",
            "/old-q /home?a=1#b",
            "/chain-q /old-q",
            "/a /b",
            "/b /a",
            "/self /self",
            "/doc @/c",
            "/gone-doc @/nowhere",
            "/gone 410",
            "/to-gone /gone",
            "/out https://other.example/x",
            "/own https://www.example.com/old",
            "/static 307: /search",
            "/p/* /news/*",
            "/p/x/* /e",
            "/all/* /all/one",
            "!/e /c",
            "/caf\u{e9} /home",
            "/c1 /c2?x=1#frag",
            "/c2 https://other.example/y?z=2",
            "/h1 http://www.example.com/h1",
            "/h2 http://www.example.com",
            "!/two @/two",
            "/chk /two",
            "/grow/* /grow/more/*",
            "/s/* https://other.example/*",
        ],
    );
    for (path, expected) in [
        ("/old", "308 /home"),
        ("/old/", "308 /home"),
        ("/older", "302 /home"),
        ("/oldest", "302 /home"),
        ("/c", "live"),
        ("/old-q", "308 /home?a=1#b"),
        ("/chain-q", "308 /home?a=1#b"),
        ("/a", "none"),
        ("/b", "none"),
        ("/self", "none"),
        ("/doc", "308 /c"),
        ("/gone-doc", "none"),
        ("/gone", "410 "),
        ("/to-gone", "410 "),
        ("/out", "308 https://other.example/x"),
        ("/own", "308 /home"),
        ("/static", "307 /search"),
        ("/p", "308 /news"),
        ("/p/final", "308 /news/final"),
        ("/p/a/b", "308 /news/a/b"),
        ("/p/x/y", "308 /c"),
        ("/all/two", "308 /all/one"),
        ("/all/one", "none"),
        ("/e", "308 /c"),
        ("/caf%c3%a9", "308 /home"),
        ("/c1", "308 https://other.example/y?z=2"),
        ("/h1", "none"),
        ("/h2", "308 /"),
        ("/two", "live"),
        ("/chk", "308 /two"),
        ("/grow/x", "none"),
        ("/s/a", "308 https://other.example/a"),
        ("/s/../a", "none"),
        ("/s/%2e%2e/a", "none"),
        ("/unknown", "none"),
    ] {
        assert_eq!(world.of(path), expected, "{path}");
    }
    let faults = world.faults();
    let expected = [
        ("/a", EntryFault::Loop),
        ("/b", EntryFault::Loop),
        ("/c", EntryFault::Shadowed),
        ("/e", EntryFault::HidesPage),
        ("/gone-doc", EntryFault::NoTarget),
        ("/grow/*", EntryFault::Loop),
        ("/h1", EntryFault::Loop),
        ("/self", EntryFault::Loop),
        ("/two", EntryFault::Loop),
    ];
    assert_eq!(faults, expected.map(|(path, fault)| (path.to_owned(), fault)));
}

#[test]
fn entries_that_are_not_known_decide_about_paths_without_a_page_alone() {
    let mut world = World::new(&["/home"], &[]);
    let redirects = world.site.redirects.clone().unwrap();
    world.entries = PathIndex::new(&redirects.rules, [(&uid(REDIRECT), TypePaths::Missing)]);
    assert_eq!(world.of("/home"), "live");
    assert_eq!(world.of("/old"), "not known: api::redirect.redirect");
}

#[test]
fn former_paths_and_entries_are_one_hop_and_never_a_loop() {
    for (pages, entries, former, expected) in [
        // A page is renamed, and an entry sends visitors back to its former path.
        (
            &["/new"][..],
            &["!/new /old"][..],
            &["/old /new"][..],
            &[("/new", "live"), ("/old", "308 /new")][..],
        ),
        (&["/new"], &["!/new/* /old"], &["/old /new"], &[("/new", "live"), ("/old", "308 /new")]),
        // The page that had a path is hidden.
        (
            &["/new", "/b"],
            &["!/new 302: /b"],
            &["/old /new"],
            &[("/old", "307 /b"), ("/new", "302 /b")],
        ),
        (
            &["/new"],
            &["!/new 410", "/start /old"],
            &["/old /new"],
            &[("/old", "410 "), ("/start", "410 ")],
        ),
        // An entry that leads to itself says nothing.
        (&["/d"], &["!/d /a", "!/a /a"], &["/a /d"], &[("/a", "308 /d"), ("/d", "live")]),
        (&["/d"], &["/e /b", "/b /b"], &["/b /d"], &[("/e", "308 /d"), ("/b", "308 /d")]),
    ] {
        let world = World::with_former(pages, entries, former);
        for (path, expected) in expected {
            assert_eq!(world.of(path), *expected, "{path} {entries:?} {former:?}");
        }
    }
}

/// Follows entries as a browser would that asks for each path again. `None`: it goes in a circle, or gives
/// up.
fn naive(
    pages: &[String],
    entries: &BTreeMap<String, (bool, String)>,
    path: &str,
) -> Option<String> {
    let mut at = path.to_owned();
    for hops in 0..=MAX_HOPS {
        // The exact path, else the longest beginning.
        let below = || {
            let of = |(from, (force, to)): (&String, &(bool, String))| {
                let start = from.strip_suffix("/*")?;
                let rest = at.strip_prefix(start)?;
                let is_below = rest.is_empty() || rest.starts_with('/');
                let to = to.strip_suffix("/*").map_or(to.clone(), |to| format!("{to}{rest}"));
                is_below.then_some((start.len(), (*force, to)))
            };
            entries.iter().filter_map(of).max().map(|(_, entry)| entry)
        };
        let entry = entries.get(&at).cloned().or_else(below);
        let is_live = pages.contains(&at);
        let next = entry.filter(|(force, to)| (*force || !is_live) && *to != at);
        match next {
            None if hops == 0 => return Some(if is_live { "live" } else { "none" }.to_owned()),
            None => return Some(format!("308 {at}")),
            Some((_, to)) => at = to,
        }
    }
    None
}

proptest! {
    #[test]
    fn one_hop_leads_where_many_would(
        pages in proptest::collection::vec("/[a-d](/[a-d])?", 0..4),
        entries in proptest::collection::vec(
            ("/[a-e](/[a-d]|/[*])?", "/[a-e](/[a-d]|/[*])?", proptest::bool::ANY), 0..7),
        path in "/[a-e](/[a-d])?",
    ) {
        // Two entries with one path are another matter.
        let mut by_path = BTreeMap::new();
        for (from, to, force) in entries {
            let to = if from.ends_with('*') { to } else { to.replace("/*", "/d") };
            by_path.entry(from).or_insert((force, to));
        }
        let written: Vec<String> = by_path
            .iter()
            .map(|(from, (force, to))| format!("{}{from} {to}", if *force { "!" } else { "" }))
            .collect();
        let pages_of: Vec<&str> = pages.iter().map(String::as_str).collect();
        let entries_of: Vec<&str> = written.iter().map(String::as_str).collect();
        let world = World::new(&pages_of, &entries_of);
        let found = world.of(&path);
        if let Some(expected) = naive(&pages, &by_path, &path) {
            prop_assert_eq!(found, expected, "{:?} {:?}", pages, written);
            return Ok(());
        }
        // An entry that leads nowhere says nothing: what is left is a page, now or after one hop.
        let end = found.strip_prefix("308 ").map_or(found.clone(), |to| world.of(to));
        let is_nothing = found == "none" && !pages.contains(&path);
        prop_assert!(is_nothing || end == "live", "{} {:?} {:?}", found, pages, written);
    }

    #[test]
    fn target_of_a_redirect_redirects_to_nothing_else(
        pages in proptest::collection::vec("/[a-d](/[a-b])?", 0..4),
        entries in proptest::collection::vec(
            ("!?/[a-e](/[a-b]|/[*])?", "(30[27]: )?(@?/[a-e](/[a-b])?|410)"), 0..6),
        former in proptest::collection::vec(("/[a-e](/[a-b])?", 0..4_usize), 0..5),
    ) {
        let mut by_path = BTreeMap::new();
        for (from, to) in entries {
            let path = from.trim_start_matches('!').to_owned();
            by_path.entry(path).or_insert(format!("{from} {}", to.replace("302: 410", "410").replace("307: 410", "410")));
        }
        let entries: Vec<&str> = by_path.values().map(String::as_str).collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let former: Vec<String> = former
            .iter()
            .filter_map(|(path, at)| Some(format!("{path} {}", pages.get(*at)?)))
            .collect();
        let former: Vec<&str> = former.iter().map(String::as_str).collect();
        let world = World::with_former(&pages, &entries, &former);
        for path in ["/a", "/b", "/c", "/d", "/e", "/a/a", "/b/b", "/c/a", "/d/b", "/e/a"] {
            let found = world.of(path);
            let Some((status, to)) = found.split_once(' ') else { continue };
            if status == "410" {
                continue;
            }
            let end = world.of(to);
            let is_end = ["live", "none"].contains(&&*end);
            prop_assert!(to != path && is_end, "{path}: {found}, {end}: {pages:?} {entries:?} {former:?}");
        }
    }
}
