//! With a token that may read the schema.

use super::{LOCALES, SCHEMAS, Schema, denied, documents, init, locales, not_found, printed};
use super::{schemas, setup, without_comments};
use crate::support::cms::Cms;
use crate::support::front_of_cms::list;
use crate::support::http;
use crate::support::script::Script;
use crate::support::service::Setup;

const SLUG: &str = r#"{"slug":{"type":"uid"}}"#;

/// A CMS with these types and locales, and documents of their endpoints.
fn cms(
    types: &'static [Schema],
    codes: &'static [&'static str],
    answers: impl Fn(&str) -> Script + Send + Sync + 'static,
) -> Cms {
    Cms::start(move |target| match target {
        SCHEMAS => schemas(types),
        LOCALES => locales(codes, codes[0]),
        target => answers(target),
    })
}

const BLOG: &[Schema] = &[
    ("api::article.article", "collectionType", ["article", "articles"], true, SLUG),
    ("api::author.author", "collectionType", ["author", "authors"], false, SLUG),
    ("api::home.home", "singleType", ["home", "homes"], true, "{}"),
    (
        "api::page.page",
        "collectionType",
        ["page", "pages"],
        true,
        r#"{"slug":{"type":"string"},"parent":{"type":"relation","relation":"manyToOne","target":"api::page.page"}}"#,
    ),
    ("api::person.person", "collectionType", ["person", "people"], false, SLUG),
    ("api::tag.tag", "collectionType", ["tag", "tags"], true, r#"{"name":{"type":"string"}}"#),
];

fn blog() -> Cms {
    cms(BLOG, &["en", "de", "fr"], |target| match target.split('?').next() {
        Some("/api/home") => Script::json(200, r#"{"data":{"id":1,"documentId":"h"},"meta":{}}"#),
        Some("/api/authors") => list(&[], 100, 0),
        _ => documents("slug", &["a", "b"]),
    })
}

#[test]
fn file_has_a_rule_for_each_type_with_a_slug() {
    let (settings, said) = printed(&blog(), &[]);
    assert_eq!(
        without_comments(&settings),
        [
            "[cms]",
            "url = \"http://CMS\"",
            "[[site]]",
            "key = \"main\"",
            "locales = [\"en\", \"de\", \"fr\"]",
            "[[site.rule]]",
            "content_type = \"api::article.article\"",
            "template = \"/{locale}/articles/{slug}\"",
            "[[site.rule]]",
            "content_type = \"api::author.author\"",
            "template = \"/authors/{slug}\"",
            "[[site.rule]]",
            "content_type = \"api::home.home\"",
            "template = \"/{locale}\"",
            "[[site.rule]]",
            "content_type = \"api::page.page\"",
            "template = \"/{locale}/pages/{slug}\"",
            "[[site.rule]]",
            "content_type = \"api::person.person\"",
            "template = \"/people/{slug}\"",
            "[[content_type]]",
            "uid = \"api::person.person\"",
            "endpoint = \"people\"",
        ],
        "{settings}"
    );
    for comment in [
        "# Written by `frontend-map init` for the CMS at http://CMS.\n# The lines below a \"Guess\"",
        "# token_file = \"strapi.token\"\n",
        "# front_end_url = \"https://www.example.com\"\n",
        "# Guess: each path begins with its locale: /en/articles/{slug}, /de/articles/{slug}.",
        "# locale_prefix = \"except-default\"\n",
        "# trailing_slash = \"always\"\n",
        "# Guess: a collection is at its plural name, followed by the field that looks like its slug.",
        "# `slug` is a text that is not marked as unique.\ntemplate = \"/{locale}/pages/{slug}\"\n",
        "# Not localized, so there is no {locale}.\n",
        "# Guess: the home page, by its name.\n",
        "# It has no document yet.\n",
        "# template = \"/{locale}/{*path}\"\n# params.path = { field = \"slug\", ancestors = \"parent\" }\n",
        "# api::tag.tag:\n#   none of its fields looks like a slug\n# [[site.rule]]\n# content_type = \"api::tag.tag\"\n# template = \"/{locale}/tags/{slug}\"\n",
    ] {
        assert!(settings.contains(comment), "{comment}\n{settings}");
    }
    let wanted = "5 rules, locales en, de, fr\n\nwithout a rule:\n  api::tag.tag\n    none of its fields looks like a slug\n";
    assert_eq!(said, wanted);
}

#[test]
fn default_locale_of_the_cms_is_the_first() {
    let cms = Cms::start(|target| match target {
        SCHEMAS => schemas(BLOG),
        LOCALES => locales(&["en", "bad code", "de", "EN", "fr"], "de"),
        _ => documents("slug", &["a"]),
    });
    let (settings, _) = printed(&cms, &[]);
    let locales = "locales = [\"de\", \"en\", \"fr\"]\n\
        # `bad code` is left out: a site cannot have it beside the others.\n\
        # `EN` is left out: a site cannot have it beside the others.\n";
    assert!(settings.contains(locales), "{settings}");
    let (settings, _) = printed(&cms, &["--locales", "fr,en"]);
    assert!(settings.contains("locales = [\"fr\", \"en\"]\n"), "{settings}");
    assert!(settings.contains("# The locales of --locales. The first is the default.\n"));
}

#[test]
fn paths_have_no_locale_if_there_is_only_one() {
    let cms = cms(BLOG, &["en"], |_| documents("slug", &["a"]));
    let (settings, _) = printed(&cms, &[]);
    let prefix = "# Guess: with one locale, no path begins with it, and {locale} in a template stands for nothing:\n\
        # /articles/{slug}. If your paths are like /en/articles/{slug}, remove this line.\n\
        locale_prefix = \"except-default\"\n";
    assert!(settings.contains(prefix), "{settings}");
}

const ODD: &[Schema] = &[
    ("api::a.a", "collectionType", ["a", "posts"], false, SLUG),
    ("api::b.b", "collectionType", ["b", "wiki"], false, r#"{"path":{"type":"string"}}"#),
    ("api::c.c", "collectionType", ["c", "outer"], false, r#"{"path":{"type":"string"}}"#),
    ("api::d.d", "collectionType", ["d", "secrets"], false, SLUG),
    ("api::e.e", "collectionType", ["e", "gone"], false, SLUG),
    ("api::f.f", "collectionType", ["f", "failing"], false, SLUG),
    ("api::footer.footer", "singleType", ["footer", "footers"], false, "{}"),
    ("api::home-page.home-page", "singleType", ["home-page", "home-pages"], false, "{}"),
    ("api::index.index", "singleType", ["index", "indexes"], false, "{}"),
    ("plugin::cms.root", "collectionType", ["root", "roots"], false, SLUG),
    ("plugin::other.post", "collectionType", ["post", "posts"], false, SLUG),
    ("plugin::users-permissions.user", "collectionType", ["user", "users"], false, SLUG),
];

fn odd() -> Cms {
    cms(ODD, &["en", "de"], |target| {
        let (path, query) = target.split_once('?').expect("a query");
        assert!(query.contains("fields[0]="), "only what is needed: {target}");
        match path {
            "/api/wiki" => documents("path", &["a", "b/c", "d/e/f"]),
            "/api/outer" => documents("path", &["/a", "/b/c"]),
            "/api/secrets" => denied(),
            "/api/gone" | "/api/cms/roots" | "/api/home-page" => not_found(),
            "/api/failing" => Script::json(500, "{}"),
            "/api/index" => Script::json(200, r#"{"data":{"documentId":"i"},"meta":{}}"#),
            _ => documents("slug", &["a"]),
        }
    })
}

#[test]
fn types_that_differ_from_the_usual_have_a_rule_that_fits_or_a_reason() {
    let (settings, said) = printed(&odd(), &[]);
    let rules: Vec<&str> = without_comments(&settings)
        .into_iter()
        .filter(|line| line.starts_with("content_type") || line.starts_with("template"))
        .collect();
    assert_eq!(
        rules,
        [
            "content_type = \"api::a.a\"",
            "template = \"/posts/{slug}\"",
            "content_type = \"api::b.b\"",
            "template = \"/wiki/{*path}\"",
            "content_type = \"api::home-page.home-page\"",
            "template = \"/\"",
            "content_type = \"api::index.index\"",
            "template = \"/index\"",
            "content_type = \"plugin::cms.root\"",
            "template = \"/roots/{slug}\"",
            "content_type = \"plugin::other.post\"",
            "template = \"/other/post/{slug}\"",
        ],
        "{settings}"
    );
    for endpoint in [
        "uid = \"api::a.a\"\n# Its path below /api, which does not follow from its name.\nendpoint = \"posts\"\n",
        "uid = \"plugin::cms.root\"\n# Its path below /api, which does not follow from its name.\nendpoint = \"roots\"\n",
        "endpoint = \"home-page\"\nkind = \"single\"\n",
    ] {
        assert!(settings.contains(endpoint), "{endpoint}\n{settings}");
    }
    assert!(!settings.contains("uid = \"api::index.index\""), "found by its name: {settings}");
    let (_, reasons) = said.split_once("without a rule:\n").expect("reasons");
    assert_eq!(
        reasons,
        "  api::c.c
    most values of `path` begin or end with a slash, which no template can take
  api::d.d
    403 on /api/secrets: grant find and findOne to the token
  api::e.e
    404 on /api/gone: it has no routes in Strapi, or another path, which a
    [[content_type]] can name
  api::f.f
    the CMS is not available for api::f.f: it returned 500
  api::footer.footer
    a single type that is no page, by its name
"
    );
}

#[test]
fn named_types_alone_are_read() {
    let cms = blog();
    let types = ["--type", "api::person.person=humans", "--type", "api::artikle.artikle"];
    let (settings, said) = printed(&cms, &types);
    assert!(settings.contains("endpoint = \"humans\"\n"), "{settings}");
    assert!(!settings.contains("api::article.article\"\n"), "{settings}");
    let unknown = "  api::artikle.artikle\n    the CMS has no such content type; did you mean `api::article.article`?\n";
    assert!(said.contains(unknown), "{said}");
    let read: Vec<String> = cms.targets();
    let read = read.iter().filter(|target| target.contains('?')).count();
    assert_eq!(read, 1, "one page: {:?}", cms.targets());
}

#[test]
fn file_passes_check_and_its_sitemap_has_the_documents() {
    let pages = |target: &str| {
        if target.contains("[$gt]") {
            return list(&[], 100, 0);
        }
        let row = r#","slug":"hello","publishedAt":"2024-01-01T00:00:00.000Z","updatedAt":"2024-01-01T00:00:00.000Z""#;
        let locale = target.split('&').find_map(|pair| pair.strip_prefix("locale="));
        let locale = locale.map_or_else(String::new, |code| format!(r#","locale":"{code}""#));
        list(&[("d", &(row.to_owned() + &locale))], 100, 1)
    };
    let cms = cms(&BLOG_ARTICLES, &["en", "de"], pages);
    let setup = setup();
    let ended = init(&setup, &cms, &[]);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
    let said = "wrote frontend-map.toml: 1 rule, locales en, de\n\nnext:\n  1. in the file, set front_end_url, without which there are no URLs, and correct the guesses\n  2. frontend-map check\n  3. frontend-map serve\n";
    assert_eq!(ended.stdout, said);
    let setup = setup.env("FRONT_END_URL_MAIN", "https://www.example.com");
    let checked = setup.run(&["check", "--strict"]);
    assert_eq!(checked.stdout, "the settings are fine: 1 site, 1 rule\n", "{}", checked.stderr);
    let setup = setup.env("FRONTEND_MAP__SERVER__LISTEN", "127.0.0.1:0");
    let service = setup.start();
    let list = "/api/build-sitemap?site=main&contentType=api::article.article";
    let urls = http::get(service.addr(), list).json()["data"]["urls"].clone();
    let expected =
        ["https://www.example.com/en/articles/hello", "https://www.example.com/de/articles/hello"];
    assert_eq!(urls, serde_json::json!(expected));
}

const BLOG_ARTICLES: [Schema; 1] =
    [("api::article.article", "collectionType", ["article", "articles"], true, SLUG)];

#[test]
fn next_commands_name_a_file_that_is_not_found_by_itself() {
    let cms = cms(&BLOG_ARTICLES, &["en"], |_| documents("slug", &["a"]));
    let setup = setup();
    let ended = init(&setup, &cms, &["--out", "settings.toml"]);
    assert!(ended.stdout.contains("  2. frontend-map --config settings.toml check\n"));
    let ended = init(&setup, &cms, &["--out", "Anna's settings.toml"]);
    let quoted = r"  3. frontend-map --config 'Anna'\''s settings.toml' serve";
    assert!(ended.stdout.contains(quoted), "{}", ended.stdout);
    let written = std::fs::read_to_string(setup.path().join("settings.toml")).expect("the file");
    assert!(!written.contains("canary"), "no token: {written}");
    let named = setup.env("FRONTEND_MAP_CONFIG", "settings.toml");
    let ended = init(&named, &cms, &[]);
    let command = "  2. frontend-map --config frontend-map.toml check\n";
    assert!(ended.stdout.contains(command), "the variable wins: {}", ended.stdout);
}

#[test]
fn hostile_names_of_the_cms_end_in_no_setting() {
    let evil = r#"{"data":[
        {"uid":"api::a.a","schema":{"kind":"collectionType","singularName":"a","pluralName":"a\"\n[cms]\nurl = \"http://evil","attributes":{"slug":{"type":"uid"}}}},
        {"uid":"api::b.b","schema":{"kind":"collectionType","singularName":"b","pluralName":"bs","attributes":{"slug\n[cms]":{"type":"uid"}}}},
        {"uid":"api::x.x\n[cms]","schema":{"kind":"collectionType","singularName":"x","pluralName":"xs","attributes":{"slug":{"type":"uid"}}}},
        {"uid":"api::c.c","schema":{"kind":"collectionType","singularName":"c","pluralName":"cs","attributes":{"slug":{"type":"uid"}}}}]}"#;
    let cms = Cms::start(move |target| match target {
        SCHEMAS => Script::json(200, evil),
        LOCALES => locales(&[r#"en\"]\n[cms]"#, "de"], "de"),
        _ => documents("slug", &["a"]),
    });
    let (settings, said) = printed(&cms, &[]);
    let lines = without_comments(&settings);
    assert_eq!(lines.iter().filter(|line| line.contains("[cms]")).count(), 1, "{settings}");
    assert!(settings.contains("locales = [\"de\"]\n# `en"), "{settings}");
    assert!(said.starts_with("1 rule, locale de\n"), "{said}");
    assert!(said.contains("  api::a.a\n    its plural name cannot stand in a path\n"), "{said}");
    assert!(said.contains("  api::b.b\n    no template can have the name of its slug\n"), "{said}");
}

#[test]
fn token_file_of_the_environment_is_used_and_the_address_is_not() {
    let cms = cms(&BLOG_ARTICLES, &["en"], |_| documents("slug", &["a"]));
    let setup = Setup::without_settings()
        .unconfigured()
        .file("token", "from-a-file\n")
        .env("FRONTEND_MAP__CMS__TOKEN_FILE", "token")
        .env("FRONTEND_MAP__CMS__SOURCE", "files")
        .env("FRONTEND_MAP__CMS__URL", "http://127.0.0.1:1");
    let ended = init(&setup, &cms, &["--out", "-"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let sent = cms.heads();
    assert!(sent.iter().all(|head| head.contains("Bearer from-a-file")), "{sent:?}");
}

#[test]
fn settings_in_comments_are_valid() {
    let (settings, _) = printed(&blog(), &[]);
    let mut lines: Vec<&str> = settings.lines().collect();
    let template = lines.iter().position(|line| *line == "template = \"/{locale}/pages/{slug}\"");
    lines.remove(template.expect("the template of the page tree"));
    let mut used = 0;
    for line in &mut lines {
        let is_setting = |name: &&&str| line.starts_with(&format!("# {name} = "));
        let names = [
            "front_end_url",
            "locale_prefix",
            "trailing_slash",
            "template",
            "params.path",
            "content_type",
        ];
        if *line == "# [[site.rule]]" || names.iter().find(is_setting).is_some() {
            *line = line.trim_start_matches("# ");
            used += 1;
        }
    }
    assert_eq!(used, 8, "{settings}");
    let settings = lines.join("\n").replace("http://CMS", "http://cms.example");
    let ended = Setup::new(&settings).run(&["check", "--offline", "--strict"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
}

const COMPONENTS: &[Schema] = &[
    (
        "api::page.page",
        "collectionType",
        ["page", "pages"],
        true,
        r#"{"title":{"type":"string"},"seo":{"type":"component","component":"shared.seo"},"parts":{"type":"component","component":"shared.part","repeatable":true}}"#,
    ),
    (
        "api::shop.shop",
        "collectionType",
        ["shop", "shops"],
        false,
        r#"{"code":{"type":"string","unique":true},"urlName":{"type":"string","unique":true}}"#,
    ),
    (
        "api::person.person",
        "collectionType",
        ["person", "people"],
        false,
        r#"{"code":{"type":"string","unique":true}}"#,
    ),
];

#[test]
fn slugs_in_components_and_unique_texts_have_rules_and_other_types_have_one_in_comments() {
    let seo = r#"{"data":{"uid":"shared.seo","schema":{"attributes":{"slug":{"type":"string"},"title":{"type":"string"}}}}}"#;
    let page = |target: &str| match target.split('?').next() {
        Some("/api/content-type-builder/components/shared.seo") => Script::json(200, seo),
        Some("/api/pages") if target.contains("&populate[seo][fields][0]=slug") => {
            list(&[("a", r#","seo":{"id":1,"slug":"x/y"}"#)], 100, 1)
        }
        Some("/api/shops") => documents("urlName", &["a"]),
        _ => not_found(),
    };
    let cms = cms(COMPONENTS, &["en"], page);
    let (settings, said) = printed(&cms, &[]);
    for part in [
        "template = \"/{locale}/pages/{*seo.slug}\"\n",
        "# `urlName` is a unique text.\n# Not localized, so there is no {locale}.\ntemplate = \"/shops/{urlName}\"\n",
        "# api::person.person:\n#   none of its fields looks like a slug\n# [[site.rule]]\n\
         # content_type = \"api::person.person\"\n# template = \"/people/{slug}\"\n\
         # [[content_type]]\n# uid = \"api::person.person\"\n# endpoint = \"people\"\n",
    ] {
        assert!(settings.contains(part), "{part}\n{settings}");
    }
    assert!(said.starts_with("2 rules, locale en\n"), "{said}");
    assert!(!cms.targets().iter().any(|target| target.contains("shared.part")), "a list");
}

#[test]
fn file_has_the_redirects_of_a_type_that_looks_like_them() {
    const TYPES: &[Schema] = &[
        ("api::article.article", "collectionType", ["article", "articles"], false, SLUG),
        (
            "api::old-redirect.old-redirect",
            "collectionType",
            ["old-redirect", "moved-paths"],
            false,
            r#"{"source":{"type":"string","unique":true},"path":{"type":"string"},
                "destination":{"type":"text"},"page":{"type":"relation","relation":"oneToOne","target":"api::article.article"},
                "articles":{"type":"relation","relation":"oneToMany","target":"api::article.article"},
                "code":{"type":"integer"},"force":{"type":"boolean"}}"#,
        ),
        // The name alone says nothing.
        (
            "api::redirect-group.redirect-group",
            "collectionType",
            ["redirect-group", "redirect-groups"],
            false,
            r#"{"slug":{"type":"uid"},"name":{"type":"string"}}"#,
        ),
        (
            "api::redirect.redirect",
            "collectionType",
            ["redirect", "redirects"],
            false,
            r#"{"from":{"type":"string"},"to":{"type":"string"}}"#,
        ),
    ];
    let answers = |target: &str| match target.split('?').next() {
        Some("/api/redirects") => denied(),
        Some("/api/moved-paths") => documents("source", &["/old"]),
        _ => documents("slug", &["a"]),
    };
    let (settings, said) = printed(&cms(TYPES, &["en"], answers), &[]);
    let lines = without_comments(&settings);
    let of_site = lines.iter().position(|line| *line == "resolve = \"documents\"");
    assert!(of_site < lines.iter().position(|line| *line == "[[site.rule]]"), "{settings}");
    let start = lines.iter().position(|line| *line == "[[site.redirects]]").expect("redirects");
    assert_eq!(
        lines[start..],
        [
            "[[site.redirects]]",
            "content_type = \"api::old-redirect.old-redirect\"",
            "from = \"source\"",
            "to = \"destination\"",
            "document = \"page\"",
            "status = \"code\"",
            "force = \"force\"",
            "[[content_type]]",
            "uid = \"api::old-redirect.old-redirect\"",
            "endpoint = \"moved-paths\"",
        ]
    );
    assert!(settings.contains("template = \"/redirect-groups/{slug}\""), "{settings}");
    // One that cannot be read would keep the service from answering.
    assert!(settings.contains("# api::redirect.redirect:\n"), "{settings}");
    assert!(!settings.contains("/redirects/{slug}"), "{settings}");
    assert!(said.contains("redirects: api::old-redirect.old-redirect\n"), "{said}");
}
