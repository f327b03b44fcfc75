//! `check` compares the settings with the CMS; the same findings while serving.

mod links;

use crate::support::cms::Cms;
use crate::support::front_of_cms::{assert_failure, list, refusal};
use crate::support::http;
use crate::support::script::Script;
use crate::support::service::{Ended, Setup};
use crate::support::settings::{Settings, site};

/// Settings with the CMS at this address and one rule for each of these types.
/// A site with these rules, each the lines behind its content type.
fn setup(cms: &Cms, rules: &[(&str, &str)]) -> Setup {
    let with = |site: Settings, (uid, rule): &(&str, &str)| site.rule_of(uid, rule);
    rules.iter().fold(site("main"), with).strapi(cms).without_endpoints().setup()
}

/// The report of `check` for rules of one type.
fn check(cms: &Cms, uid: &str, rule: &str, more: &[&str]) -> Ended {
    let setup = setup(cms, &[(uid, rule)]).env("FRONTEND_MAP__CMS__TOKEN", "canary-token");
    setup.run(&[&["check"], more].concat())
}

/// The lines of the report behind the first one.
fn findings(ended: &Ended) -> Vec<&str> {
    ended.stdout.lines().skip(1).filter(|line| !line.is_empty()).collect()
}

fn denied() -> Script {
    refusal(403, "ForbiddenError", "{}")
}

fn not_found() -> Script {
    refusal(404, "NotFoundError", "{}")
}

/// A CMS whose schemas the token may not read.
fn reader(answers: impl Fn(&str) -> Script + Send + Sync + 'static) -> Cms {
    Cms::start(move |target| {
        if target.starts_with("/api/content-type-builder/") { denied() } else { answers(target) }
    })
}

fn invalid_key(key: &str, path: Option<&str>, param: &str) -> Script {
    let path = path.map_or("null".to_owned(), |path| format!("\"{path}\""));
    let details = format!(r#"{{"key":"{key}","path":{path},"source":"query","param":"{param}"}}"#);
    refusal(400, "ValidationError", &details)
}

/// The schema of a content type or component with these attributes.
fn schema(name: &str, attributes: &str) -> Script {
    let schema = format!(
        r#"{{"kind":"collectionType","singularName":"{name}","pluralName":"{name}s","attributes":{attributes}}}"#
    );
    Script::json(200, &format!(r#"{{"data":{{"uid":"api::{name}.{name}","schema":{schema}}}}}"#))
}

const DATES: &str = r#""locale":"en","publishedAt":"2024-01-01T00:00:00.000Z","updatedAt":"2024-01-01T00:00:00.000Z""#;

/// A list of one published document with these members.
fn one(members: &str) -> Script {
    list(&[("a", &format!(",{DATES},{members}"))], 100, 1)
}

/// A published document with these members.
fn document(members: &str) -> Script {
    Script::json(200, &format!(r#"{{"data":{{"documentId":"a",{DATES},{members}}},"meta":{{}}}}"#))
}

/// A response of the CMS, and the finding.
type Case = (fn() -> Script, &'static str);

#[test]
fn check_tells_token_permission_endpoint_and_a_500_apart() {
    let cases: [Case; 4] = [
        (
            || refusal(401, "UnauthorizedError", "{}"),
            "api::news.news: 401 on /api/newses: the token is wrong or has expired; create an API token in Strapi and set it as FRONTEND_MAP__CMS__TOKEN or in cms.token_file",
        ),
        (denied, "api::news.news: 403 on /api/newses: grant find and findOne to the token"),
        (
            not_found,
            "api::news.news: 404 on /api/newses: write [[content_type]] uid = \"api::news.news\" with the endpoint of the type",
        ),
        (
            || Script::json(500, "{}"),
            "api::news.news: the CMS is not available for api::news.news: it returned 500 (CMS at http://ADDRESS)",
        ),
    ];
    for (answer, expected) in cases {
        let cms = reader(move |_| answer());
        let rule = "template = \"/{slug}\"";
        let ended = check(&cms, "api::news.news", rule, &[]);
        let expected = expected.replace("ADDRESS", &cms.addr().to_string());
        assert_eq!(
            (ended.status, findings(&ended)),
            (Some(0), vec![&*expected]),
            "{}",
            ended.stderr
        );
        assert!(
            ended.stdout.starts_with(
                "the settings are valid, but there is 1 problem with the CMS: 1 site, 1 rule\n"
            ),
            "{}",
            ended.stdout
        );
        let strict = check(&cms, "api::news.news", rule, &["--strict"]);
        assert_eq!(strict.status, Some(1));
        let counted = "1 problem with the CMS";
        assert_eq!(strict.stderr, format!("frontend-map: {counted}\n"));
        assert!(!(strict.stdout + &ended.stdout).contains("canary"), "no token");
    }
}

#[test]
fn check_without_a_token_says_that_none_is_set() {
    let cms = reader(|_| denied());
    let rules = [("api::page.page", "template = \"/{slug}\"")];
    let ended = setup(&cms, &rules).run(&["check"]);
    let wanted = "api::page.page: 403 on /api/pages: no token is set; set FRONTEND_MAP__CMS__TOKEN or cms.token_file";
    assert_eq!(findings(&ended), [wanted], "{}", ended.stderr);
}

#[test]
fn check_requests_one_document_with_the_fields_of_all_settings() {
    let cms = reader(|_| {
        one(r#""slug":"s","hidden":false,"edited":"2024-01-01","seo":{"id":1,"slug":"x"}"#)
    });
    let rule = "template = \"/{slug}/{seo.slug}\"\nexclude_when = { hidden = true }\nmodified = \"edited\"";
    let ended = check(&cms, "api::page.page", rule, &["--strict"]);
    let fine = "the settings are fine: 1 site, 1 rule\n";
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), fine), "{}", ended.stderr);
    let targets = cms.targets();
    let lists: Vec<&String> =
        targets.iter().filter(|target| target.starts_with("/api/pages?")).collect();
    let [request] = lists[..] else { panic!("one request, not {targets:?}") };
    for part in ["pageSize]=1&", "=slug", "=hidden", "=edited", "populate[seo][fields][0]=slug"] {
        assert!(request.contains(part), "{part} is missing in {request}");
    }
}

#[test]
fn check_names_each_field_that_the_cms_refuses() {
    let cms = reader(|target| {
        if target.contains("populate[zone]") {
            refusal(400, "ValidationError", "{}")
        } else if target.contains("populate[secret]") {
            invalid_key("secret", Some("secret"), "populate")
        } else if target.contains("=secret") {
            invalid_key("secret", Some("secret"), "fields")
        } else if target.contains("=slugg") {
            invalid_key("slugg", None, "fields")
        } else if target.contains("populate[category][populate][pages]") {
            one(r#""slug":"s","category":{"id":1,"pages":[]}"#)
        } else if target.contains("=pages") {
            invalid_key("pages", Some("pages"), "populate")
        } else if target.contains("=nam") {
            invalid_key("nam", None, "populate")
        } else if target.contains("populate[tags][fields][0]=id") {
            one(r#""tags":[]"#)
        } else if target.contains("=tags") {
            invalid_key("tags", Some("tags"), "fields")
        } else {
            one(r#""slug":"s","category":{"id":1}"#)
        }
    });
    let rule = "template = \"/{slugg}/{secret}/{tags}/{category.nam}/{category.pages}/{zone.slug}/{slug}\"";
    let ended = check(&cms, "api::page.page", rule, &[]);
    let mut found = findings(&ended);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "api::page.page: `category.pages` is a list (a relation to many or a repeatable component), which has no single value: use a relation to one",
            "api::page.page: `secret` is private, and Strapi never returns it: use another field, or remove `private` from its schema",
            "api::page.page: `tags` is a list (a relation to many or a repeatable component), which has no single value: use a relation to one",
            "api::page.page: `zone` is a dynamic zone, which has no single value: use a field of the type or of a component",
            "api::page.page: there is no field or relation `category.nam`: correct the name",
            "api::page.page: there is no field or relation `slugg`: correct the name",
        ],
        "{}",
        ended.stderr
    );
}

#[test]
fn check_names_values_that_no_placeholder_can_have_and_absent_relations() {
    let cms = reader(|_| one(r#""slug":"s","price":1.5,"links":[{"id":1,"slug":"l"}]"#));
    let rule = "template = \"/{price}/{links.slug}/{category.parent.slug}/{slug}\"\nexclude_when = { hidden = true }";
    let ended = check(&cms, "api::page.page", rule, &[]);
    assert_eq!(
        findings(&ended),
        [
            "api::page.page: `price` is a decimal number: a placeholder needs text, an integer or a date",
            "api::page.page: `links` is a list (a relation to many or a repeatable component), which has no single value: use a relation to one",
            "api::page.page: the token may not read the relation `category` of api::page.page: grant find on the content type that it leads to",
            "api::page.page: the field `hidden` of api::page.page is private, or the token may not read it",
        ],
        "{}",
        ended.stderr
    );
}

#[test]
fn check_reports_a_misspelt_condition_once() {
    for readable in [false, true] {
        let cms = Cms::start(move |target| match target.split_once("/api/content-type-builder/") {
            Some((_, "content-types/api::page.page")) if readable => {
                schema("page", r#"{"slug":{"type":"uid"}}"#)
            }
            Some(_) => denied(),
            None if target.contains("=sektion") => invalid_key("sektion", None, "fields"),
            None if target.contains("filters[sektion]") => invalid_key("sektion", None, "filters"),
            None => one(r#""slug":"s""#),
        });
        let rule = "template = \"/{slug}\"\nwhere = { sektion = \"a\" }";
        let ended = check(&cms, "api::page.page", rule, &[]);
        let wanted = "api::page.page: there is no field or relation `sektion`: correct the name";
        assert_eq!(findings(&ended), [wanted], "{readable}: {}", ended.stderr);
    }
}

#[test]
fn check_names_the_target_of_an_absent_relation_where_the_schema_says_it() {
    let cms = Cms::start(|target| match target.split_once("/api/content-type-builder/") {
        Some((_, "content-types/api::page.page")) => schema(
            "page",
            r#"{"slug":{"type":"uid"},"category":{"type":"relation","relation":"manyToOne","target":"api::category.category"},"seo":{"type":"component","component":"shared.seo"}}"#,
        ),
        Some((_, "components/shared.seo")) => schema(
            "seo",
            r#"{"section":{"type":"relation","relation":"oneToOne","target":"api::section.section"}}"#,
        ),
        Some(_) => denied(),
        None if target.contains("filters[category]") => {
            invalid_key("category", Some("category"), "filters")
        }
        None => one(r#""slug":"s","seo":{"id":1}"#),
    });
    let absent = |relation: &str, target: &str| {
        format!(
            "api::page.page: the token may not read the relation `{relation}` of api::page.page: grant find on {target} to the token"
        )
    };
    let category = absent("category", "api::category.category");
    for (rule, expected) in [
        ("template = \"/{category.slug}/{slug}\"", &category),
        ("template = \"/{slug}\"\nwhere = { \"category.slug\" = \"a\" }", &category),
        ("template = \"/{seo.section.slug}\"", &absent("seo.section", "api::section.section")),
    ] {
        let ended = check(&cms, "api::page.page", rule, &[]);
        assert_eq!(findings(&ended), [expected], "{rule}: {}", ended.stderr);
    }
}

#[test]
fn check_sees_a_relation_behind_one_that_the_first_document_does_not_have() {
    // The fields of the published document, and of one that has something behind a relation.
    for (rule, first, relation, second, expected) in [
        (
            "template = \"/{category.section.slug}/{slug}\"",
            r#""slug":"s","category":null"#,
            "category",
            r#""slug":"t","category":{"id":1,"documentId":"c"}"#,
            Some("category.section"),
        ),
        (
            "template = \"/{slug}\"\nwhere = { \"tags.house.slug\" = \"a\" }",
            r#""slug":"s","tags":[]"#,
            "tags",
            r#""slug":"t","tags":[{"id":1,"documentId":"t"}]"#,
            Some("tags.house"),
        ),
        (
            "template = \"/{seo.section.area.slug}\"",
            r#""seo":null"#,
            "seo][section",
            r#""seo":{"id":1,"section":{"id":1,"documentId":"s"}}"#,
            Some("seo.section.area"),
        ),
        (
            "template = \"/{category.section.slug}/{slug}\"",
            r#""slug":"s","category":null"#,
            "category",
            r#""slug":"t","category":{"id":1,"documentId":"c","section":null}"#,
            None,
        ),
        (
            "template = \"/{slug}\"\nexclude_when = { \"tags.house.area.slug\" = \"a\" }",
            r#""slug":"s","tags":[]"#,
            "tags",
            r#""slug":"t","tags":[{"id":1,"house":null},{"id":2,"house":{"id":3,"documentId":"h"}}]"#,
            Some("tags.house.area"),
        ),
        // An ancestor has the type of the page.
        (
            "template = \"/{*path}\"\nparams.path = { field = \"slug\", ancestors = \"parent\" }",
            r#""slug":"s","parent":null"#,
            "parent",
            r#""slug":"t","parent":{"id":1,"documentId":"p"}"#,
            None,
        ),
        // No other document is needed.
        (
            "template = \"/{category.slug}/{slug}\"",
            r#""slug":"s","category":null"#,
            "category",
            "",
            None,
        ),
    ] {
        let between = r#""seo":{"id":1,"section":null}"#;
        let cms = reader(move |target| {
            if target.contains(&format!("filters[{relation}][id][$notNull]=true")) {
                one(second)
            } else if target.contains("[$notNull]") {
                one(between)
            } else {
                one(first)
            }
        });
        let ended = check(&cms, "api::page.page", rule, &[]);
        let expected = expected.map(|relation| format!(
            "api::page.page: the token may not read the relation `{relation}` of api::page.page: grant find on the content type that it leads to"
        ));
        assert_eq!(findings(&ended), Vec::from_iter(&expected), "{rule}: {}", ended.stderr);
    }
}

#[test]
fn check_sees_a_relation_behind_one_that_a_single_type_has_in_another_locale() {
    let cms = reader(|target| {
        let is_last = target.contains("locale=fr");
        document(if is_last { r#""hero":{"id":1,"documentId":"h"}"# } else { r#""hero":null"# })
    });
    let settings = site("main")
        .locales(&["en", "de", "fr"])
        .rule("api::home.home", "/{hero.area.slug}")
        .strapi(&cms)
        .without_endpoints()
        .more("[[content_type]]\nuid = \"api::home.home\"\nkind = \"single\"\nendpoint = \"home\"");
    let setup = settings.env("FRONTEND_MAP__CMS__TOKEN", "canary-token");
    let ended = setup.run(&["check"]);
    let wanted = "api::home.home: the token may not read the relation `hero.area` of api::home.home: grant find on the content type that it leads to";
    assert_eq!(findings(&ended), [wanted], "{}", ended.stderr);
}

#[test]
fn check_needs_no_filter_on_a_relation() {
    let cms = reader(|target| {
        if target.contains("[$notNull]") {
            return Script::json(500, "{}");
        }
        one(r#""slug":"s","category":null"#)
    });
    let ended =
        check(&cms, "api::page.page", "template = \"/{category.section.slug}\"", &["--strict"]);
    assert_eq!((ended.status, findings(&ended)), (Some(0), vec![]), "{}", ended.stdout);
    assert!(cms.targets().iter().any(|target| target.contains("[category][id][$notNull]=true")));
}

/// A list of content types of the content-type builder.
fn types(uids: &[&str]) -> Script {
    let entries: Vec<String> = uids
        .iter()
        .map(|uid| format!(r#"{{"uid":"{uid}","apiID":"x","schema":{{"attributes":{{}}}}}}"#))
        .collect();
    Script::json(200, &format!(r#"{{"data":[{}]}}"#, entries.join(",")))
}

#[test]
fn check_reports_a_content_type_that_does_not_exist_with_a_similar_one() {
    let no_type = || Script::json(404, r#"{"error":"contentType.notFound"}"#);
    let slug = || schema("department", r#"{"slug":{"type":"uid"}}"#);
    let similar = "; did you mean `api::department.department`?";
    let corrected = ": correct content_type in the settings";
    for (lists, names, uid, expected) in [
        (true, true, "api::departments.department", Some(similar)),
        (true, false, "api::departments.department", Some(similar)),
        (false, true, "api::departments.department", Some(similar)),
        (true, true, "api::departmnet.department", Some(similar)),
        (false, true, "api::other.other", Some(corrected)),
        (true, true, "api::department.department", None),
        (true, false, "api::department.department", None),
        (false, true, "api::department.department", None),
    ] {
        let cms = Cms::start(move |target| match target.split_once("/api/content-type-builder/") {
            Some((_, list)) if list.split('?').next() == Some("content-types") => {
                if lists {
                    types(&["admin::user", "api::department.department", "api::post.post"])
                } else {
                    denied()
                }
            }
            Some(_) if !names => denied(),
            Some((_, "content-types/api::department.department")) => slug(),
            Some(_) => no_type(),
            // The endpoint of both names.
            None => one(r#""slug":"s""#),
        });
        let rule = "template = \"/{slug}\"";
        let ended = check(&cms, uid, rule, &["--strict"]);
        let wanted = expected.map(|more| format!("{uid}: the CMS has no such content type{more}"));
        assert_eq!(
            findings(&ended),
            wanted.iter().collect::<Vec<_>>(),
            "{lists} {names} {uid}: {}",
            ended.stderr
        );
        assert_eq!(ended.status, Some(i32::from(expected.is_some())), "{lists} {names} {uid}");
    }
}

#[test]
fn webhook_of_a_similar_content_type_without_a_rule_is_one_warning() {
    let cms = reader(|_| one(r#""slug":"s""#));
    let rule = "template = \"/{slug}\"";
    let service = setup(&cms, &[("api::departments.department", rule)])
        .env("FRONTEND_MAP__HOOKS__SECRET", "canary-secret-of-the-hook")
        .start();
    let send = |uid: &str| {
        let body =
            format!(r#"{{"event":"entry.publish","uid":"{uid}","entry":{{"documentId":"d1"}}}}"#);
        let length = body.len().to_string();
        let bearer = ("Authorization", "Bearer canary-secret-of-the-hook");
        let headers = [bearer, ("Content-Length", length.as_str())];
        let response = http::send_with(service.addr(), "POST", "/hooks/cms", &headers, &body);
        assert_eq!(response.status, 202, "{}", response.text());
    };
    let warning = "a webhook names a content type that has no rule";
    for uid in ["api::departments.department", "api::category.category", "plugin::cms.department"] {
        send(uid);
    }
    assert!(!service.log().contains(warning), "{}", service.log());
    send("api::department.department");
    send("api::department.department");
    assert!(service.logs(warning), "{}", service.log());
    let log = service.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(warning)).collect();
    let [line] = lines[..] else { panic!("one warning, not {lines:?}") };
    for uid in ["webhook=api::department.department", "rule=api::departments.department"] {
        assert!(line.contains(uid), "{line}");
    }
}

#[test]
fn relation_in_a_condition_that_the_token_may_not_read_is_never_a_misspelt_name() {
    // The refusal names the relation alone, as for a name that does not exist.
    for (is_misspelt, path) in [(false, None), (false, Some("category")), (true, None)] {
        let cms = reader(move |target| {
            let is_filtered = target.contains("filters[category]");
            let is_populated = target.contains("populate[category]");
            match path {
                Some(path) if is_filtered => invalid_key("category", Some(path), "filters"),
                _ if is_filtered => invalid_key("category", None, "filters"),
                _ if is_populated && is_misspelt => invalid_key("category", None, "populate"),
                _ if target.starts_with("/api/pages/a?") => document(r#""slug":"s""#),
                _ => one(r#""slug":"s""#),
            }
        });
        let rules =
            [("api::page.page", "template = \"/{slug}\"\nwhere = { \"category.slug\" = \"a\" }")];
        let setup = setup(&cms, &rules);
        let (finding, reason) = if is_misspelt {
            (
                "there is no field or relation `category`: correct the name",
                "400: api::page.page has no field or relation `category`; correct the settings",
            )
        } else {
            let reason = "the token may not read the relation `category` of api::page.page: grant find on the content type that it leads to";
            (reason, reason)
        };
        let checked = setup.run(&["check"]);
        let wanted = format!("api::page.page: {finding}");
        assert_eq!(findings(&checked), [&*wanted], "{is_misspelt} {path:?}");
        for arguments in [
            &["sitemap", "--site", "main", "--out", "sitemaps"][..],
            &["validate", "--site", "main"],
        ] {
            let ended = setup.run(arguments);
            let times = ended.stderr.matches(reason).count();
            assert_eq!(times, 1, "{arguments:?}: {}", ended.stderr);
        }
        let service = setup.start();
        let sitemap = "/api/build-sitemap?site=main&contentType=api::page.page";
        let response = http::get(service.addr(), sitemap);
        assert_failure(&response, 502, "BadGatewayError");
        let message = format!("the CMS sent an unusable response: {reason}");
        assert_eq!(response.json()["error"]["message"], message);
        assert!(service.logs(reason), "{}", service.log());
        if !is_misspelt {
            let document = "/api/frontend-url?uid=api::page.page&documentId=a";
            let response = http::get(service.addr(), document);
            assert_eq!(response.json()["error"]["message"], message);
        }
    }
}

#[test]
fn check_knows_a_single_type_from_its_schema() {
    for (kind, warns) in [("singleType", false), ("collectionType", true)] {
        let cms = Cms::start(move |target| match target.split_once("/api/content-type-builder/") {
            Some(_) => Script::json(
                200,
                &format!(
                    r#"{{"data":{{"uid":"api::homepage.homepage","schema":{{"kind":"{kind}","singularName":"homepage","pluralName":"homepages","attributes":{{}}}}}}}}"#
                ),
            ),
            None if kind == "singleType" => document(r#""slug":"home""#),
            None => one(r#""slug":"home""#),
        });
        let ended = check(&cms, "api::homepage.homepage", "template = \"/\"", &[]);
        let warning = "a rule builds one path for all documents";
        assert_eq!(ended.stdout.contains(warning), warns, "{kind}: {}", ended.stdout);
    }
}

/// A CMS whose articles have an author, a type that is not localized.
fn with_author() -> Cms {
    reader(|target| {
        if target.contains("populate[author][fields][0]=locale") {
            invalid_key("locale", Some("locale"), "populate")
        } else {
            one(r#""slug":"s","author":{"id":1}"#)
        }
    })
}

#[test]
fn locale_of_a_related_type_that_is_not_localized_is_a_fault_of_the_rule() {
    let (uid, rule) = ("api::article.article", "template = \"/{author.locale}/{slug}\"");
    let cms = with_author();
    let ended = check(&cms, uid, rule, &[]);
    let wanted = "api::article.article: `author.locale`: the content type of the related document is not localized: use another field";
    assert_eq!(findings(&ended), [wanted], "{}", ended.stderr);
    let cms = with_author();
    let service =
        setup(&cms, &[(uid, rule)]).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false").start();
    let reason = "the CMS sent an unusable response: 400: a rule of api::article.article needs the `locale` of a related document, whose content type is not localized: use another field";
    let id = "abcdefghijklmnopqrstuvwx";
    for target in [
        format!("/api/build-sitemap?site=main&contentType={uid}"),
        format!("/api/frontend-url?uid={uid}&documentId={id}"),
    ] {
        let response = http::get(service.addr(), &target);
        assert_failure(&response, 502, "BadGatewayError");
        assert_eq!(response.json()["error"]["message"], reason, "{target}");
    }
    let targets = cms.targets();
    let content = targets.iter().filter(|target| target.starts_with("/api/articles"));
    let without: Vec<_> = content.filter(|target| !target.contains("&locale=en")).collect();
    assert!(without.is_empty(), "the type itself is localized: {without:?}");
}

#[test]
fn explain_says_in_its_json_why_the_url_of_a_document_is_not_known() {
    let cms = reader(|_| document(r#""slug":"s""#));
    let rules = [("api::page.page", "template = \"/{category.slug}/{slug}\"")];
    let explain = ["explain", "--uid", "api::page.page", "--document", "a"];
    let problem = format!(
        "the token may not read the relation `category` of api::page.page: grant find on the content type that it leads to (CMS at http://{})",
        cms.addr()
    );
    let text = setup(&cms, &rules).run(&explain);
    assert_eq!((text.status, text.stdout.as_str()), (Some(2), ""));
    assert_eq!(text.stderr, format!("frontend-map: {problem}\n"));
    let json = setup(&cms, &rules).run(&[&explain[..], &["--json"]].concat());
    assert_eq!((json.status, json.stderr.as_str()), (Some(2), ""));
    let expected = serde_json::json!({
        "site": "main", "uid": "api::page.page", "documentId": "a", "locale": "en",
        "found": null, "problem": problem, "path": null, "url": null, "considered": []
    });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json.stdout).ok(), Some(expected));
}

#[test]
fn check_accepts_a_condition_over_a_relation_to_many() {
    let cms = reader(|_| one(r#""slug":"s","sites":[{"id":1,"key":"main"}]"#));
    let rule = "template = \"/{slug}\"\nwhere = { \"sites.key\" = \"main\" }";
    let ended = check(&cms, "api::page.page", rule, &["--strict"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stdout);
}

#[test]
fn check_names_a_relation_that_the_token_may_not_filter_by() {
    let cms = reader(|target| {
        if target.contains("filters[category]") {
            invalid_key("category", Some("category"), "filters")
        } else {
            one(r#""slug":"s""#)
        }
    });
    let rule = "template = \"/{slug}\"\nwhere = { \"category.slug\" = \"news\" }";
    let ended = check(&cms, "api::page.page", rule, &[]);
    let wanted = "api::page.page: the token may not read the relation `category` of api::page.page: grant find on the content type that it leads to";
    assert_eq!(findings(&ended), [wanted], "{}", ended.stderr);
}

#[test]
fn check_adds_the_kinds_of_the_schema_where_the_token_may_read_it() {
    let cms = Cms::start(|target| {
        let Some((_, schema)) = target.split_once("/api/content-type-builder/") else {
            return list(&[], 1, 0);
        };
        let attributes = match schema {
            "content-types/api::post.post" => {
                r#"{"slug":{"type":"uid"},"price":{"type":"decimal"},"secret":{"type":"string","private":true},"zone":{"type":"dynamiczone"},"tags":{"type":"relation","relation":"manyToMany","target":"api::category.category"},"category":{"type":"relation","relation":"manyToOne","target":"api::category.category"},"seo":{"type":"component","component":"shared.seo","repeatable":false},"links":{"type":"component","component":"shared.seo","repeatable":true},"pages":{"type":"relation","relation":"oneToMany","target":"api::page.page"}}"#
            }
            "content-types/api::category.category" | "components/shared.seo" => {
                r#"{"slug":{"type":"uid"}}"#
            }
            _ => return denied(),
        };
        let (_, uid) = schema.split_once('/').unwrap_or_default();
        let kind = r#""kind":"collectionType","singularName":"post","pluralName":"posts""#;
        Script::json(
            200,
            &format!(
                r#"{{"data":{{"uid":"{uid}","schema":{{{kind},"attributes":{attributes}}}}}}}"#
            ),
        )
    });
    let rule = "template = \"/{price}/{secret}/{zone.slug}/{tags.slug}/{category.name}/{category}/{seo.slugg}/{links.slug}/{slug.x}/{pages}\"\nwhere = { \"tags.slug\" = \"a\" }";
    let ended = check(&cms, "api::post.post", rule, &[]);
    let mut expected = [
        "`price` is a decimal number: a placeholder needs text, an integer or a date",
        "`secret` is private, and Strapi never returns it: use another field, or remove `private` from its schema",
        "`zone` is a dynamic zone, which has no single value: use a field of the type or of a component",
        "`tags` is a list (a relation to many or a repeatable component), which has no single value: use a relation to one",
        "there is no field or relation `category.name`: correct the name",
        "`category` is a relation, a component or media: name one of its fields, like `category.slug`",
        "there is no field or relation `seo.slugg`: correct the name",
        "`links` is a list (a relation to many or a repeatable component), which has no single value: use a relation to one",
        "`slug` is neither a relation nor a component, or it is private: a path cannot lead through it",
        "`pages` is a list (a relation to many or a repeatable component), which has no single value: use a relation to one",
        "nothing to check: it has no published document",
    ]
    .map(|text| format!("api::post.post: {text}"));
    expected.sort_unstable();
    let mut found = findings(&ended);
    found.sort_unstable();
    assert_eq!(found, expected, "{}", ended.stderr);
}

#[test]
fn check_reports_a_misspelt_field_of_a_page_tree_once() {
    let cms = reader(|target| {
        if target.contains("=slugg") {
            invalid_key("slugg", None, "fields")
        } else if target.contains("[parnt]") {
            invalid_key("parnt", None, "populate")
        } else {
            one(r#""slug":"s","parent":null"#)
        }
    });
    for (param, expected) in [
        (r#"{ field = "slug", ancestors = "parent" }"#, None),
        (r#"{ field = "slugg", ancestors = "parent" }"#, Some("`slugg`")),
        (r#"{ field = "slug", ancestors = "parnt" }"#, Some("`parnt`")),
    ] {
        let rule = format!("template = \"/{{*path}}\"\nparams.path = {param}");
        let ended = check(&cms, "api::page.page", &rule, &[]);
        let wanted = expected.map(|name| {
            format!("api::page.page: there is no field or relation {name}: correct the name")
        });
        assert_eq!(findings(&ended), wanted.iter().collect::<Vec<_>>(), "{}", ended.stderr);
    }
}

#[test]
fn check_of_an_empty_type_has_nothing_to_check() {
    let cms = reader(|_| list(&[], 1, 0));
    let ended = check(&cms, "api::page.page", "template = \"/{slug}\"", &["--strict"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let expected = ["api::page.page: nothing to check: it has no published document"];
    assert_eq!(findings(&ended), expected);
    assert!(ended.stdout.starts_with("the settings are fine: "), "{}", ended.stdout);
}

#[test]
fn uid_that_nothing_proves_is_a_note_if_another_one_is_likelier() {
    let rule = "template = \"/{slug}\"";
    let unreadable = || reader(|_| one(r#""slug":"s""#));
    let ended = check(&unreadable(), "api::pages.page", rule, &["--strict"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let note = "api::pages.page: note: webhooks name a content type by its UID; the token may not \
                read the content-type builder, so that this UID is not checked: is it \
                `api::page.page`?";
    assert_eq!(findings(&ended), [note]);
    assert!(ended.stdout.starts_with("the settings are fine: "), "{}", ended.stdout);
    let ended = check(&unreadable(), "api::page.page", rule, &["--strict"]);
    assert_eq!(findings(&ended), [""; 0], "{}", ended.stdout);
    // A schema that the token may read proves the UID.
    let own = r#"{"data":{"uid":"api::pages.page","schema":{"kind":"collectionType","singularName":"page","pluralName":"pages","attributes":{"slug":{"type":"uid"}}}}}"#;
    let readable = Cms::start(move |target| match target {
        "/api/content-type-builder/content-types/api::pages.page" => Script::json(200, own),
        _ if target.starts_with("/api/content-type-builder/") => denied(),
        _ => one(r#""slug":"s""#),
    });
    let ended = check(&readable, "api::pages.page", rule, &["--strict"]);
    assert_eq!(findings(&ended), [""; 0], "{}", ended.stdout);
}

#[test]
fn check_of_a_type_that_is_empty_in_the_default_locale_uses_another_locale() {
    let cms = reader(|target| {
        let is_any = target.ends_with("&locale=%2A");
        if is_any { one(r#""slug":1.5"#) } else { list(&[], 1, 0) }
    });
    let ended = check(&cms, "api::page.page", "template = \"/{slug}\"", &[]);
    let wanted = "api::page.page: `slug` is a decimal number: a placeholder needs text, an integer or a date";
    assert_eq!(findings(&ended), [wanted], "{}", ended.stderr);
}

#[test]
fn check_of_a_single_type_without_the_default_locale_uses_another_locale_of_the_sites() {
    let cms = reader(|target| {
        let is_other = target.contains("locale=pt");
        if is_other { document(r#""slug":1.5"#) } else { not_found() }
    });
    let settings = site("one")
        .locales(&["en", "de"])
        .rule("api::home.home", "/{locale}/{slug}")
        .site("two")
        .locales(&["de", "pt"])
        .rule("api::home.home", "/{locale}/{slug}")
        .strapi(&cms)
        .without_endpoints()
        .more("[[content_type]]\nuid = \"api::home.home\"\nkind = \"single\"\nendpoint = \"home\"");
    let setup = settings.env("FRONTEND_MAP__CMS__TOKEN", "canary-token");
    let ended = setup.run(&["check"]);
    let wanted = "api::home.home: `slug` is a decimal number: a placeholder needs text, an integer or a date";
    assert!(findings(&ended).contains(&wanted), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn check_names_problems_with_the_cms_before_overlaps() {
    let cms = reader(|_| denied());
    let rules = [
        ("api::page.page", "template = \"/a/{slug}\""),
        ("api::post.post", "template = \"/{section}/x\""),
    ];
    let ended = setup(&cms, &rules).run(&["check"]);
    let problem = ended.stdout.find("api::post.post: 403").expect("a problem");
    let overlap = ended.stdout.find("\n  why ");
    assert!(overlap.is_some_and(|overlap| problem < overlap), "{}", ended.stdout);
}

#[test]
fn check_offline_sends_no_request_and_judges_the_settings_alone() {
    let cms = reader(|_| denied());
    let rule = "template = \"/{slug}\"";
    let ended = check(&cms, "api::page.page", rule, &["--strict", "--offline"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stdout,
        "the settings are fine: 1 site, 1 rule\n\nthe CMS was not queried (--offline): only the settings were checked\n"
    );
    assert_eq!(cms.targets().len(), 0);
}

#[test]
fn check_strict_fails_where_the_cms_cannot_be_reached() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    let url = format!("http://{}", port.expect("an address"));
    let settings = site("main").rule("api::page.page", "/{slug}").strapi_at(&url);
    let settings = settings.without_endpoints();
    for (arguments, status) in [(&["check"][..], 0), (&["check", "--strict"], 1)] {
        let ended = settings.run(arguments);
        assert_eq!(ended.status, Some(status), "{}", ended.stderr);
        let [finding] = findings(&ended)[..] else { panic!("{}", ended.stdout) };
        let start = "the content types are not checked: the CMS is not available";
        assert!(finding.starts_with(start), "{finding}");
        assert!(finding.contains("refused"), "{finding}");
    }
}

#[test]
fn type_that_hangs_is_named_and_the_others_are_checked() {
    let rule = |name: &str| format!("template = \"/{name}/{{slug}}\"");
    let types = ["slow", "page", "hanging", "news"].map(|name| (name, rule(name)));
    let uids = types.map(|(name, rule)| (format!("api::{name}.{name}"), rule));
    let rules: Vec<(&str, &str)> = uids.iter().map(|(uid, rule)| (&**uid, &**rule)).collect();
    for is_gateway in [false, true] {
        let cms = reader(move |target| match target.split('?').next() {
            Some("/api/slows" | "/api/hangings") if is_gateway => Script::json(504, "{}"),
            Some("/api/slows" | "/api/hangings") => Script::silence(),
            Some("/api/pages") => one(r#""slug":"s""#),
            _ => denied(),
        });
        let ended = setup(&cms, &rules).env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "300");
        let ended = ended.run(&["check", "--strict"]);
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        let [news, both] = findings(&ended)[..] else { panic!("{}", ended.stdout) };
        let text = if is_gateway { "the CMS is not available" } else { "the CMS did not respond" };
        let expected = format!("api::slow.slow, api::hanging.hanging: {text}");
        assert!(both.starts_with(&expected), "{both}");
        assert!(news.starts_with("api::news.news: 403 on /api/newses: "), "{news}");
    }
}

#[test]
fn types_are_not_checked_while_the_cms_asks_to_wait_or_is_silent() {
    let rule = "template = \"/{slug}\"";
    let rules = [("api::page.page", rule), ("api::post.post", "template = \"/p/{slug}\"")];
    let wait = || Script::raw("HTTP/1.1 429 X\r\nretry-after: 60\r\ncontent-length: 2\r\n\r\n{}");
    // The schema of the first type; then the list of types, its endpoint by the schema, and a document.
    for (is_silent, expected) in [(true, 1), (false, 4)] {
        let cms = Cms::start(move |target| match target {
            _ if is_silent => Script::silence(),
            _ if target.starts_with("/api/content-type-builder/") => denied(),
            _ => wait(),
        });
        let check = setup(&cms, &rules).env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "300");
        let ended = check.run(&["check"]);
        let [finding] = findings(&ended)[..] else { panic!("{}", ended.stdout) };
        assert!(finding.starts_with("the content types are not checked: the CMS "), "{finding}");
        assert_eq!(cms.targets().len(), expected, "{:?}", cms.targets());
    }
}

#[test]
fn single_type_is_found_with_a_token_that_may_not_read_the_schema() {
    let cms = reader(|target| match target.split('?').next() {
        Some("/api/homepage") => document(r#""slug":"home""#),
        _ => not_found(),
    });
    let setup = setup(&cms, &[("api::homepage.homepage", "template = \"/{slug}\"")]);
    let ended = setup.run(&["check", "--strict"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stdout);
    let service = setup.start();
    let sitemap = "/api/build-sitemap?site=main&contentType=api::homepage.homepage";
    let response = http::get(service.addr(), sitemap);
    assert_eq!(response.status, 200, "{}", response.text());
    assert!(response.text().contains("https://www.example.com/home"), "{}", response.text());
    let document = "/api/frontend-url?uid=api::homepage.homepage&documentId=a";
    assert_eq!(http::get(service.addr(), document).status, 200);
}

#[test]
fn type_that_always_fails_with_500_is_named_and_leaves_the_others_alone() {
    let cms = reader(|target| {
        if target.starts_with("/api/bads") {
            Script::json(500, "{}")
        } else if target.starts_with("/api/pages/a?") {
            document(r#""slug":"s""#)
        } else {
            one(r#""slug":"s""#)
        }
    });
    let rule = "template = \"/{slug}\"";
    let bad = "template = \"/bad/{slug}\"";
    let service = setup(&cms, &[("api::page.page", rule), ("api::bad.bad", bad)]).start();
    let sitemap =
        |name: &str| format!("/api/build-sitemap?site=main&contentType=api::{name}.{name}");
    for _ in 0..5 {
        let failed = http::get(service.addr(), &sitemap("bad"));
        assert_failure(&failed, 503, "ServiceUnavailableError");
        let text = "the CMS is not available for api::bad.bad: it returned 500";
        assert_eq!(failed.json()["error"]["message"], text);
        let document = "/api/frontend-url?uid=api::page.page&documentId=a";
        assert_eq!(http::get(service.addr(), document).status, 200);
    }
    let page = http::get(service.addr(), &sitemap("page"));
    assert_eq!(page.status, 200, "{}", page.text());
    let mark = page.header("cache-status").unwrap_or_default();
    assert!(!mark.contains("fails"), "{mark}");
    assert!(!service.log().contains("circuit breaker is open"), "{}", service.log());
}

#[test]
fn row_id_of_strapi_is_a_problem_of_the_settings() {
    let cms = reader(|_| denied());
    for template in ["/{id}", "/{category.id}"] {
        let rule = format!("template = \"{template}\"");
        let ended = check(&cms, "api::page.page", &rule, &["--offline"]);
        assert_eq!(ended.status, Some(78), "{}", ended.stdout);
        assert!(ended.stderr.contains("changes at each publish"), "{}", ended.stderr);
    }
    let ended = site("main").rule("api::page.page", "/{id}").files("{}").run(&["check"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
}

/// A proxy that redirects each request, to the same path on another host, or to another page.
fn redirecting(status: u16, to: &'static str, keeps_path: bool) -> Cms {
    Cms::start(move |target| {
        let path = if keeps_path { target } else { "" };
        Script::raw(format!(
            "HTTP/1.1 {status} X\r\nlocation: {to}{path}\r\ncontent-length: 0\r\n\r\n"
        ))
    })
}

#[test]
fn cms_that_redirects_is_one_problem_with_the_address_to_set() {
    let uids = ["a", "b", "c", "d", "e", "f", "g"].map(|name| format!("api::{name}.{name}"));
    let templates = uids.each_ref().map(|uid| format!("template = \"/{}/{{slug}}\"", &uid[5..6]));
    let rules: Vec<_> = uids.iter().map(|uid| &**uid).zip(templates.iter().map(|t| &**t)).collect();
    let https = "https://cms.example.com";
    let elsewhere = "set cms.url to an address of Strapi at which /api is not redirected";
    for (status, to, keeps_path, expected) in [
        (301, https, true, format!("to {https}: set cms.url = \"{https}\"")),
        (308, https, true, format!("to {https}: set cms.url = \"{https}\"")),
        (302, "/admin", false, format!("to http://ADDRESS/admin: {elsewhere}")),
        (307, "/login?next=/api", false, format!("to http://ADDRESS/login: {elsewhere}")),
    ] {
        let cms = redirecting(status, to, keeps_path);
        let address = cms.addr().to_string();
        let text = format!("the CMS redirects ({status}) {expected} (CMS at http://ADDRESS)");
        let text = text.replace("ADDRESS", &address);
        let setup = setup(&cms, &rules).env("FRONTEND_MAP__CMS__TOKEN", "canary-token");
        let ended = setup.run(&["check", "--strict"]);
        assert_eq!(findings(&ended), [format!("{}: {text}", uids.join(", "))]);
        assert_eq!(ended.stderr, "frontend-map: 1 problem with the CMS\n");
        let service = setup.start();
        let list = "/api/build-sitemap?site=main&contentType=api::a.a";
        let one = "/api/frontend-url?uid=api::a.a&documentId=x";
        for target in [list, one] {
            let response = http::get(service.addr(), target);
            assert_failure(&response, 502, "BadGatewayError");
            let message = &response.json()["error"]["message"];
            let expected = format!(
                "the CMS sent an unusable response: a redirect ({status}); correct cms.url"
            );
            assert_eq!(*message, expected);
        }
        let escaped = text.replace('"', "\\\"");
        for line in ["a walk failed", "documents could not be read"] {
            assert!(service.logs(line), "{}", service.log());
        }
        assert_eq!(service.log().matches(&escaped).count(), 2, "{}", service.log());
    }
}
