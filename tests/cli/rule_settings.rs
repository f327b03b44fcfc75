//! Problems of `[[site.rule]]`: all are reported at once, each in the words of the settings.

use crate::support::settings;

/// The problems that `check` reports for a site with these lines, without their line numbers and
/// `site "main", `.
fn problems(site: &str) -> Vec<String> {
    let settings = settings::site("main").without_front_end_url().locales(&["en", "de"]);
    let ended = settings.set(site).run(&["check"]);
    let lines = ended.stderr.lines().filter_map(|line| line.strip_prefix("- "));
    let lines = lines.map(|line| line.split_once(", ").expect("the line number is first").1);
    let lines: Vec<String> = lines.map(|line| line.replace("site \"main\", ", "")).collect();
    assert_eq!(ended.status, Some(if lines.is_empty() { 0 } else { 78 }), "{site}");
    lines
}

/// A rule with this template, and more lines.
fn rule(template: &str, more: &str) -> String {
    format!("[[site.rule]]\ncontent_type = \"api::a.a\"\ntemplate = {template}\n{more}\n")
}

#[track_caller]
fn assert_problems(site: &str, expected: &[&str]) {
    assert_eq!(problems(site), expected, "{site}");
}

#[test]
fn check_refuses_a_date_part_as_a_catch_all() {
    assert_problems(
        &rule(r#""/{*publishedAt:year}""#, ""),
        &[
            "rule 1 (api::a.a): template `/{*publishedAt:year}`, position 2: a part of a date cannot be a catch-all",
        ],
    );
    assert_problems(
        &rule(r#""/{*path}""#, r#"params.path = { field = "publishedAt:year" }"#),
        &["rule 1 (api::a.a), params.path: a part of a date cannot be a catch-all"],
    );
}

#[test]
fn check_refuses_templates_whose_omitted_locale_is_ambiguous() {
    let bare = |rules: &str| format!("locale_prefix = \"except-default\"\n{rules}");
    let optional = rule(r#""/{section?}/{locale}/{slug}""#, "");
    assert_problems(&optional, &[]);
    assert_problems(
        &bare(&optional),
        &[
            "rule 1 (api::a.a): template `/{section?}/{locale}/{slug}`: with locale_prefix = \"except-default\" an optional segment before {locale} could be taken for it",
        ],
    );
    let text = rule(r#""/{locale}/de/{a?}""#, "");
    assert_problems(&text, &[]);
    assert_problems(
        &bare(&text),
        &[
            "rule 1 (api::a.a): template `/{locale}/de/{a?}`: with locale_prefix = \"except-default\" `de` may not stand where {locale} is left out, as it is the segment of a locale",
        ],
    );
    // German paths have their locale.
    assert_problems(
        &bare(&rule(r#"{ de = "/{section?}/{locale}/de", en = "/{locale}/fr" }"#, "")),
        &[],
    );
}

#[test]
fn check_names_the_key_and_the_expected_type() {
    let text = |key: &str, expected: &str, found: &str| {
        format!("rule 1 (api::a.a), params.slug{key}: must be {expected}, not {found}")
    };
    let slug = |more: &str| rule(r#""/{slug}""#, &format!("params.slug = {more}"));
    let scalar = |key: &str| format!("rule 1, {key}: must be text, a whole number, true or false");
    let template =
        "rule 1, template: must be a template in quotes, or a table with one for each locale";
    for (site, expected) in [
        (rule(r#""/{slug}""#, "where = { s = 1.5 }"), scalar("where.s")),
        (rule(r#""/{slug}""#, "where = { s = [\"a\"] }"), scalar("where.s")),
        (rule("5", ""), template.to_owned()),
        (rule("{ en = 5 }", ""), template.to_owned()),
        (
            slug("\"x\""),
            text("", "a table such as { pattern = \"[a-z0-9-]+\" } or { field = \"handle\" }", "\"x\""),
        ),
        (slug("{ pattern = 5 }"), text(".pattern", "text in quotes", "5")),
        (slug("{ values = [\"a\", 2] }"), text(".values[1]", "text in quotes", "2")),
        (
            slug("{ field = \"a\", ancestors = \"b\", depth = 2.7 }"),
            text(".depth", "a whole number", "2.7"),
        ),
        (
            slug("{ pattern = \"(?x)a # c\" , depth = 1 }"),
            "rule 1 (api::a.a), params.slug: `ancestors` needs `field`, and `depth` needs `ancestors`".to_owned(),
        ),
    ] {
        assert_problems(&site, &[&expected]);
    }
    for (key, words) in [
        ("locale_prefix", r#""always" or "except-default""#),
        ("resolve", r#""rules" or "documents""#),
    ] {
        let site = format!("{key} = \"never\"\n{}", rule("\"/x\"", ""));
        let expected = format!("{key}: must be {words}, not \"never\"");
        assert_problems(&site, &[&expected]);
    }
}

#[test]
fn check_reports_every_problem_of_every_rule() {
    let place = |at: u32| format!("rule {at} (api::a.a)");
    let first = rule(
        r#""/{a""#,
        "params.a = { pattern = \"(\" }\nparams.b = { field = \"1\", values = [] }\nwhere = { \"x.\" = 1 }",
    );
    let second = rule(
        r#"{ en = "/{a}", fr = "/{a}", it = "/" }"#,
        "params.a = { pattern = \"(\", field = \"1\" }\nparams.b = {}\nparams.locale = { values = [\"en\"] }",
    );
    let third = rule(r#"{ pl = "/x" }"#, "");
    let expected = [
        (1, ": template `/{a`, position 2: a `{` is not closed"),
        (1, ", params.a: `pattern`: position 1: unclosed group"),
        (1, ", params.b: `values` needs at least one value"),
        (
            1,
            ", params.b: `1` is not the name of a field: write it as the CMS names it, such as `slug` or `seo.handle`",
        ),
        (
            1,
            ", where: `x.` is not the name of a field: write it as the CMS names it, such as `slug` or `seo.handle`",
        ),
        (2, ", template.fr: the site has no locale `fr`"),
        (2, ", template.it: the site has no locale `it`"),
        (2, ", params.a: `pattern`: position 1: unclosed group"),
        (
            2,
            ", params.a: `1` is not the name of a field: write it as the CMS names it, such as `slug` or `seo.handle`",
        ),
        (2, ", params.b: no template of the rule has this placeholder"),
        (2, ", params.locale: `locale` is reserved; templates for single locales restrict it"),
        (3, ", template.pl: the site has no locale `pl`"),
    ];
    let expected: Vec<String> =
        expected.iter().map(|(at, text)| format!("{}{text}", place(*at))).collect();
    assert_problems(
        &format!("{first}{second}{third}"),
        &expected.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn check_limits_the_depth_to_what_strapi_reads_in_one_query() {
    let tree = |field: &str, parent: &str, depth: &str| {
        let param = format!("{{ field = \"{field}\", ancestors = \"{parent}\"{depth} }}");
        rule(r#""/{*path}""#, &format!("params.path = {param}"))
    };
    for (field, parent, most) in [
        ("slug", "parent", 8),
        ("seo.handle", "parent", 7),
        ("slug", "meta.parent", 3),
        ("a.b.c", "d.e.f", 1),
    ] {
        assert_problems(&tree(field, parent, ""), &[]);
        assert_problems(&tree(field, parent, &format!(", depth = {most}")), &[]);
        let expected = format!(
            "rule 1 (api::a.a), params.path: `depth` must be between 1 and {most} here, for Strapi to read all ancestors in one query"
        );
        assert_problems(&tree(field, parent, &format!(", depth = {}", most + 1)), &[&expected]);
    }
    assert_problems(
        &tree("slug", "a.b.c.d.e", ""),
        &[
            "rule 1 (api::a.a), params.path: the field of an ancestor is behind more relations than Strapi reads in one query",
        ],
    );
}
