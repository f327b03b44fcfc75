//! The table of `tests/corpora/matching.toml`: which rule matches a pathname, checked through the
//! real service.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;

use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::Settings;

#[derive(Deserialize)]
struct Table {
    set: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    site: String,
    rows: String,
}

#[test]
fn pathname_of_the_corpus_matches_the_expected_rule() {
    let table: Table = toml::from_str(include_str!("../corpora/matching.toml")).unwrap();
    let service = service(&table.set);
    let mut rows = 0;
    let mut wrong = String::new();
    for set in &table.set {
        for row in set.rows.lines().filter(|line| !line.trim().is_empty()) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [pathname, locale, expected] = cells[..] else {
                panic!("{}: a row has three cells: {row}", set.name);
            };
            let found = found(&service, &set.name, pathname, locale);
            if found != expected {
                writeln!(wrong, "{}: {row}\n    but: {found}", set.name).unwrap();
            }
            rows += 1;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(rows >= 120, "{rows} rows");
}

fn service(sets: &[Set]) -> Service {
    settings(sets).start()
}

fn settings(sets: &[Set]) -> Settings {
    sets.iter().fold(Settings::new(), |settings, Set { name, site, .. }| {
        settings.more(&format!("[[site]]\nkey = \"{name}\"\n{site}"))
    })
}

/// The response, written like the table's last column.
fn found(service: &Service, site: &str, pathname: &str, locale: &str) -> String {
    let [pathname, locale] = [pathname, locale].map(http::query);
    let query = format!("site={site}&pathname={pathname}&locale={locale}");
    let response = http::get(service.addr(), &format!("/api/get-content-type?{query}"));
    match response.status {
        200 => summary(&response.json()["data"]),
        404 => "-".to_owned(),
        status => format!("{status} {}", response.text()),
    }
}

fn summary(data: &Value) -> String {
    let matched = &data["matched"];
    let uid = matched["collectionType"].as_str().unwrap();
    let mut params: BTreeMap<String, String> =
        serde_json::from_value(matched["params"].clone()).unwrap();
    let locale = params.remove("locale").unwrap();
    assert_eq!(data["locale"], locale.as_str(), "both places have the same locale");
    let name = uid.rsplit_once('.').unwrap().1;
    let params = params.iter().map(|(name, value)| format!(" {name}={}", value.replace(' ', "+")));
    params.fold(format!("{name} {locale}"), |summary, param| summary + &param)
}

#[test]
fn template_with_several_patterns_is_a_candidate_once() {
    let rules = r#"
        { content_type = "api::a.a", template = "/{locale}/{a?}/{b?}/x" },
        { content_type = "api::b.b", template = "/y" },
        { content_type = "api::c.c", template = { en = "/n/{b}", de = "/n/{b}" } },
    "#;
    let site = format!(
        "locales = [\"en\", \"de\"]\nlocale_prefix = \"except-default\"\nrule = [{rules}]\n"
    );
    let service = service(&[Set { name: "main".into(), site, rows: String::new() }]);
    let target = "/api/get-content-type?site=main&pathname=/q/w/e/r/t&debug=1";
    let response = http::get(service.addr(), target).json();
    let candidates = response["error"]["details"]["candidates"].as_array().unwrap();
    let rules: Vec<&str> = candidates.iter().filter_map(|c| c["rule"].as_str()).collect();
    // Its pattern without any optional segment, `/x`, is tried first.
    assert_eq!(rules, ["/{locale}/{a?}/{b?}/x", "/y", "/n/{b}"]);
    assert!(candidates.iter().all(|candidate| candidate["reason"] == "segment_count"));
}

#[test]
fn check_refuses_rules_that_could_make_matching_slow() {
    let rule = |template: &str, params: &str| {
        format!(
            "{{ content_type = \"api::a.a\", template = \"{template}\", params = {{ {params} }} }}"
        )
    };
    // Every combination of `a` and a placeholder, twelve segments deep.
    let step = |at: usize, step: usize| match at >> step & 1 {
        0 => "/a".to_owned(),
        _ => format!("/{{p{step}}}"),
    };
    let template = |at: usize| (0..12).map(|depth| step(at, depth)).collect::<String>() + "/z";
    let ladder: Vec<String> = (0..4096).map(|at| rule(&template(at), "")).collect();
    let large = |n: u32| format!("path = {{ pattern = \"([ab]|/)*a([ab]|/){{11}}c{n}\" }}");
    let large: Vec<String> = (0..3).map(|n| rule("/{*path}", &large(n))).collect();
    for (rules, words) in [
        (rule("/{locale}", "locale = { field = \"x\" }"), "params.locale: `locale` is reserved"),
        (
            rule("/{documentId}", "documentId = { field = \"slug\" }"),
            "params.documentId: `documentId` is reserved",
        ),
        (rule("/{x}", "x = { pattern = \"(a|b)*a(a|b){2000}c\" }"), "params.x: `pattern`: "),
        (ladder.join(",\n"), "a pathname could make the service look at"),
        // Each pattern reads a cache line for every byte.
        (large.join(",\n"), "a pathname could make the service look at"),
    ] {
        let set = Set { name: "main".into(), site: site(&rules), rows: String::new() };
        let ended = settings(&[set]).run(&["check"]);
        assert_eq!(ended.status, Some(78), "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}

fn site(rules: &str) -> String {
    format!("locales = [\"en\"]\nrule = [\n{rules}\n]\n")
}
