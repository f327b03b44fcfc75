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
        (
            rule("{ en = 5 }", ""),
            "rule 1 (api::a.a), template.en: must be text in quotes, not 5".to_owned(),
        ),
        (
            slug("\"x\""),
            text("", "a table such as { pattern = \"[a-z0-9-]+\" } or { field = \"handle\" }", "\"x\""),
        ),
        (slug("{ pattern = 5 }"), text(".pattern", "text in quotes", "5")),
        (slug("{ values = [\"a\", 2] }"), text(".values[1]", "text in quotes", "2")),
        (
            rule(
                r#""/{*slug}""#,
                "params.slug = { field = \"a\", ancestors = \"b\", depth = 2.7 }",
            ),
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
fn check_reports_every_problem_of_a_rule_with_values_of_wrong_types() {
    let name =
        "is not the name of a field: write it as the CMS names it, such as `slug` or `seo.handle`";
    assert_problems(
        &rule(
            r#"{ en = "/{slug}", fr = "/x" }"#,
            "where = { a = 1.5, \"b.\" = 1 }\nparams.nope = { values = [] }\n\
             exclude_when = { b = [1] }\npath_field = \"path\"\nsitemap = \"no\"",
        ),
        &[
            "rule 1 (api::a.a), template.fr: the site has no locale `fr`",
            "rule 1, where.a: must be text, a whole number, true or false",
            &format!("rule 1 (api::a.a), where: `b.` {name}"),
            "rule 1 (api::a.a), params.nope: `values` needs at least one value",
            "rule 1 (api::a.a), params.nope: no template of the rule has this placeholder",
            "rule 1, exclude_when.b: must be text, a whole number, true or false",
            "rule 1 (api::a.a): `path_field` needs resolve = \"documents\" in the site: add it there, or remove `path_field`",
            "rule 1, sitemap: must be true or false, not \"no\"",
        ],
    );
    // The placeholder may be in the template that is not text.
    assert_problems(
        &rule(r#"{ de = 5, en = "/{", fr = "/x" }"#, "params.slug = { pattern = 1 }"),
        &[
            "rule 1 (api::a.a), template.de: must be text in quotes, not 5",
            "rule 1 (api::a.a), template.en: template `/{`, position 2: a `{` is not closed",
            "rule 1 (api::a.a), template.fr: the site has no locale `fr`",
            "rule 1 (api::a.a), params.slug.pattern: must be text in quotes, not 1",
        ],
    );
    // Without its content type and template, the params are checked for themselves.
    assert_problems(
        "[[site.rule]]\npath_field = 5\ntitle = \"a.\"\nparams.a = { values = [1], field = \"1\" }\n\
         params.b = { pattern = 1, values = [\"x\"] }\nparams.c = { field = 1, ancestors = \"2\", depth = 3.5 }\n\
         params.d = { pattern = \"(\", depth = \"x\" }\n",
        &[
            "rule 1: `content_type` is required",
            "rule 1: `template` is required",
            "rule 1, path_field: must be text in quotes, not 5",
            "rule 1: `path_field` needs resolve = \"documents\" in the site: add it there, or remove `path_field`",
            &format!("rule 1, title: `a.` {name}"),
            "rule 1, params.a.values[0]: must be text in quotes, not 1",
            &format!("rule 1, params.a: `1` {name}"),
            "rule 1, params.b.pattern: must be text in quotes, not 1",
            "rule 1, params.b: `pattern` and `values` cannot be used together",
            "rule 1, params.c.field: must be text in quotes, not 1",
            "rule 1, params.c.depth: must be a whole number, not 3.5",
            &format!("rule 1, params.c: `2` {name}"),
            "rule 1, params.d.depth: must be a whole number, not \"x\"",
            "rule 1, params.d: `pattern`: position 1: unclosed group",
            "rule 1, params.d: `ancestors` needs `field`, and `depth` needs `ancestors`",
        ],
    );
}

#[test]
fn check_reports_every_problem_of_an_entry_with_values_of_wrong_types() {
    assert_problems(
        "[[site.redirects]]\ncontent_type = 1\nfrom = \"a.\"\nto = 2\n\
         [[site.links]]\ncontent_type = 1\nfields = [\"a\", \"locale\"]\n\
         [[site.page]]\nname = 1\npath = { en = \"/{slug}\", de = 1 }\nlastmod = \"x\"\n\
         [[content_type]]\nuid = 1\nendpoint = \"a b\"\n",
        &[
            "redirects 1, content_type: must be text in quotes, not 1",
            "redirects 1, from: is not the name of a field: write it as the CMS names it, such as `from` or `target`",
            "redirects 1, to: must be text in quotes, not 2",
            "links 1, content_type: must be text in quotes, not 1",
            "links 1, fields: `locale` has no links: leave it out",
            "page 1, name: must be text in quotes, not 1",
            "page 1, path.de: must be text in quotes, not 1",
            "page 1, path.en: `/{slug}`: `{slug}` needs a document, and a page has none: write its path as text, in which only `{locale}` may stand",
            "page 1, lastmod: \"x\" is not a date such as 2024-03-06, or a time with an offset such as 2024-03-06T22:19:54+01:00",
            "content_type 1: an endpoint must be a path below `/api` like `articles` or `cms/press-releases`: words of letters, digits, `-`, `_`, `.` and `~`, joined by `/`",
            "content_type 1, uid: must be text in quotes, not 1",
        ],
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
