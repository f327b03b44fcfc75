//! `check` and `problems` as SARIF: each finding is at its line of the settings.

use serde_json::{Value, json};

use crate::support::service::{Ended, Setup};

const CONTENT: &str = r#"{"api::page.page": [{"documentId": "a", "locale": "en", "slug": "a/b"},
    {"documentId": "b", "locale": "en", "slug": "x"}, {"documentId": "c", "locale": "en", "slug": "x"}],
    "api::story.story": []}"#;

const SITE: &str = r#"
[cms]
source = "files"
path = "content.json"

[[site]]
key = "main"
locales = ["en"]
front_end_url = "https://example.com"
resolve = "rules"

[[site.rule]]
content_type = "api::page.page"
template = "/{locale}/{slug}"

[[site.rule]]
content_type = "api::story.story"
template = "/{locale}/{slug}"
"#;

/// The findings as level, kind, line and text.
fn findings(ended: &Ended) -> Vec<Value> {
    let log: Value = serde_json::from_str(&ended.stdout).expect("one JSON document");
    assert_eq!((&log["version"], &log["runs"].as_array().unwrap().len()), (&json!("2.1.0"), &1));
    let run = &log["runs"][0];
    let described = |id: &Value| {
        let mut rules = run["tool"]["driver"]["rules"].as_array().unwrap().iter();
        rules.any(|rule| rule["id"] == *id && rule["shortDescription"]["text"].is_string())
    };
    let finding = |result: &Value| {
        assert!(described(&result["ruleId"]), "{result}");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "frontend-map.toml");
        let (line, text) = (&place["region"]["startLine"], &result["message"]["text"]);
        json!([result["level"], result["ruleId"], line, text])
    };
    run["results"].as_array().unwrap().iter().map(finding).collect()
}

fn setup(settings: &str) -> Setup {
    let setup = Setup::new("").unconfigured().file("content.json", CONTENT);
    setup.file("frontend-map.toml", settings)
}

#[test]
fn check_annotates_the_rule_that_loses_and_the_one_that_never_matches() {
    let ended = setup(SITE).run(&["check", "--strict", "--format", "sarif"]);
    let overlap = "site main: two rules match /en/x\n\
        wins: api::page.page /{locale}/{slug}\nloses: api::story.story /{locale}/{slug}\n\
        why: same shape: order of the settings";
    let never = "site main: a rule never matches\nrule: api::story.story /{locale}/{slug}\n\
        why: api::page.page /{locale}/{slug} matches its paths first";
    let expected =
        [json!(["error", "overlap", 16, overlap]), json!(["error", "never-matches", 16, never])];
    assert_eq!(findings(&ended), expected);
    assert_eq!(ended.status, Some(1));
}

#[test]
fn check_annotates_the_first_rule_of_a_content_type_that_the_content_lacks_and_warnings_at_line_1()
{
    let settings =
        SITE.replace("story.story", "other.other").replace("/{locale}/{slug}", "/{slug}");
    let settings = settings.replacen("/{slug}", "/p/{slug}", 1);
    let setup = setup(&settings).env("FRONT_END_URL_MIAN", "https://example.com");
    let ended = setup.run(&["check", "--format", "sarif"]);
    let found = findings(&ended);
    let kinds: Vec<Value> = found.iter().map(|one| json!([one[0], one[1], one[2]])).collect();
    assert_eq!(kinds, [json!(["warning", "setting", 1]), json!(["error", "content-file", 16])]);
    assert_eq!(ended.status, Some(0));
}

#[test]
fn check_annotates_each_invalid_setting_and_fails_as_without_sarif() {
    let settings = SITE.replace("/{locale}/{slug}", "/{locale}/{").replace("resolve", "resolv");
    let ended = setup(&settings).run(&["check", "--format", "sarif"]);
    let found = findings(&ended);
    let lines: Vec<Value> = found.iter().map(|one| json!([one[0], one[1], one[2]])).collect();
    let expected = [10, 14, 18].map(|line| json!(["error", "invalid-setting", line]));
    assert_eq!(lines, expected, "{found:?}");
    assert!(ended.stderr.contains("3 problems with the settings"), "{}", ended.stderr);
    assert_eq!(ended.status, Some(78));
    let ended = setup("[server\n").run(&["check", "--format", "sarif"]);
    assert_eq!((&findings(&ended)[0][2], ended.status), (&json!(1), Some(78)));
}

#[test]
fn problems_annotates_the_rule_of_each_document() {
    let args = ["problems", "--site", "main", "--format", "sarif"];
    let ended = setup(SITE).run(&args);
    let no_url = "(api::page.page a, en) has no URL: slug_has_slash";
    let shared =
        "/en/x is the page of (api::page.page b, en); (api::page.page c, en) has the same path";
    let expected =
        [json!(["warning", "no-url", 12, no_url]), json!(["warning", "shared-path", 12, shared])];
    assert_eq!(findings(&ended), expected);
    assert_eq!(ended.status, Some(0));
}

#[test]
fn problems_annotates_the_rule_that_builds_the_path_of_several_of_a_content_type() {
    let rule = "content_type = \"api::page.page\"\ntemplate = \"/{locale}/{slug}\"\n";
    let chosen = format!("{rule}where = {{ kind = \"a\" }}\n\n[[site.rule]]\n{rule}");
    let settings = SITE.replacen(rule, &chosen, 1);
    let ended = setup(&settings).run(&["problems", "--site", "main", "--format", "sarif"]);
    let lines: Vec<Value> = findings(&ended).iter().map(|one| one[2].clone()).collect();
    assert_eq!(lines, [17, 17], "{}", ended.stdout);
}
