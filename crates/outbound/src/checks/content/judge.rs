//! What a page says beside what the site's map says of its URL.

use std::collections::BTreeMap;

use icu_locale_core::LanguageIdentifier;
use url::Url;

use super::fault::{Fault, FaultKind};
use super::html::{AlternateLink, PageFacts};
use super::link_header::HeaderLinks;
use super::page_url::{PageUrl, is_absolute};
use super::robots_meta::{header_forbids, meta_forbids};

/// The value of `hreflang` for readers without a matching language.
const X_DEFAULT: &str = "x-default";

/// What the sitemap says of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The absolute URL.
    pub url: Url,
    /// The language of the version; `None` where it is not known.
    pub language: Option<String>,
    /// The versions of the document in the sitemap, each with its language: to these a page links that
    /// links to other languages. Empty for a document with a single version.
    pub listed: Vec<AlternateLink>,
    /// All published versions, and `x-default`: a page may link to these.
    pub published: Vec<AlternateLink>,
    /// The title of the version, if its rule names a field.
    pub title: Option<String>,
}

/// A page that answered 200, as far as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadPage {
    /// The values of `X-Robots-Tag`.
    pub(super) robots_tags: Vec<String>,
    pub(super) links: HeaderLinks,
    /// `None`: it is not HTML.
    pub(super) html: Option<ReadHtml>,
}

/// The HTML of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadHtml {
    pub(super) facts: PageFacts,
    /// Whether its characters are certain.
    pub(super) is_exact: bool,
    /// Whether there is more of it than was read.
    pub(super) is_cut: bool,
}

/// The faults that the page itself has, in the order of reports.
pub(super) fn judge(page: &ReadPage, expected: &Expected) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(noindex(page));
    if let Some(html) = &page.html {
        let base = base(&html.facts, &expected.url);
        faults.extend(canonical(page, html, &base, expected));
        faults.extend(hreflang(page, html, &base, expected));
        faults.extend(language(html, expected));
        faults.extend(title(html, expected));
        if html.is_cut && html.facts.ends_in_head {
            faults.push(Fault::new(FaultKind::Unread, "the head is longer than 128 KiB"));
        }
    }
    faults
}

fn base(facts: &PageFacts, url: &Url) -> Url {
    let base = facts.base.as_deref().and_then(|href| url.join(href.trim()).ok());
    base.filter(|base| !matches!(base.scheme(), "data" | "javascript"))
        .unwrap_or_else(|| url.clone())
}

fn noindex(page: &ReadPage) -> Option<Fault> {
    let tag = page.robots_tags.iter().find(|value| header_forbids(value));
    let meta = || {
        page.html.iter().flat_map(|html| &html.facts.robots).find(|content| meta_forbids(content))
    };
    let detail = match tag {
        Some(tag) => format!("X-Robots-Tag: {tag}"),
        None => format!("<meta>: {}", meta()?),
    };
    Some(Fault::new(FaultKind::Noindex, &detail))
}

/// The one thing that is wrong with the canonical links.
fn canonical(page: &ReadPage, html: &ReadHtml, base: &Url, expected: &Expected) -> Option<Fault> {
    let own = PageUrl::of(&expected.url);
    let of_html = html.facts.canonicals.iter().map(|text| (text, base));
    // A header knows nothing of the base that the HTML declares (RFC 8288, section 3.2).
    let of_header = page.links.canonicals.iter().map(|text| (text, &expected.url));
    let mut all: BTreeMap<Option<PageUrl>, &str> = BTreeMap::new();
    let mut relative = None;
    for (text, base) in of_html.chain(of_header) {
        all.entry(PageUrl::resolve(base, text)).or_insert(text);
        if !is_absolute(text) {
            relative.get_or_insert(text);
        }
    }
    let shown = |(url, text): (&Option<PageUrl>, &&str)| {
        url.as_ref().map_or_else(|| (*text).to_owned(), |url| url.as_str().to_owned())
    };
    if all.len() > 1 {
        let urls: Vec<String> = all.iter().take(3).map(shown).collect();
        return Some(Fault::new(FaultKind::CanonicalConflict, &urls.join(", ")));
    }
    match all.first_key_value() {
        None if html.is_cut && html.facts.ends_in_head => None,
        None if html.facts.has_canonical_in_body => {
            Some(Fault::new(FaultKind::CanonicalMissing, "the one in <body> does not count"))
        }
        None => Some(Fault::new(FaultKind::CanonicalMissing, "")),
        Some((Some(url), _)) if *url == own => {
            relative.map(|text| Fault::new(FaultKind::CanonicalRelative, text))
        }
        Some(other) => Some(Fault::new(FaultKind::CanonicalElsewhere, &shown(other))),
    }
}

/// The links to versions in other languages, if the page has any: without one, those of the sitemap count.
fn hreflang(page: &ReadPage, html: &ReadHtml, base: &Url, expected: &Expected) -> Vec<Fault> {
    let mut links: BTreeMap<String, Vec<PageUrl>> = BTreeMap::new();
    let of_html = html.facts.alternates.iter().map(|link| (link, base));
    let of_header = page.links.alternates.iter().map(|link| (link, &expected.url));
    for (link, base) in of_html.chain(of_header) {
        let urls = links.entry(link.hreflang.trim().to_ascii_lowercase()).or_default();
        urls.extend(PageUrl::resolve(base, &link.href));
    }
    if links.is_empty() {
        return Vec::new();
    }
    let published = by_language(&expected.published, &expected.url);
    let listed = by_language(&expected.listed, &expected.url);
    let (mut missing, mut wrong, mut extra) = (Vec::new(), Vec::new(), Vec::new());
    let is_complete = !(html.is_cut && html.facts.ends_in_head);
    for (language, urls) in listed.iter().filter(|_| is_complete) {
        if language != X_DEFAULT && !links.contains_key(language) {
            missing.push(format!("{language} {}", shown(urls)));
        }
    }
    for (language, urls) in &links {
        match published.get(language) {
            None => extra.push(format!("{language} {}", shown(urls))),
            Some(own) if urls.is_empty() || urls.iter().any(|url| !own.contains(url)) => {
                wrong.push(format!("{language} {} instead of {}", shown(urls), shown(own)));
            }
            Some(_) => {}
        }
    }
    let fault =
        |kind, all: Vec<String>| (!all.is_empty()).then(|| Fault::new(kind, &all.join(", ")));
    let missing = fault(FaultKind::HreflangMissing, missing);
    let wrong = fault(FaultKind::HreflangWrong, wrong);
    let extra = fault(FaultKind::HreflangExtra, extra);
    [missing, wrong, extra].into_iter().flatten().collect()
}

fn by_language(links: &[AlternateLink], base: &Url) -> BTreeMap<String, Vec<PageUrl>> {
    let mut all: BTreeMap<String, Vec<PageUrl>> = BTreeMap::new();
    for link in links {
        let urls = all.entry(link.hreflang.to_ascii_lowercase()).or_default();
        let url = PageUrl::resolve(base, &link.href);
        urls.extend(url.filter(|url| !urls.contains(url)));
    }
    all
}

fn shown(urls: &[PageUrl]) -> String {
    let urls: Vec<&str> = urls.iter().take(2).map(PageUrl::as_str).collect();
    urls.join(" and ")
}

fn language(html: &ReadHtml, expected: &Expected) -> Option<Fault> {
    let own = expected.language.as_deref()?;
    let lang = html.facts.lang.as_deref().map(str::trim).filter(|lang| !lang.is_empty())?;
    let detail = || format!("{lang} instead of {own}");
    (!agree(lang, own)).then(|| Fault::new(FaultKind::LangDiffers, &detail()))
}

/// Whether two language tags can both be right: what only one of them names, such as a region, does not
/// count.
fn agree(one: &str, other: &str) -> bool {
    if one.eq_ignore_ascii_case(other) {
        return true;
    }
    let parse = |tag: &str| LanguageIdentifier::try_from_str(&tag.replace('_', "-")).ok();
    let (Some(one), Some(other)) = (parse(one), parse(other)) else { return false };
    let same_script = one.script.is_none() || other.script.is_none() || one.script == other.script;
    let same_region = one.region.is_none() || other.region.is_none() || one.region == other.region;
    one.language == other.language && same_script && same_region
}

/// A hint if the title of the document is nowhere in a page that was read as a whole.
fn title(html: &ReadHtml, expected: &Expected) -> Option<Fault> {
    let title = expected.title.as_deref()?;
    let facts = &html.facts;
    if html.is_cut || !html.is_exact {
        return None;
    }
    let wanted = letters(title);
    let texts = [facts.title.as_deref().unwrap_or_default(), &facts.text, &facts.other_text];
    let is_there = texts.iter().any(|text| text.contains(title))
        || wanted.is_empty()
        || texts.iter().any(|text| letters(text).contains(&wanted));
    (!is_there).then(|| Fault::new(FaultKind::TitleAbsent, title))
}

/// The letters and digits alone, in lower case: CMS and page differ in quotes, dashes and spaces.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::content::html;

    const OWN: &str = "https://www.example.com/de/hallo";

    fn link(hreflang: &str, href: &str) -> AlternateLink {
        AlternateLink { hreflang: hreflang.to_owned(), href: href.to_owned() }
    }

    fn expected() -> Expected {
        let en = link("en-US", "https://www.example.com/en/hello");
        let de = link("de", OWN);
        let default = link(X_DEFAULT, "https://www.example.com/en/hello");
        let unlisted = link("fr", "https://www.example.com/fr/salut");
        Expected {
            url: Url::parse(OWN).unwrap(),
            language: Some("de".to_owned()),
            listed: vec![en.clone(), de.clone()],
            published: vec![en, de, unlisted, default],
            title: Some("„Hallo“ – Welt".to_owned()),
        }
    }

    fn page(html: &str) -> ReadPage {
        let html = ReadHtml { facts: html::read(html), is_exact: true, is_cut: false };
        ReadPage { html: Some(html), ..ReadPage::default() }
    }

    /// The faults of a page with this head, and all that it needs else.
    fn faults(head: &str) -> Vec<String> {
        let html = format!("<html lang=de><head>{head}<body>\"Hallo\" - Welt");
        judge(&page(&html), &expected()).iter().map(ToString::to_string).collect()
    }

    fn with_canonical(head: &str) -> Vec<String> {
        faults(&format!("<link rel=canonical href={OWN}>{head}"))
    }

    #[test]
    fn page_that_says_what_the_map_says_has_no_fault() {
        let none: [&str; 0] = [];
        assert_eq!(with_canonical(""), none);
        let all = "<link rel=alternate hreflang=de href=/de/hallo><link rel=alternate hreflang=EN-us \
            href=https://www.example.com/en/hello><link rel=alternate hreflang=x-default href=/en/hello>\
            <link rel=alternate hreflang=fr href=/fr/salut>";
        assert_eq!(with_canonical(all), none);
        assert_eq!(
            with_canonical("<link rel=alternate type=application/rss+xml href=/feed>"),
            none
        );
    }

    #[test]
    fn canonical_links_have_one_fault() {
        for (head, expected) in [
            ("", "canonical_missing"),
            (
                "<body><link rel=canonical href=/de/hallo>",
                "canonical_missing: the one in <body> does not count",
            ),
            ("<link rel=canonical href=/de/hallo>", "canonical_relative: /de/hallo"),
            (
                "<base href=https://www.example.com/de/><link rel=canonical href=hallo>",
                "canonical_relative: hallo",
            ),
            (
                "<link rel=canonical href=https://www.example.com/de/x>",
                "canonical_elsewhere: https://www.example.com/de/x",
            ),
            (
                "<link rel=canonical href=https://www.example.com/de/hallo/>",
                "canonical_elsewhere: https://www.example.com/de/hallo/",
            ),
            (
                "<link rel=canonical href=http://www.example.com/de/hallo>",
                "canonical_elsewhere: http://www.example.com/de/hallo",
            ),
            ("<link rel=canonical href=https://>", "canonical_elsewhere: https://"),
            (
                "<link rel=canonical href=/a><link rel=canonical href=/de/hallo>",
                "canonical_conflict: https://www.example.com/a, https://www.example.com/de/hallo",
            ),
        ] {
            assert_eq!(faults(head), [expected], "{head}");
        }
        let twice =
            format!("<link rel=canonical href={OWN}#x><link rel='CANONICAL nofollow' href={OWN}>");
        assert!(faults(&twice).is_empty());
    }

    #[test]
    fn header_may_have_the_canonical_link_and_contradict_the_html() {
        let mut page = page("<html lang=de><body>Hallo Welt");
        page.links.add(&format!("<{OWN}>; rel=canonical"));
        assert_eq!(judge(&page, &expected()), []);
        page.links.add("</de/other>; rel=canonical");
        let kinds: Vec<FaultKind> =
            judge(&page, &expected()).iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::CanonicalConflict]);
    }

    #[test]
    fn links_to_languages_are_compared_with_the_versions() {
        let en = "<link rel=alternate hreflang=en-US href=/en/hello>";
        let de = "<link rel=alternate hreflang=de href=/de/hallo>";
        for (head, expected) in [
            (de.to_owned(), vec!["hreflang_missing: en-us https://www.example.com/en/hello"]),
            (
                format!("{en}<link rel=alternate hreflang=de href=/de/x>"),
                vec![
                    "hreflang_wrong: de https://www.example.com/de/x instead of https://www.example.com/de/hallo",
                ],
            ),
            (
                format!("{en}{de}<link rel=alternate hreflang=it href=/it/x>"),
                vec!["hreflang_extra: it https://www.example.com/it/x"],
            ),
            (
                format!("{en}{de}<link rel=alternate hreflang=x-default href=/>"),
                vec![
                    "hreflang_wrong: x-default https://www.example.com/ instead of https://www.example.com/en/hello",
                ],
            ),
            (
                format!("<link rel=alternate hreflang=en href=/en/hello>{de}"),
                vec![
                    "hreflang_missing: en-us https://www.example.com/en/hello",
                    "hreflang_extra: en https://www.example.com/en/hello",
                ],
            ),
        ] {
            assert_eq!(with_canonical(&head), expected, "{head}");
        }
    }

    #[test]
    fn languages_agree_unless_both_name_what_differs() {
        for (one, other, expected) in [
            ("de", "DE", true),
            ("de-AT", "de", true),
            ("en-GB", "en-US", false),
            ("en", "de", false),
            ("zh-Hant", "zh-TW", true),
            ("zh-Hant", "zh-Hans", false),
            ("pt_BR", "pt-BR", true),
            ("deutsch", "de", false),
            ("x", "de", false),
        ] {
            assert_eq!(agree(one, other), expected, "{one} {other}");
        }
        let html = format!("<html lang=en><link rel=canonical href={OWN}><body>Hallo Welt");
        let found: Vec<String> =
            judge(&page(&html), &expected()).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["lang_differs: en instead of de"]);
        let unknown = Expected { language: None, ..expected() };
        assert_eq!(judge(&page(&html), &unknown), []);
    }

    #[test]
    fn noindex_is_found_in_html_and_in_the_header() {
        assert_eq!(
            with_canonical("<meta name=Robots content='follow, NOINDEX'>"),
            ["noindex: <meta>: follow, NOINDEX"]
        );
        assert_eq!(with_canonical("<meta name=googlebot content=none>"), ["noindex: <meta>: none"]);
        assert!(with_canonical("<meta name=otherbot content=noindex>").is_empty());
        let pdf = ReadPage {
            robots_tags: vec!["index".to_owned(), "noindex".to_owned()],
            ..ReadPage::default()
        };
        let found: Vec<String> = judge(&pdf, &expected()).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["noindex: X-Robots-Tag: noindex"]);
    }

    #[test]
    fn title_is_looked_for_everywhere_and_only_in_whole_pages() {
        let head = format!("<html lang=de><head><link rel=canonical href={OWN}>");
        for (rest, expected) in [
            ("<title>Hallo Welt | Site</title>", true),
            ("<body><h1>hallo<br>welt</h1>", true),
            ("<script>{\"t\":\"Hallo \\u2013 Welt\"}</script>", false),
            ("<script>{\"t\":\"„Hallo“ – Welt\"}</script>", true),
            ("<body><img alt='Hallo Welt'>", true),
            ("<body>Hallo, schöne Welt", false),
            ("<body><!-- Hallo Welt -->", false),
        ] {
            let found = judge(&page(&format!("{head}{rest}")), &super::tests::expected());
            let kinds: Vec<FaultKind> = found.iter().map(|fault| fault.kind).collect();
            assert_eq!(kinds.is_empty(), expected, "{rest} {kinds:?}");
        }
        let mut cut = page(&head);
        if let Some(html) = &mut cut.html {
            html.is_cut = true;
            html.facts.ends_in_head = false;
        }
        assert_eq!(judge(&cut, &expected()), []);
    }

    #[test]
    fn page_whose_head_was_not_read_to_its_end_lacks_nothing() {
        let mut cut = page("<html lang=de><style>");
        if let Some(html) = &mut cut.html {
            html.is_cut = true;
        }
        let kinds: Vec<FaultKind> =
            judge(&cut, &expected()).iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::Unread]);
    }
}
