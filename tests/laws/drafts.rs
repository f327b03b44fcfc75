//! Generated sites in which each document has a published version and a draft with the same fields:
//! both are found at the same paths, in each locale and on each host.

use std::collections::BTreeSet;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::support::api::get;
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::Settings;
use crate::support::wait::until_so;

const SITES: usize = 60;
/// Locales with segments, and the hosts of the locales: one for all, or one for each; two locales may
/// have one segment on different hosts.
const LOCALES: [(&[(&str, &str)], bool); 4] = [
    (&[("en", "en"), ("de", "de"), ("it", "it")], false),
    (&[("en", "en"), ("de", "de"), ("it", "it")], true),
    (&[("en", "en"), ("de", "en"), ("it", "it")], true),
    (&[("en", "en"), ("de", "it"), ("it", "it")], true),
];
const TEMPLATES: [&str; 9] = [
    r#""/{locale}/{slug}""#,
    r#""/{locale}/{*slug}""#,
    r#""/{locale}/a/{slug}""#,
    r#""/a/{slug}""#,
    r#""/{*slug}""#,
    r#"{ en = "/a/{slug}", it = "/{slug}" }"#,
    r#"{ en = "/{locale}/a/{slug}", de = "/b/{slug}" }"#,
    r#"{ en = "/a/{slug}", de = "/a/{slug}", it = "/a/{slug}" }"#,
    r#"{ de = "/{locale}/{slug}" }"#,
];
const WORDS: [&str; 8] = ["a", "b", "x", "a/x", "b/x", "it/x", "en/x", "a/b"];

/// What has to be known about a site, and its documents by content type.
struct Site {
    documents: Vec<(String, Vec<Value>)>,
    segments: BTreeSet<&'static str>,
    hosts: Vec<String>,
}

/// One more site, with its rules.
fn add_site(settings: Settings, at: usize, rng: &mut Rng) -> (Settings, Site) {
    let (locales, are_several) = LOCALES[rng.usize(..LOCALES.len())];
    let codes = locales.iter().map(|(code, segment)| {
        format!("{{ code = \"{code}\", segment = \"{segment}\", hreflang = \"{code}\" }}")
    });
    let codes: Vec<String> = codes.collect();
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    let host =
        |code: &str| if are_several { format!("{code}.example") } else { "one.example".into() };
    let bases = locales.iter().map(|(code, _)| format!("{code} = \"https://{}\"", host(code)));
    let bases: Vec<String> = bases.collect();
    let mut settings = settings
        .site(&format!("s{at}"))
        .front_end_url(&format!("{{ {} }}", bases.join(", ")))
        .locales(&codes)
        .resolve("documents");
    let mut documents = Vec::new();
    for name in ["p", "q", "r"] {
        let uid = format!("api::{name}{at}.{name}{at}");
        for _ in 0..rng.usize(1..3) {
            let template = TEMPLATES[rng.usize(..TEMPLATES.len())];
            settings = settings.rule(&uid, template);
            if rng.bool() {
                settings = settings.with("path_field = \"own\"");
            }
        }
        let word = |rng: &mut Rng| WORDS[rng.usize(..WORDS.len())];
        let rows = (0..rng.usize(1..5)).map(|id| {
            let mut row = json!({"documentId": format!("{name}{id}"), "slug": word(rng)});
            if rng.bool() {
                row["own"] = json!(word(rng));
            }
            if rng.bool() {
                row["locale"] = json!(["en", "de", "it"][rng.usize(..3)]);
            }
            row
        });
        let rows: Vec<Value> = rows.collect();
        documents.push((uid, rows));
    }
    let hosts =
        if are_several { locales.iter().map(|(code, _)| host(code)).collect() } else { Vec::new() };
    let segments = locales.iter().map(|(_, segment)| *segment).collect();
    (settings, Site { documents, segments, hosts })
}

/// Each row as a published version and as a draft.
fn versions(rows: &[Value]) -> Vec<Value> {
    let with = |status: &'static str| {
        rows.iter().map(move |row| {
            let mut row = row.clone();
            row["status"] = json!(status);
            row
        })
    };
    with("published").chain(with("draft")).collect()
}

fn started(settings: Settings, sites: &[Site]) -> Service {
    let documents = sites.iter().flat_map(|site| &site.documents);
    let content: serde_json::Map<String, Value> =
        documents.map(|(uid, rows)| (uid.clone(), json!(versions(rows)))).collect();
    let content = Value::Object(content).to_string();
    settings.files(&content).start()
}

/// The status, and the members that do not say where the document was read.
fn shown(service: &Service, query: &str) -> Value {
    let response = get(service, &format!("/api/resolve?{query}"));
    let mut found = response.json();
    if let Some(data) = found["data"].as_object_mut() {
        data.remove("resolvedBy");
        // A draft redirects nowhere.
        data.remove("redirect");
    }
    json!([response.status, found])
}

#[test]
fn draft_is_found_wherever_the_published_version_with_its_fields_is() {
    let rng = &mut Rng::with_seed(16);
    let (mut settings, mut sites) = (Settings::new(), Vec::new());
    for at in 0..SITES {
        let (with_site, site) = add_site(settings, at, rng);
        settings = with_site;
        sites.push(site);
    }
    let service = started(settings.clone(), &sites);
    let mut found = 0;
    for (at, site) in sites.iter().enumerate() {
        let pages = format!("/api/pages?site=s{at}&unlisted=true");
        let pages = get(&service, &pages).json()["data"]["pages"].clone();
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for page in pages.as_array().expect("a list") {
            let path = page["path"].as_str().expect("a path");
            let rest = path.split_once('/').expect("a slash").1;
            let behind = rest.split_once('/').map_or(rest, |(_, behind)| behind);
            let others = site.segments.iter();
            paths.extend(
                others.flat_map(|own| [format!("/{own}/{rest}"), format!("/{own}/{behind}")]),
            );
            paths.insert(path.to_owned());
        }
        let known = format!("/api/resolve?site=s{at}&pathname=/none/none/none/none");
        until_so("the documents are known", || get(&service, &known).status != 503);
        let hosts = site.hosts.iter().map(String::as_str).chain([""]);
        let requests = hosts.flat_map(|host| paths.iter().map(move |path| (host, path)));
        for (host, path) in requests {
            let query = format!("site=s{at}&pathname={}&host={host}", http::query(path));
            let published = shown(&service, &query);
            let draft = shown(&service, &format!("{query}&status=draft"));
            let rules = settings.toml().split("[[site]]").nth(at + 1).map(str::to_owned);
            assert_eq!(published, draft, "{query}\n{rules:#?}\n{:?}", site.documents);
            found += usize::from(published[1]["data"]["kind"] == "document");
        }
    }
    assert!(found > 500, "{found}");
}
