//! Generates the inputs of the laws: templates, rule sets, documents and base URLs.
//!
//! Words and names come from small pools, so that templates overlap and values look like static
//! text; the rest is hostile. No generated case is discarded.

use std::sync::Arc;

use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, SiteLocale, Template, TrailingSlash,
};
use proptest::prelude::*;

/// Fields of every generated document. Templates use these and the reserved names.
const FIELDS: [&str; 5] = ["slug", "category.slug", "a", "_b-1", "path"];
const RESERVED: [&str; 2] = ["locale", "documentId"];
const WORDS: [&str; 8] = ["a", "b", "en", "de", "a.html", "a b", "é", "{"];
/// Harmless and unsafe escapes, and parts of them.
const ESCAPES: [&str; 12] =
    ["%2e", "%2F", "%5c", "%00", "%25", "2e", "%C3", "%A9", "a", ".", "%E2%80%AE", "%20"];
/// Hosts that are canonical, that are made canonical, and that are refused.
const HOSTS: [&str; 29] = [
    "www.example.com",
    "WWW.Example.COM",
    "h",
    "h.",
    "a..b",
    "bücher.example",
    "BÜCHER.de",
    "xn--bcher-kva.example",
    "xn--a",
    "faß.de",
    "ｗｗｗ.de",
    "a_b",
    "-a-",
    "soft\u{AD}.de",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "1.2.3.4.",
    "256.1.1.1",
    "[::1]",
    "[2001:DB8::1]",
    "[::ffff:1.2.3.4]",
    "[::1",
    "%61",
    "",
    "a b",
    "İ.de",
    "日本.jp",
    "a。b",
];
/// The content types of every generated rule set.
pub(super) const UIDS: [&str; 3] = ["api::a.a", "api::b.b", "plugin::c.c"];

/// One segment of a template, before its placeholder has a name.
#[derive(Clone, Debug)]
enum Shape {
    Static(String),
    Mixed(String, String),
    CatchAll,
}

/// The text of a template, as the grammar of D11 allows it.
pub(super) fn template_text() -> impl Strategy<Value = String> {
    let shape = prop_oneof![
        4 => static_text(1..8).prop_map(Shape::Static),
        5 => Just(Shape::Mixed(String::new(), String::new())),
        2 => (static_text(0..4), static_text(0..4)).prop_map(|(a, b)| Shape::Mixed(a, b)),
        1 => Just(Shape::CatchAll),
    ];
    let names: Vec<&str> = FIELDS.into_iter().chain(RESERVED).collect();
    (prop::collection::vec(shape, 0..5), Just(names).prop_shuffle())
        .prop_map(|(shapes, names)| written(&shapes, &names))
}

/// Gives each placeholder a name of its own, and moves a catch-all that is not last.
fn written(shapes: &[Shape], names: &[&str]) -> String {
    let mut names = names.iter();
    let segments = shapes.iter().enumerate().map(|(at, shape)| match shape {
        Shape::Static(text) if text == "." || text == ".." => format!("{text}x"),
        Shape::Static(text) => text.clone(),
        Shape::Mixed(prefix, suffix) => match names.next() {
            Some(&"locale") | None => "{locale}".to_owned(),
            Some(name) => format!("{prefix}{{{name}}}{suffix}"),
        },
        Shape::CatchAll => match names.next() {
            Some(name) if RESERVED.contains(name) => format!("{{{name}}}"),
            Some(name) if at + 1 == shapes.len() => format!("{{*{name}}}"),
            Some(name) => format!("{{{name}}}"),
            None => "all".to_owned(),
        },
    });
    format!("/{}", segments.collect::<Vec<_>>().join("/"))
}

/// Text that may stand in a template; `length` counts characters of the hostile kind.
pub(super) fn static_text(length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let least = length.start;
    let allowed = |c: char| !c.is_control() && !"%?#\\{}/".contains(c);
    let hostile = prop::collection::vec(any::<char>(), length.clone()).prop_map(move |chars| {
        let text: String = chars.into_iter().filter(|c| allowed(*c)).collect();
        if text.len() < least { ".".to_owned() } else { text }
    });
    prop_oneof![
        4 => prop::sample::select(&WORDS[..7]).prop_map(str::to_owned),
        2 => prop::collection::vec(prop::sample::select(&b".-~+ :@&=<>'\"e2"[..]), length)
            .prop_map(move |bytes| {
                let text = bytes.into_iter().map(char::from).collect::<String>();
                if text.len() < least { "..".to_owned() } else { text }
            }),
        1 => hostile,
    ]
    .prop_map(not_foreign)
}

/// Text that is not a placeholder of another system, alone or before and after one of ours.
fn not_foreign(text: String) -> String {
    let text = if text.starts_with([':', '[']) { format!("x{text}") } else { text };
    if text.ends_with('$') || text == "*" { text + "x" } else { text }
}

/// A rule of one of [`UIDS`].
fn rule() -> impl Strategy<Value = Rule> {
    (prop::sample::select(&UIDS[..]), template_text()).prop_map(|(uid, template)| {
        let content_type = ContentTypeUid::parse(uid).unwrap();
        Rule::new(content_type, Template::parse(&template).unwrap())
    })
}

/// Several rules in the order of the settings.
pub(super) fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(), 1..7)
}

/// A site's plain rules, with the locales `en` and `de`.
pub(super) fn rule_set() -> impl Strategy<Value = RuleSet> {
    (rules(), site_locales(), trailing_slash()).prop_map(|(rules, locales, slash)| {
        RuleSet::new(locales, LocalePrefix::Always, rules).with_trailing_slash(slash)
    })
}

pub(super) fn trailing_slash() -> impl Strategy<Value = TrailingSlash> {
    prop::sample::select(&[TrailingSlash::Never, TrailingSlash::Always][..])
}

/// The locales `en` and `de`, without or with segments of their own, which may be other codes and
/// need encoding.
pub(super) fn site_locales() -> impl Strategy<Value = Locales> {
    let with_segments = |segments: [&str; 2]| {
        let own = |(code, segment): (&str, &str)| {
            SiteLocale::from(Locale::parse(code).unwrap()).with_segment(segment).unwrap()
        };
        Locales::new([("en", segments[0]), ("de", segments[1])].map(own).to_vec()).unwrap()
    };
    let translated = [["de", "en"], ["a", "de"], ["en", "é"], ["a b", "a.html"]];
    prop_oneof![
        1 => Just(locales()),
        1 => prop::sample::select(translated.map(with_segments).to_vec()),
    ]
}

/// The locales `en` and `de` on one host or two, of which one may have no name. On two hosts they may
/// have one segment.
pub(super) fn locales_and_hosts() -> impl Strategy<Value = (Locales, Hosts)> {
    let bases = prop_oneof![
        1 => good_base_url().prop_map(|base| [Some(base); 2]),
        3 => good_base_url().prop_map(|base| [Some(base), Some("https://de.example:8443/x")]),
        1 => (good_base_url(), any::<bool>()).prop_map(|(base, is_first)| {
            if is_first { [Some(base), None] } else { [None, Some(base)] }
        }),
    ];
    let shared = prop::option::of(prop::sample::select(&["en", "a", "é"][..]));
    (bases, site_locales(), shared).prop_map(|(bases, own, shared)| {
        let base = |text: Option<&str>| text.map(|text| BaseUrl::parse(text).unwrap());
        let hosts = Hosts::new(bases.map(base).to_vec());
        let one = |segment: &str| {
            let locale = |code| SiteLocale::from(Locale::parse(code).unwrap());
            let both = ["en", "de"].map(|code| locale(code).with_segment(segment).unwrap());
            Locales::on_hosts(both.to_vec(), |at| hosts.host_of(at)).unwrap()
        };
        let shared = shared.filter(|_| hosts.are_several()).map(one);
        (shared.unwrap_or(own), hosts)
    })
}

pub(super) fn locales() -> Locales {
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap());
    Locales::new(locales.to_vec()).unwrap()
}

/// A value as an editor, a plugin or an attacker may write it.
pub(super) fn slug() -> impl Strategy<Value = String> {
    let tricky = "abe25cfF%%./\\?#;+ \u{85}\u{2028}\u{202E}\u{FFFD}\u{FFFF}é";
    let tricky: Vec<char> = tricky.chars().collect();
    let tricky = prop::collection::vec(prop::sample::select(tricky), 0..8);
    let word = || prop::sample::select(&WORDS[..]);
    prop_oneof![
        6 => word().prop_map(str::to_owned),
        3 => prop::collection::vec(word(), 1..4).prop_map(|words| words.join("/")),
        3 => tricky.prop_map(String::from_iter),
        2 => prop::collection::vec(prop::sample::select(&ESCAPES[..]), 1..4)
            .prop_map(|parts| parts.concat()),
        1 => any::<String>(),
        1 => (0..900_usize, word()).prop_map(|(times, word)| word.repeat(times)),
    ]
}

fn field_value() -> impl Strategy<Value = FieldValue<'static>> {
    prop_oneof![
        12 => slug().prop_map(|text| FieldValue::Text(text.into())),
        1 => Just(FieldValue::Missing),
        1 => Just(FieldValue::NotText),
    ]
}

/// A document that has every field a template may ask for, usable or not.
pub(super) fn document() -> impl Strategy<Value = Document<'static>> {
    let locale = prop_oneof![
        4 => Just("en"), 4 => Just("de"), 1 => Just("EN"), 1 => Just("fr")
    ];
    let locale = prop_oneof![
        6 => locale.prop_map(|code| DocumentLocale::Named(code.into())),
        2 => Just(DocumentLocale::None),
        1 => Just(DocumentLocale::NotText),
    ];
    // No longer than a snapshot keeps: ids of Strapi have 24 bytes.
    let short = |text: String| text[..text.floor_char_boundary(200)].to_owned();
    let id = prop_oneof![4 => "[A-Za-z0-9_-]{1,6}", 1 => slug().prop_map(short)];
    let values = prop::collection::vec(field_value(), FIELDS.len());
    (id, locale, any::<bool>(), values).prop_map(|(id, locale, unpublished, values)| Document {
        id: id.into(),
        locale,
        unpublished,
        fields: FIELDS
            .map(|field| FieldPath::parse(field).unwrap())
            .into_iter()
            .collect::<Arc<_>>(),
        values,
    })
}

/// Text that is a base URL, or resembles one.
pub(super) fn base_url_text() -> impl Strategy<Value = String> {
    let scheme =
        prop::sample::select(&["http://", "https://", "HTTPS://", "ftp://", "http:/", "//"][..]);
    let host = prop_oneof![9 => prop::sample::select(&HOSTS[..]).prop_map(str::to_owned), 1 => any::<String>()];
    let port = prop::sample::select(
        &["", "", "", ":80", ":443", ":0", ":65535", ":65536", ":", ":08"][..],
    );
    let path = prop_oneof![
        3 => Just(String::new()),
        2 => Just("/".to_owned()),
        4 => prop::collection::vec(prop::sample::select(&["/a", "/", "/.", "/..", "/%2e", "/%C3%A9", "/é", "%", ".", "~", "'", "|", "@"][..]), 1..4)
            .prop_map(|parts| parts.concat()),
        1 => any::<String>(),
    ];
    (scheme, host, port, path)
        .prop_map(|(scheme, host, port, path)| format!("{scheme}{host}{port}{path}"))
}

/// A valid base URL, short enough for every generated path.
pub(super) fn good_base_url() -> impl Strategy<Value = &'static str> {
    let bases = [
        "https://www.example.com",
        "http://127.0.0.1:3000",
        "http://[::1]:8080/shop",
        "https://bücher.example/a/b",
        "http://h:443/caf%C3%A9",
    ];
    prop::sample::select(bases.to_vec())
}
