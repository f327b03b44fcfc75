//! What may not stand in a `[[site.rule]]`, and that each problem is told in words about what was
//! written, beside all others.

use crate::support::service::Setup;

const HEAD: &str = "[server]\nlisten = \"127.0.0.1:0\"\n[cms]\nsource = \"files\"\npath = \"c.json\"\n[[site]]\nkey = \"main\"\nlocales = [\"en\", \"de\"]\n";

/// What `check` says about a site with these lines, each problem without `site "main", `.
fn problems(site: &str) -> Vec<String> {
    let ended = Setup::new(&format!("{HEAD}{site}")).file("c.json", "{}").run(&["check"]);
    let lines = ended.stderr.lines().filter_map(|line| line.strip_prefix("- "));
    let lines: Vec<String> = lines.map(|line| line.replace("site \"main\", ", "")).collect();
    assert_eq!(ended.status, Some(if lines.is_empty() { 0 } else { 78 }), "{site}");
    lines
}

/// A rule with this template, and more lines.
fn rule(template: &str, more: &str) -> String {
    format!("[[site.rule]]\ncontent_type = \"api::a.a\"\ntemplate = {template}\n{more}\n")
}

#[track_caller]
fn says(site: &str, expected: &[&str]) {
    assert_eq!(problems(site), expected, "{site}");
}

#[test]
fn a_part_of_a_date_is_no_catch_all() {
    says(
        &rule(r#""/{*publishedAt:year}""#, ""),
        &[
            "rule 1 (api::a.a): template `/{*publishedAt:year}`, position 2: a part of a date is one segment, not a catch-all",
        ],
    );
    says(
        &rule(r#""/{*path}""#, r#"params.path = { field = "publishedAt:year" }"#),
        &["rule 1 (api::a.a), params.path: a part of a date is one segment, not a catch-all"],
    );
}

#[test]
fn a_path_without_a_locale_is_not_taken_for_one_with_it() {
    let bare = |rules: &str| format!("locale_prefix = \"except-default\"\n{rules}");
    let optional = rule(r#""/{section?}/{locale}/{slug}""#, "");
    says(&optional, &[]);
    says(
        &bare(&optional),
        &[
            "rule 1 (api::a.a): template `/{section?}/{locale}/{slug}`: with locale_prefix = \"except-default\" an optional segment before {locale} could be taken for it",
        ],
    );
    let text = rule(r#""/{locale}/de/{a?}""#, "");
    says(&text, &[]);
    says(
        &bare(&text),
        &[
            "rule 1 (api::a.a): template `/{locale}/de/{a?}`: with locale_prefix = \"except-default\" `de` may not stand where {locale} is left out, as it is a locale of the site",
        ],
    );
    // German paths have their locale.
    says(&bare(&rule(r#"{ de = "/{section?}/{locale}/de", en = "/{locale}/fr" }"#, "")), &[]);
}
