use std::collections::BTreeMap;

use super::*;
use crate::site::{ResolveBy, SitePages};
use crate::snapshot::{Builder, Listing};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

const UID: &str = "api::page.page";

fn site(base_urls: [&str; 2]) -> Site {
    let rule = Rule::new(
        ContentTypeUid::parse(UID).unwrap(),
        Template::parse("/{locale}/{*path}").unwrap(),
    );
    let codes = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let locales = Locales::new(codes).unwrap();
    Site {
        key: "main".to_owned(),
        rules: RuleSet::new(locales, LocalePrefix::Always, vec![rule]),
        hosts: Hosts::new(base_urls.map(|url| BaseUrl::parse(url).ok()).to_vec()),
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

const ONE_HOST: [&str; 2] = ["https://www.example.com"; 2];

/// Pages of these ids, locales and paths behind the locale.
fn snapshot<'p>(
    site: &Site,
    pages: impl IntoIterator<Item = (&'p str, &'p str, &'p str)>,
) -> Arc<Snapshot> {
    let Site { rules, hosts, .. } = site;
    let mut part = Listing { rules, hosts, uid: UID }.part();
    let fields: Arc<[FieldPath]> = Arc::new([FieldPath::parse("path").unwrap()]);
    for (id, locale, path) in pages {
        part.add(&Document {
            id: id.into(),
            locale: DocumentLocale::Named(locale.into()),
            unpublished: false,
            fields: Arc::clone(&fields),
            values: vec![FieldValue::Text(path.into())],
        });
    }
    Arc::new((Builder { path_table: true }).finish(vec![part]).unwrap())
}

/// The path and the reason that are suggested for a path.
fn suggested(
    site: &Site,
    snapshots: &[Arc<Snapshot>],
    missed: &[(Option<usize>, &str)],
) -> Vec<String> {
    let found = suggest(site, snapshots, missed).into_iter();
    let shown = |suggestion: Suggestion<'_>| {
        format!("{} {}", suggestion.reason.as_str(), suggestion.url.path())
    };
    found.map(|suggestion| suggestion.map(shown).unwrap_or_default()).collect()
}

#[test]
fn suggestion_has_the_strongest_reason() {
    let site = site(ONE_HOST);
    let pages = [
        ("about", "en", "about"),
        ("about", "de", "ueber-uns"),
        ("only", "en", "only-english"),
        ("hotels", "en", "travel/best-hotels-in-rome"),
        ("overview1", "en", "cars/overview"),
        ("overview2", "en", "bikes/overview"),
        ("overview3", "de", "bikes/overview"),
        ("cafe", "en", "food/caf\u{e9}-guide"),
        ("page2", "en", "news/2"),
    ];
    let snapshots = [snapshot(&site, pages)];
    for (missed, expected) in [
        ("/en/About", "other_case /en/about"),
        ("/EN/ABOUT", "other_case /en/about"),
        ("/en/food/CAF%C3%89-Guide", "other_case /en/food/caf%C3%A9-guide"),
        // The version in the locale of the request.
        ("/de/about", "other_locale /de/ueber-uns"),
        ("/about", "other_locale /en/about"),
        ("/fr/about", "other_locale /en/about"),
        ("/de/only-english", "other_locale /en/only-english"),
        ("/en/about.html", "same_slug /en/about"),
        ("/en/company/about", "same_slug /en/about"),
        ("/en/company/about/index.html", "same_slug /en/about"),
        ("/en/food/caf%C3%A9_guide", "same_slug /en/food/caf%C3%A9-guide"),
        ("/en/old/bikes/overview", "same_slug /en/bikes/overview"),
        ("/de/old/bikes/overview", "same_slug /de/bikes/overview"),
        ("/en/travel/top-hotels-rome", "similar /en/travel/best-hotels-in-rome"),
        ("/en/best-hotels-in-rome-2", "similar /en/travel/best-hotels-in-rome"),
        ("/en/only-englsh", "similar /en/only-english"),
        ("/en/archive/2", ""),
        ("/en/privacy-policy", ""),
        ("/", ""),
        ("/%zz<script>", ""),
    ] {
        assert_eq!(suggested(&site, &snapshots, &[(None, missed)]), [expected], "{missed}");
    }
    assert!(suggest(&site, &snapshots, &[]).is_empty());
    assert_eq!(suggested(&site, &[], &[(None, "/en/about")]), [""]);
}

#[test]
fn suggestion_prefers_the_host_of_the_request() {
    let site = site(["https://en.example.com", "https://de.example.com"]);
    let snapshots = [snapshot(&site, [("a", "en", "guide/setup"), ("b", "de", "anleitung/setup")])];
    let missed = [(Some(0), "/x/setup"), (Some(1), "/x/setup"), (None, "/de/anleitung/Setup")];
    let expected = [
        "same_slug /en/guide/setup",
        "same_slug /de/anleitung/setup",
        "other_case /de/anleitung/setup",
    ];
    assert_eq!(suggested(&site, &snapshots, &missed), expected);
}

#[test]
fn path_on_another_host_is_one_in_another_locale() {
    let site = site(["https://en.example.com", "https://de.example.com"]);
    let codes = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let rules = site.rules.rules().to_vec();
    let rules = RuleSet::new(Locales::new(codes).unwrap(), LocalePrefix::ExceptDefault, rules);
    let site = Site { rules, ..site };
    let pages = [("a", "en", "guide"), ("a", "de", "anleitung"), ("b", "en", "only-english")];
    let snapshots = [snapshot(&site, pages)];
    let of_german_host = |path| (Some(1), path);
    let missed = ["/guide", "/Guide", "/only-english", "/De/Anleitung"].map(of_german_host);
    let expected = [
        "other_locale /de/anleitung",
        "other_locale /de/anleitung",
        "other_locale /only-english",
        "other_case /de/anleitung",
    ];
    assert_eq!(suggested(&site, &snapshots, &missed), expected);
}

#[test]
fn suggestion_may_be_a_page_outside_the_cms() {
    let pages = SitePages::new(
        Arc::into_inner(snapshot(&site(ONE_HOST), [("imprint", "en", "legal/imprint")])).unwrap(),
    );
    let site = Site { pages, ..site(ONE_HOST) };
    let found = suggest(&site, &[], &[(None, "/en/imprint")]);
    let found = found[0].unwrap();
    assert!(found.is_page);
    assert_eq!((found.url.document_id(), found.reason), ("imprint", Reason::SameSlug));
}

/// Words of titles.
const WORDS: &str = "annual report water energy city garden museum history modern kitchen travel guide \
    summer winter festival music school teacher student science health doctor patient hospital insurance \
    family children holiday beach mountain river bridge railway station airport ticket price cheap luxury \
    hotel restaurant coffee chocolate bread recipe vegetable organic farm animal horse bicycle electric \
    engine battery charging solar panel house apartment mortgage bank credit card payment security password \
    privacy policy cookie network cloud server database software release update feature product customer \
    support contact service repair warranty shipping return order invoice catalogue collection fashion \
    shoes jacket cotton leather design furniture lamp table chair window door paint colour paper printing \
    photo camera video game player team football tennis swimming running marathon training coach fitness \
    nutrition vitamin sleep stress therapy nurse career salary interview application office remote meeting \
    project manager leader strategy market growth startup investor tax pension law court judge contract \
    election government minister council climate forest ocean weather storm flood fire rescue volunteer \
    community charity church theatre cinema actor novel poetry library archive language english german";
const STOP_WORDS: [&str; 10] = ["the", "of", "in", "and", "for", "a", "with", "to", "how", "your"];
const FOLDERS: [&str; 8] =
    ["news", "blog", "guides", "products", "company/press", "stories", "help", "events/archive"];

/// A page of the world: its slug of some words, and its folder.
fn page(random: &mut fastrand::Rng, words: &[&str]) -> (String, String) {
    let mut slug: Vec<String> =
        (0..random.usize(2..6)).map(|_| words[random.usize(..words.len())].to_owned()).collect();
    if random.u8(..10) == 0 {
        // One of a series.
        slug.truncate(2);
        slug.push(random.u16(2015..2026).to_string());
    }
    if random.u8(..3) == 0 {
        slug.insert(random.usize(1..slug.len()), STOP_WORDS[random.usize(..10)].to_owned());
    }
    (FOLDERS[random.usize(..8)].to_owned(), slug.join("-"))
}

/// How pages are renamed: the path that is requested still, of the page that is now at another one.
const RENAMES: [&str; 9] = [
    "changed word",
    "added word",
    "appended number",
    "moved",
    "moved and changed",
    "other locale",
    "capital letters",
    "ending",
    "stop words",
];

fn renamed(
    random: &mut fastrand::Rng,
    words: &[&str],
    kind: usize,
    folder: &str,
    slug: &str,
) -> String {
    let mut old: Vec<String> = slug.split('-').map(str::to_owned).collect();
    let (mut place, mut locale, mut ending) = (folder.to_owned(), "en", "");
    let is_moved = matches!(kind, 3 | 4);
    while is_moved && place == folder {
        FOLDERS[random.usize(..8)].clone_into(&mut place);
    }
    match kind {
        0 | 4 => {
            let at = random.usize(..old.len());
            words[random.usize(..words.len())].clone_into(&mut old[at]);
        }
        1 => old.insert(random.usize(..=old.len()), words[random.usize(..words.len())].to_owned()),
        2 => old.push("2".to_owned()),
        5 => locale = "de",
        6 => old.iter_mut().for_each(|word| word[..1].make_ascii_uppercase()),
        7 => ending = ".html",
        8 => {
            let before = old.clone();
            old.retain(|word| !STOP_WORDS.contains(&&**word));
            if old == before {
                let number = random.usize(1..3);
                for _ in 0..number {
                    old.insert(
                        random.usize(..old.len()),
                        STOP_WORDS[random.usize(..10)].to_owned(),
                    );
                }
            }
        }
        _ => {}
    }
    format!("/{locale}/{place}/{}{ending}", old.join("-"))
}

#[test]
fn right_page_is_suggested_for_most_of_1000_renames() {
    let (mut random, words) = (fastrand::Rng::with_seed(33), WORDS.split_whitespace());
    let words: Vec<&str> = words.collect();
    let mut world = BTreeMap::new();
    while world.len() < 10_000 {
        let (folder, slug) = page(&mut random, &words);
        let id = format!("d{}", world.len());
        world.entry((folder, slug)).or_insert(id);
    }
    let site = site(ONE_HOST);
    let pages: Vec<(String, String)> =
        world.iter().map(|((folder, slug), id)| (id.clone(), format!("{folder}/{slug}"))).collect();
    let rows = pages.iter().map(|(id, path)| (&**id, "en", &**path));
    let snapshots = [snapshot(&site, rows)];
    let all: Vec<_> = world.iter().collect();
    let mut renames = Vec::new();
    while renames.len() < 1_000 {
        let kind = renames.len() % RENAMES.len();
        let ((folder, slug), id) = all[random.usize(..all.len())];
        let old = renamed(&mut random, &words, kind, folder, slug);
        let is_free = !pages.iter().any(|(_, path)| old == format!("/en/{path}"));
        if is_free {
            renames.push((kind, old, id));
        }
    }
    let missed: Vec<_> = renames.iter().map(|(_, old, _)| (None, &**old)).collect();
    let found = suggest(&site, &snapshots, &missed);
    let (mut right, mut by_kind) = (0, [[0; 2]; RENAMES.len()]);
    for ((kind, _, id), suggestion) in renames.iter().zip(found) {
        let is_right = suggestion.is_some_and(|found| found.url.document_id() == **id);
        right += usize::from(is_right);
        by_kind[*kind][0] += usize::from(is_right);
        by_kind[*kind][1] += 1;
    }
    let by_kind: Vec<_> = RENAMES.iter().zip(by_kind).collect();
    println!("{right} of 1000 are right: {by_kind:?}");
    assert!(right >= 800, "{right} of 1000 are right: {by_kind:?}");
}
