use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::moved::entries::RedirectEntries;
use crate::path_index::{PathIndex, TypePaths};
use crate::site::{ResolveBy, Site, SitePages};
use crate::sitemap::files::{Frame, Layout, write};
use crate::sitemap::{Form, List};
use crate::snapshot::{Builder, Listing};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    RedirectFields, Rule, RuleSet, Template,
};

const PAGE: &str = "api::page.page";
const REDIRECT: &str = "api::redirect.redirect";

fn field(name: &str) -> FieldPath {
    FieldPath::parse(name).unwrap()
}

fn uid(text: &str) -> ContentTypeUid {
    ContentTypeUid::parse(text).unwrap()
}

/// A site in English and German whose pages have any path below their locale, and its redirects.
fn site(base_urls: [&str; 2]) -> Site {
    let locales =
        || Locales::new(["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec()).unwrap();
    let with = |rule| RuleSet::new(locales(), LocalePrefix::Always, vec![rule]);
    let hosts = Hosts::new(base_urls.map(|url| BaseUrl::parse(url).ok()).to_vec());
    let fields = RedirectFields {
        to: Some(field("to")),
        document: Some(field("target.documentId")),
        status: Some(field("status")),
        force: Some(field("force")),
        hosts: vec!["other.example".to_owned()],
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
    let redirects = of(with(Rule::redirect(uid(REDIRECT), field("from"), fields)), None);
    let pages = with(Rule::new(uid(PAGE), Template::parse("/{locale}/{*slug}").unwrap()));
    of(pages, Some(Arc::new(redirects)))
}

fn snapshot<'d>(
    site: &Site,
    uid: &str,
    documents: impl IntoIterator<Item = (String, Option<&'d str>, Vec<(&'d str, &'d str)>)>,
) -> Arc<Snapshot> {
    let Site { rules, hosts, .. } = site;
    let mut part = Listing { rules, hosts, uid }.part();
    for (id, locale, values) in documents {
        let value = |text: &str| match text {
            "true" => FieldValue::Boolean(true),
            text => FieldValue::Text(text.to_owned().into()),
        };
        part.add(&Document {
            id: id.into(),
            locale: locale
                .map_or(DocumentLocale::None, |code| DocumentLocale::Named(code.to_owned().into())),
            unpublished: false,
            fields: values.iter().map(|(name, _)| field(name)).collect(),
            values: values.iter().map(|(_, text)| value(text)).collect(),
        });
    }
    Arc::new((Builder { path_table: true }).finish(vec![part]).unwrap())
}

/// Pages as `locale/slug`, each slug a document, and redirects as `[locale: ][!]from target`: an address,
/// `@slug` for a document, or `410`; `!` makes it come before a live page.
struct World {
    site: Site,
    pages: Arc<Snapshot>,
    index: PathIndex,
    entries: PathIndex,
}

const ONE_HOST: [&str; 2] = ["https://www.example.com", "https://www.example.com"];
const TWO_HOSTS: [&str; 2] = ["https://en.example", "https://de.example"];

impl World {
    fn new(base_urls: [&str; 2], pages: &[&str], redirects: &[&str]) -> Self {
        let site = site(base_urls);
        let page = |text: &&'static str| {
            let (locale, slug) = text.split_once('/').unwrap();
            (slug.to_owned(), Some(locale), vec![("slug", slug)])
        };
        let pages: Vec<&'static str> = pages.iter().map(|text| leak(text)).collect();
        let pages = snapshot(&site, PAGE, pages.iter().map(page));
        let redirect = |(at, text): (usize, &&'static str)| {
            let (locale, text) = match text.split_once(": ") {
                Some((locale, text)) => (Some(locale), text),
                None => (None, *text),
            };
            let (text, force) = text.strip_prefix('!').map_or((text, None), |own| (own, Some(())));
            let (from, target) = text.split_once(' ').unwrap();
            let mut values = vec![("from", from)];
            values.push(match target.strip_prefix('@') {
                Some(id) => ("target.documentId", id),
                None if target == "410" => ("status", target),
                None => ("to", target),
            });
            values.extend(force.map(|()| ("force", "true")));
            (format!("r{at}"), locale, values)
        };
        let texts: Vec<&'static str> = redirects.iter().map(|text| leak(text)).collect();
        let of_redirects = site.redirects.clone().unwrap();
        let entries = snapshot(&of_redirects, REDIRECT, texts.iter().enumerate().map(redirect));
        let known = TypePaths::Fresh(Arc::clone(&pages));
        let index = PathIndex::new(&site.rules, [(&uid(PAGE), known)]);
        let known = TypePaths::Fresh(entries);
        let entries = PathIndex::new(&of_redirects.rules, [(&uid(REDIRECT), known)]);
        Self { site, pages, index, entries }
    }

    fn redirects(&self) -> RedirectWorld<'_> {
        let entries = RedirectEntries { index: &self.entries };
        RedirectWorld { site: &self.site, index: &self.index, entries, history: None, status: 308 }
    }

    fn hidden(&self) -> Option<HiddenUrls> {
        HiddenUrls::find(&self.redirects(), &self.pages)
    }

    /// The paths that a list has.
    fn listed(&self) -> Vec<String> {
        let hidden = self.hidden();
        let urls = ListedUrls::new(&self.pages, hidden.as_ref()).from(0);
        urls.map(|url| url.path().to_owned()).collect()
    }
}

/// Of a test, which ends soon.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[test]
fn list_leaves_out_what_a_redirect_hides_and_nothing_else() {
    let pages = ["en/a", "en/a/b", "en/a-b", "en/c", "de/a", "de/c"];
    let all = ["/en/a", "/en/a-b", "/en/a/b", "/en/c", "/de/a", "/de/c"];
    for (redirect, hidden) in [
        ("!/en/a /en/c", &["/en/a"][..]),
        ("!/en/a/ /en/c", &["/en/a"]),
        ("!/en/a 410", &["/en/a"]),
        ("!/en/a @c", &["/en/a"]),
        ("!/en/a https://other.example/x", &["/en/a"]),
        ("!/en/a /nothing-that-is-known", &["/en/a"]),
        ("!/en/a/* /en/c", &["/en/a", "/en/a/b"]),
        ("!/en/* 410", &["/en/a", "/en/a-b", "/en/a/b", "/en/c"]),
        ("!/* https://other.example/*", &all),
        // A target among its own paths is no redirect of that path.
        ("!/en/* /en/c", &["/en/a", "/en/a-b", "/en/a/b"]),
        // One that is in a locale is for all paths of its host.
        ("de: !/en/a /de/c", &["/en/a"]),
        // Without `force`, to itself, to nothing, to a host that is not allowed, of no page.
        ("/en/a /en/c", &[]),
        ("!/en/a /en/a", &[]),
        ("!/en/a @nowhere", &[]),
        ("!/en/a https://evil.example/x", &[]),
        ("!/en/nothing /en/c", &[]),
        ("!/en/nothing/* /en/c", &[]),
    ] {
        let world = World::new(ONE_HOST, &pages, &[redirect]);
        let expected: Vec<&str> = all.into_iter().filter(|path| !hidden.contains(path)).collect();
        assert_eq!(world.listed(), expected, "{redirect}");
        assert_eq!(world.hidden().is_none(), hidden.is_empty(), "{redirect}");
    }
    let redirects = ["!/en/a/* /de/c", "/en/a/b /de/c", "!/de/a /de/c", "!/de/c /de/a"];
    // The exact path comes first, and the two German ones lead to each other.
    let world = World::new(ONE_HOST, &pages, &redirects);
    assert_eq!(world.listed(), ["/en/a-b", "/en/a/b", "/en/c", "/de/a", "/de/c"]);
}

#[test]
fn redirect_hides_pages_on_the_host_of_its_locale_and_one_without_a_locale_on_all() {
    let pages = ["en/a", "de/a"];
    for (redirect, expected) in [
        ("de: !/en/* 410", &["/en/a", "/de/a"][..]),
        ("de: !/de/* 410", &["/en/a"]),
        ("en: !/en/a 410", &["/de/a"]),
        ("!/de/a 410", &["/en/a"]),
        ("!/* 410", &[]),
    ] {
        assert_eq!(World::new(TWO_HOSTS, &pages, &[redirect]).listed(), expected, "{redirect}");
    }
}

#[test]
fn texts_leave_out_hidden_pages_and_no_link_names_one() {
    let world = World::new(ONE_HOST, &["en/a", "de/a", "de/b"], &["!/de/a 410"]);
    let hidden = world.hidden().map(Arc::new);
    let (hosts, locales) = (&world.site.hosts, world.site.rules.locales());
    let text = |form, hidden| List::new(Arc::clone(&world.pages), hidden, hosts, form);
    for form in [Form::Json, Form::Xml] {
        let list = text(form, hidden.clone());
        let length = list.length();
        let list: String = list.collect();
        assert_eq!(list.len() as u64, length);
        assert!(list.contains("/en/a") && !list.contains("/de/a"), "{list}");
        let other = World::new(ONE_HOST, &["en/a", "de/b"], &[]).pages;
        assert_eq!(list, List::new(other, None, hosts, form).collect::<String>());
    }
    let frame = Frame::new(hosts, locales, 0);
    let layout = |hidden| Layout::new(&world.pages, hidden, &frame);
    let (all, shown) = (layout(None), layout(hidden.as_deref()));
    assert_ne!(all.files[0].hash, shown.files[0].hash);
    assert_eq!((all.files[0].urls, shown.files[0].urls), (3, 2));
    let file = write(&world.pages, hidden.as_deref(), &frame, shown.files[0].range.clone());
    assert!(file.contains("<loc>https://www.example.com/en/a</loc>"), "{file}");
    assert!(!file.contains("/de/a") && !file.contains("hreflang"), "{file}");
    let nothing = World::new(ONE_HOST, &["en/a"], &["!/* 410"]);
    let hidden = nothing.hidden();
    assert!(Layout::new(&nothing.pages, hidden.as_ref(), &frame).files.is_empty());
    let list = List::new(nothing.pages, hidden.map(Arc::new), hosts, Form::Json);
    assert_eq!(list.collect::<String>(), r#"{"data":{"count":0,"urls":[]},"meta":{}}"#);
}

#[test]
fn positions_of_another_list_are_refused() {
    let world = World::new(ONE_HOST, &["en/a", "en/b"], &["!/en/b 410"]);
    let hidden = world.hidden().unwrap();
    assert_eq!(HiddenUrls::of_listed(&world.pages, hidden.listed()), Some(hidden));
    for positions in [&[][..], &[2], &[1, 0], &[0, 0]] {
        assert_eq!(HiddenUrls::of_listed(&world.pages, positions), None, "{positions:?}");
    }
}

proptest! {
    #[test]
    fn hidden_are_those_that_are_found_one_by_one(
        pages in proptest::collection::hash_set("(en|de)/[a-c](/[a-c])?", 0..12),
        redirects in proptest::collection::vec(
            "((en|de): )?!?/((en|de)(/[a-c]){0,2}/?|(en|de)(/[a-c])?/[*]|[*]) (/(en|de)/[a-c]|410|@[a-c])",
            0..6,
        ),
        several in proptest::bool::ANY,
    ) {
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let redirects: Vec<&str> = redirects.iter().map(String::as_str).collect();
        let world = World::new(if several { TWO_HOSTS } else { ONE_HOST }, &pages, &redirects);
        let (snapshot, hidden) = (&world.pages, world.hidden());
        let redirects = world.redirects();
        let expected: Vec<PublicUrl<'_>> =
            snapshot.listed().filter(|page| redirects.hides(*page).is_none()).collect();
        let listed = ListedUrls::new(snapshot, hidden.as_ref());
        let positions = |urls: &[PublicUrl<'_>]| -> Vec<usize> {
            urls.iter().map(|url| url.position()).collect()
        };
        prop_assert_eq!(listed.count(), expected.len());
        prop_assert_eq!(listed.bytes(), expected.iter().map(|url| url.path_len()).sum::<usize>());
        for start in 0..=expected.len() {
            let from: Vec<_> = listed.from(start).collect();
            prop_assert_eq!(positions(&from), positions(&expected[start..]));
        }
        for (at, url) in expected.iter().enumerate() {
            prop_assert_eq!(listed.nth(at).position(), url.position());
            let of_document: Vec<usize> = listed.positions_of(url.document_id()).collect();
            prop_assert!(of_document.contains(&at));
            let is_own = |at: &usize| expected[*at].document_id() == url.document_id();
            prop_assert!(of_document.iter().all(is_own));
        }
    }
}
