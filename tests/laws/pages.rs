//! Sites with pages outside the CMS (D40): a page has its path alone, and changes no other path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use frontend_map_catalog::site::Site;
use frontend_map_catalog::sitemap::files::{Frame, Layout, write};
use frontend_map_commands::config::{Environment, parse};
use frontend_map_rules::frontend_url::{NoUrlReason, frontend_path};
use frontend_map_rules::{PagePaths, without_trailing_slash};
use proptest::prelude::*;
use url::Url;

use super::{fail, features, hosts, versions};
use crate::support::settings::{Settings, site};

/// The segments of pages, as written in the settings and in a URL.
const SEGMENTS: [(&str, &str); 6] = [
    ("a", "a"),
    ("a b", "a%20b"),
    ("é", "%C3%A9"),
    ("x.html", "x.html"),
    ("100", "100"),
    ("'~", "%27~"),
];
/// The base URLs of `en` and `de`, and the host of `de`.
const BASES: [([&str; 2], usize); 3] = [
    (["https://a.example"; 2], 0),
    (["https://a.example", "https://b.example/start"], 1),
    (["http://a.example:8080/shop", "https://a.example"], 1),
];
const CODES: [&str; 2] = ["en", "de"];

/// What the settings name: the path by locale, as positions in [`SEGMENTS`], with `{locale}` in front or not.
#[derive(Clone, Debug)]
struct Page {
    paths: [Option<Vec<usize>>; 2],
    has_locale: bool,
    listed: bool,
}

#[derive(Clone, Debug)]
struct World {
    pages: Vec<Page>,
    bases: usize,
    segments: [&'static str; 2],
    omits_default: bool,
    slash: bool,
}

impl World {
    fn settings(&self) -> String {
        let [en, de] = BASES[self.bases].0;
        let [first, second] = self.segments.map(|segment| format!("segment = \"{segment}\""));
        let slash = if self.slash { "always" } else { "never" };
        let prefix = if self.omits_default { "except-default" } else { "always" };
        let site = site("main")
            .front_end_url(&format!("{{ en = \"{en}\", de = \"{de}\" }}"))
            .locales(&[
                &format!("{{ code = \"en\", {first} }}"),
                &format!("{{ code = \"de\", {second} }}"),
            ])
            .resolve("documents")
            .set(&format!("trailing_slash = \"{slash}\"\nlocale_prefix = \"{prefix}\""))
            .rule("api::a.a", "/{locale}/{slug}")
            .strapi_at("http://127.0.0.1:9");
        let with = |site: Settings, (at, page): (usize, &Page)| {
            let paths = page.paths.iter().zip(CODES).filter_map(|(path, code)| {
                let path = page.written(path.as_ref()?);
                Some(format!("{code} = \"{path}\""))
            });
            let (paths, listed) = (paths.collect::<Vec<_>>().join(", "), page.listed);
            let lines = format!("name = \"p{at}\"\npath = {{ {paths} }}\nsitemap = {listed}");
            site.more(&format!("[[site.page]]\n{lines}"))
        };
        self.pages.iter().enumerate().fold(site, with).toml()
    }

    /// The path of a page in a locale.
    fn path(&self, page: &Page, locale: usize) -> Option<String> {
        let own = page.paths[locale].as_ref()?;
        let has_prefix = page.has_locale && !(self.omits_default && locale == 0);
        let prefix = has_prefix.then(|| encoded(self.segments[locale]));
        let segments = prefix.into_iter().chain(own.iter().map(|at| SEGMENTS[*at].1));
        let path: String = segments.flat_map(|segment| ["/", segment]).collect();
        let is_file = own.last().is_some_and(|at| SEGMENTS[*at].0.contains('.'));
        Some(match path.as_str() {
            "" => "/".to_owned(),
            _ if self.slash && !is_file => path + "/",
            _ => path,
        })
    }

    /// The page and the first locale of each path of a host; `None` if two pages have one.
    fn owners(&self) -> Option<BTreeMap<(usize, String), (usize, usize)>> {
        let mut owners = BTreeMap::new();
        for (at, page) in self.pages.iter().enumerate() {
            for locale in 0..2 {
                let Some(path) = self.path(page, locale) else { continue };
                let host = if locale == 0 { 0 } else { BASES[self.bases].1 };
                let owner = owners.entry((host, path)).or_insert((at, locale));
                if owner.0 != at {
                    return None;
                }
            }
        }
        Some(owners)
    }
}

impl Page {
    fn written(&self, path: &[usize]) -> String {
        let prefix = self.has_locale.then_some("{locale}");
        let segments = prefix.into_iter().chain(path.iter().map(|at| SEGMENTS[*at].0));
        let path: String = segments.flat_map(|segment| ["/", segment]).collect();
        if path.is_empty() { "/".to_owned() } else { path }
    }
}

fn encoded(segment: &str) -> &str {
    SEGMENTS.iter().find(|(written, _)| *written == segment).map_or(segment, |(_, url)| url)
}

fn world() -> impl Strategy<Value = World> {
    let path = || prop::collection::vec(0..SEGMENTS.len(), 0..3);
    let paths = prop_oneof![
        3 => (path(), path()).prop_map(|(en, de)| [Some(en), Some(de)]),
        1 => path().prop_map(|path| [Some(path.clone()), Some(path)]),
        1 => path().prop_map(|path| [Some(path), None]),
        1 => path().prop_map(|path| [None, Some(path)]),
    ];
    let page = (paths, any::<bool>(), any::<bool>()).prop_map(|(paths, has_locale, listed)| Page {
        paths,
        has_locale,
        listed,
    });
    let segments = prop::sample::select(&[["en", "de"], ["de", "en"], ["en", "é"]][..]);
    let pages = prop::collection::vec(page, 1..4);
    (pages, 0..BASES.len(), segments, any::<bool>(), any::<bool>()).prop_map(
        |(pages, bases, segments, omits_default, slash)| World {
            pages,
            bases,
            segments,
            omits_default,
            slash,
        },
    )
}

proptest! {
    #[test]
    fn page_of_the_settings_is_found_and_listed_at_its_path(world in world()) {
        let settings = parse(Some(&world.settings()), Path::new("settings.toml"), &Environment::new());
        let Some(owners) = world.owners() else {
            let problems = settings.err().map(|problems| problems.to_string()).unwrap_or_default();
            prop_assert!(problems.contains("on the same host"), "{}", problems);
            return Ok(());
        };
        let settings = settings.map_err(|problems| TestCaseError::fail(problems.to_string()))?;
        let site = settings.sites.get("main").expect("the only site");
        for ((host, path), (page, locale)) in &owners {
            let host = site.hosts.are_several().then_some(*host);
            for path in [path.as_str(), without_trailing_slash(path)] {
                let found = site.pages.find(path, host);
                let found = found.map(|found| (found.document_id().to_owned(), found.locale()));
                prop_assert_eq!(found, Some((format!("p{page}"), *locale)), "{}", path);
            }
        }
        let listed = owners.iter().filter(|(_, (page, _))| world.pages[*page].listed);
        let listed: BTreeSet<String> =
            listed.filter_map(|((_, path), (_, locale))| site.hosts.url(*locale, path)).collect();
        prop_assert_eq!(in_files(site)?, listed);
    }

    #[test]
    fn document_has_the_url_that_it_has_without_pages_unless_a_page_has_its_path(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..5),
        others in prop::collection::vec("/[a-c]{0,2}", 0..3),
        taken in prop::collection::vec(any::<bool>(), 0..5),
    ) {
        let rules = rules.with_pages(PagePaths::new(hosts.by_locale()));
        let position = |code: &str| rules.locales().position(code).expect("one of the site's");
        let mut pages = PagePaths::new(hosts.by_locale());
        for path in &others {
            pages.add(path, 0);
        }
        for ((document, uid), is_taken) in versions(&documents).zip(&taken) {
            if let (Some(Ok(built)), true) =
                (frontend_path(&rules, &hosts, uid, document, true), is_taken)
            {
                pages.add(&built.path, position(built.locale.as_str()));
            }
        }
        let with_pages = rules.clone().with_pages(pages.clone());
        for (document, uid) in versions(&documents) {
            let before = frontend_path(&rules, &hosts, uid, document, true);
            let after = frontend_path(&with_pages, &hosts, uid, document, true);
            match before {
                Some(Ok(built)) if pages.has(&built.path, position(built.locale.as_str())) => {
                    let reason = after.and_then(Result::err).map(|no_url| no_url.reason);
                    prop_assert_eq!(reason, Some(NoUrlReason::PathTakenByPage));
                }
                before => prop_assert_eq!(before, after),
            }
        }
    }
}

/// The URLs in the sitemap files of the pages of all hosts.
fn in_files(site: &Site) -> Result<BTreeSet<String>, TestCaseError> {
    let mut links = BTreeMap::new();
    for (at, host) in site.hosts.all().iter().enumerate() {
        let frame = Frame::new(&site.hosts, site.rules.locales(), at);
        for file in Layout::new(site.pages.snapshot(), None, &frame).files {
            for (url, own) in
                hosts::entries(&write(site.pages.snapshot(), None, &frame, file.range))
            {
                prop_assert!(url.starts_with(&host.base.join("/")), "{}", url);
                let parsed = Url::parse(&url).map_err(|error| fail(&error))?;
                prop_assert_eq!(parsed.as_str(), &url);
                prop_assert!(links.insert(url, own).is_none(), "twice");
            }
        }
    }
    for own in links.values() {
        for other in own {
            prop_assert_eq!(links.get(other), Some(own));
        }
    }
    Ok(links.into_keys().collect())
}
