//! A CMS that leaves out requested keys, because the token may not read them (D32). For a relation
//! without a target, Strapi sends `null`.

use std::collections::BTreeMap;

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{assert_failure, refusal, urls};
use crate::support::http::{self, Response};
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::until;

const UID: &str = "api::article.article";
const SITEMAP: &str = "/api/build-sitemap?site=main&contentType=api::article.article";
const FAILS: &str = r#"; detail="the CMS fails""#;
const SECRET: &str = "a-secret-of-the-test";

/// A path through three relations.
const LEVELS: [&str; 3] = ["category", "section", "area"];
const DEEP: &str = r#"template = "/{category.section.area.slug}/{slug}""#;

/// The relations of an article, of which the token may read this many levels. The relation at the
/// level `null` has no target.
fn relations(readable: usize, null: Option<usize>) -> String {
    let mut text = String::new();
    for level in (0..readable).rev() {
        let name = LEVELS[level];
        text = match null {
            Some(at) if at == level => format!(r#","{name}":null"#),
            _ => format!(r#","{name}":{{"id":1,"documentId":"{name}","slug":"{name}"{text}}}"#),
        };
    }
    text
}

fn article(slug: &str, readable: usize) -> String {
    format!(r#","slug":"{slug}"{}"#, relations(readable, None))
}

/// Articles with these fields, by `documentId`.
fn articles(rows: &[(&str, &str)]) -> Content {
    let content = Content::default();
    for (id, fields) in rows {
        content.put("en", id, fields);
    }
    content
}

/// A site with these rules, each the lines behind its content type.
fn settings(rules: &[&str]) -> Settings {
    let site = site("main").front_end_url("https://x.example");
    rules.iter().fold(site, |site, rule| site.rule_of(UID, rule))
}

fn before(cms: &Cms, rules: &[&str]) -> Setup {
    settings(rules).strapi(cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
}

fn sitemap(service: &Service) -> Response {
    http::get(service.addr(), SITEMAP)
}

fn url_of(service: &Service, id: &str) -> Response {
    http::get(service.addr(), &format!("/api/frontend-url?uid={UID}&documentId={id}"))
}

fn message(response: &Response) -> String {
    assert_failure(response, 502, "BadGatewayError");
    response.json()["error"]["message"].as_str().unwrap().to_owned()
}

fn not_readable(relation: &str) -> String {
    format!(
        "the CMS sent an unusable response: the token may not read the relation `{relation}` of \
         {UID}: grant find on the content type that it leads to"
    )
}

#[test]
fn relation_that_becomes_unreadable_at_any_level_leaves_the_last_good_copies_in_use() {
    for (readable, relation) in
        [(0, "category"), (1, "category.section"), (2, "category.section.area")]
    {
        let content = articles(&[("a", &article("x", 3))]);
        let cms = content.start();
        let service =
            before(&cms, &[DEEP]).env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1").start();
        let good = sitemap(&service);
        assert_eq!(urls(&good), ["https://x.example/area/x"]);
        let good_url = url_of(&service, "a");
        assert_eq!(good_url.json()["data"]["path"], "/area/x");
        content.put("en", "a", &article("x", readable));
        let marked = until("a marked snapshot", || {
            let response = sitemap(&service);
            assert_eq!((response.status, &response.body), (200, &good.body));
            let status = response.header("cache-status").unwrap();
            status.ends_with(FAILS).then_some(response)
        });
        assert_eq!(marked.header("etag"), good.header("etag"));
        let stale = url_of(&service, "a");
        assert_eq!((stale.status, &stale.body), (200, &good_url.body));
        assert!(stale.header("cache-status").unwrap().ends_with(FAILS));
        assert!(service.logs(&format!("the token may not read the relation `{relation}`")));
        let draft = url_of(&service, "a&status=draft");
        assert_eq!(message(&draft), not_readable(relation));
        assert_eq!(draft.header("cache-control").as_deref(), Some("no-store"));
        content.put("en", "a", &article("y", 3));
        until("a fresh list", || {
            (urls(&sitemap(&service)) == ["https://x.example/area/y"]).then_some(())
        });
        assert_eq!(url_of(&service, "a").json()["data"]["path"], "/area/y");
    }
}

#[test]
fn relation_that_was_never_readable_is_a_502_that_names_the_permission() {
    for readable in 0..3 {
        let relation = LEVELS[..=readable].join(".");
        let content = articles(&[("a", &article("x", readable)), ("b", &article("y", readable))]);
        let cms = content.start();
        let service = before(&cms, &[DEEP]).start();
        for response in [sitemap(&service), url_of(&service, "a"), url_of(&service, "b")] {
            assert_eq!(message(&response), not_readable(&relation));
        }
        let targets = cms.targets();
        let schemas = targets.iter().filter(|target| target.contains("content-type-builder"));
        assert_eq!(schemas.count(), 1, "it is known that the token may not read it");
    }
}

#[test]
fn relation_that_is_unreadable_is_named_with_its_content_type_if_the_schema_is_readable() {
    let content = articles(&[("a", &article("x", 1))]);
    content.fail(|target| {
        let (name, next) = match target.rsplit('/').next()? {
            "api::article.article" => ("category", "api::category.category"),
            "api::category.category" => ("section", "plugin::cms.section"),
            _ => return None,
        };
        let attributes = format!(r#"{{"{name}":{{"type":"relation","target":"{next}"}}}}"#);
        let schema = format!(r#"{{"data":{{"schema":{{"attributes":{attributes}}}}}}}"#);
        Some(Script::json(200, &schema))
    });
    let cms = content.start();
    let service = before(&cms, &[DEEP]).start();
    let expected = not_readable("category.section")
        .replace("the content type that it leads to", "plugin::cms.section to the token");
    for _ in 0..3 {
        assert_eq!(message(&sitemap(&service)), expected);
        assert_eq!(message(&url_of(&service, "a")), expected);
    }
    let targets = cms.targets();
    let schemas = targets.iter().filter(|target| target.contains("content-type-builder"));
    assert_eq!(schemas.count(), 2, "each schema once");
}

#[test]
fn null_at_any_level_is_a_value() {
    for null in 0..3 {
        let fields = format!(r#","slug":"x"{}"#, relations(3, Some(null)));
        let content = articles(&[("a", &fields), ("b", &article("y", 3))]);
        let cms = content.start();
        let service = before(&cms, &[DEEP]).start();
        let list = sitemap(&service);
        assert_eq!(urls(&list), ["https://x.example/area/y"]);
        assert_eq!(list.header("x-skipped-documents").as_deref(), Some("1"));
        let response = url_of(&service, "a");
        assert_failure(&response, 404, "NotFoundError");
        let reason = &response.json()["error"]["details"]["reason"];
        let names = ["category", "category.section", "category.section.area"];
        assert_eq!(*reason, format!("{}_missing", names[null]));
    }
}

/// Rules, the fields of a document, and the paths of the list or the absent key.
type Case<'a> = (&'a [&'a str], &'a str, Result<&'a [&'a str], &'a str>);

#[test]
fn absent_key_is_a_502_only_where_it_decides() {
    const NEWS: &str = "template = \"/n/{slug}\"\nwhere = { \"category.slug\" = \"news\" }";
    const ANY: &str = "template = \"/a/{slug}\"";
    const HIDDEN: &str = "template = \"/{slug}\"\nexclude_when = { \"seo.noindex\" = true }";
    const DATED: &str = "template = \"/{slug}\"\nmodified = \"category.updatedAt\"";
    const TAGGED: &str = "template = \"/{slug}\"\nwhere = { \"tags.slug\" = \"a\" }";
    const BOTH: &str =
        "template = \"/{category.slug}/{slug}\"\nwhere = { kind = \"news\", open = true }";
    let (slug, category) = (r#","slug":"x""#, r#","slug":"x","category":{"slug":"c"}"#);
    let cases: &[Case<'_>] = &[
        // Without the key it is not known whether the first rule applies: no later one is used.
        (&[NEWS, ANY], slug, Err("category")),
        (&[NEWS, ANY], category, Ok(&["/a/x"])),
        (&[ANY, NEWS], slug, Ok(&["/a/x"])),
        (&[HIDDEN], slug, Err("seo")),
        (&[HIDDEN], r#","slug":"x","seo":null"#, Ok(&["/x"])),
        (&[HIDDEN], r#","slug":"x","seo":{"noindex":true}"#, Ok(&[])),
        (&[DATED], slug, Err("category")),
        (&[DATED], r#","slug":"x","category":null"#, Ok(&["/x"])),
        // Strapi has a date for each document; only a controller of its own leaves it out.
        (&[DATED], category, Ok(&["/x"])),
        (&[ANY], slug, Ok(&["/a/x"])),
        (&[TAGGED], slug, Err("tags")),
        (&[TAGGED], r#","slug":"x","tags":[]"#, Ok(&[])),
        (&[TAGGED], r#","slug":"x","tags":[{"id":1},{"slug":"b"}]"#, Err("tags.slug")),
        (&[TAGGED], r#","slug":"x","tags":[{"id":1},{"slug":"a"}]"#, Ok(&["/x"])),
        // A condition that does not hold excludes the rule, whatever keys are absent.
        (&[BOTH], r#","slug":"x","kind":"blog","open":true"#, Ok(&[])),
        (&[BOTH], r#","slug":"x","kind":"blog""#, Ok(&[])),
        (&[BOTH], r#","slug":"x","kind":"news","open":true"#, Err("category")),
        (&[BOTH], r#","slug":"x","kind":"news","category":{"slug":"c"}"#, Err("open")),
        (&["template = \"/{slug}\""], r#","title":"x""#, Err("slug")),
        (&["template = \"/{publishedAt:year}/{slug}\""], slug, Err("publishedAt")),
        (&["template = \"/{slug}\"\nwhere = { locale = \"en\" }"], slug, Ok(&["/x"])),
    ];
    for (rules, fields, expected) in cases {
        let content = articles(&[("a", fields)]);
        let cms = content.start();
        let service = before(&cms, rules).start();
        let list = sitemap(&service);
        match expected {
            Ok(paths) => {
                let expected: Vec<_> =
                    paths.iter().map(|path| format!("https://x.example{path}")).collect();
                assert_eq!(urls(&list), expected, "{rules:?} {fields}");
            }
            Err(key) => {
                let message = message(&list);
                assert!(message.contains(&format!("`{key}` of {UID}")), "{fields}: {message}");
            }
        }
    }
}

#[test]
fn filter_on_an_unreadable_relation_is_the_same_502() {
    let content = articles(&[("a", r#","slug":"x""#)]);
    content.fail(|target| {
        let details = r#"{"key":"tags","path":"tags","source":"query","param":"filters"}"#;
        let refused = || refusal(400, "ValidationError", details);
        target.contains("filters[tags][slug][$eq]=a").then(refused)
    });
    let cms = content.start();
    let service =
        before(&cms, &["template = \"/{slug}\"\nwhere = { \"tags.slug\" = \"a\" }"]).start();
    assert_eq!(message(&sitemap(&service)), not_readable("tags"));
    assert_eq!(message(&url_of(&service, "a")), not_readable("tags"));
}

#[test]
fn document_of_a_rule_without_the_unreadable_relation_keeps_its_url() {
    let content =
        articles(&[("a", r#","slug":"x","kind":"blog""#), ("b", r#","slug":"y","kind":"news""#)]);
    let cms = content.start();
    let blog = "template = \"/blog/{slug}\"\nwhere = { kind = \"blog\" }";
    let service = before(&cms, &[blog, "template = \"/{category.slug}/{slug}\""]).start();
    assert_eq!(url_of(&service, "a").json()["data"]["path"], "/blog/x");
    assert_eq!(message(&url_of(&service, "b")), not_readable("category"));
    assert_eq!(message(&sitemap(&service)), not_readable("category"));
}

#[test]
fn absent_key_in_a_content_file_is_a_missing_value() {
    let content = format!(
        r#"{{"{UID}": [{{"documentId": "a", "locale": "en", "slug": "x"}},
            {{"documentId": "b", "locale": "en", "slug": "y", "category": {{"slug": "c"}}}},
            {{"documentId": "c", "locale": "en", "slug": "z", "tags": [{{}}, {{"slug": "a"}}]}}]}}"#
    );
    let tagged = "template = \"/tagged/{slug}\"\nwhere = { \"tags.slug\" = \"a\" }";
    let rules = [tagged, "template = \"/{category.slug}/{slug}\""];
    let service = settings(&rules).files(&content).start();
    let list = sitemap(&service);
    assert_eq!(urls(&list), ["https://x.example/c/y", "https://x.example/tagged/z"]);
    assert_eq!(list.header("x-skipped-documents").as_deref(), Some("1"));
    let response = url_of(&service, "a");
    assert_failure(&response, 404, "NotFoundError");
    assert_eq!(response.json()["error"]["details"]["reason"], "category_missing");
}

#[test]
fn condition_on_a_list_holds_if_one_item_matches_from_the_cms_and_from_a_file() {
    let rows = [
        ("a", r#","slug":"a","tags":[{"slug":"x"},{"slug":"main","kind":"k"}]"#),
        ("b", r#","slug":"b","tags":[{"slug":"main"},{"slug":"y","kind":"k"}]"#),
        ("c", r#","slug":"c","tags":[{"slug":"x","kind":"k"}]"#),
        ("d", r#","slug":"d","tags":[]"#),
        ("e", r#","slug":"e","tags":null"#),
        (
            "f",
            r#","slug":"f","tags":[{"slug":"main","kind":"j"}],"blocks":[{"sites":[{"key":"q"}]}]"#,
        ),
        (
            "g",
            r#","slug":"g","tags":[null],"blocks":[{"sites":[]},{"sites":[{"key":"p"},{"key":"q"}]}]"#,
        ),
        ("h", r#","slug":"h","tags":{"slug":"main","kind":"k"},"blocks":{"sites":{"key":"q"}}"#),
    ];
    let complete = |fields: &str| {
        // What Strapi would send for the keys that are not set.
        let kinds = fields.replace(r#""main"}"#, r#""main","kind":null}"#);
        let kinds = kinds.replace(r#""x"}"#, r#""x","kind":null}"#);
        if kinds.contains("blocks") { kinds } else { format!(r#"{kinds},"blocks":null"#) }
    };
    let rows = rows.map(|(id, fields)| (id, complete(fields)));
    for (options, expected) in [
        (r#"where = { "tags.slug" = "main" }"#, "a b f h"),
        (r#"where = { "tags.slug" = "main", "tags.kind" = "k" }"#, "a b h"),
        (r#"where = { "blocks.sites.key" = "q" }"#, "f g h"),
        (r#"exclude_when = { "tags.slug" = "main" }"#, "c d e g"),
        (r#"exclude_when = { "blocks.sites.key" = "q" }"#, "a b c d e"),
    ] {
        let rule = format!("template = \"/{{slug}}\"\n{options}");
        let borrowed: Vec<(&str, &str)> = rows.iter().map(|(id, text)| (*id, &**text)).collect();
        let cms = articles(&borrowed).start();
        let rows = rows
            .iter()
            .map(|(id, fields)| format!(r#"{{"documentId":"{id}","locale":"en"{fields}}}"#));
        let content = format!(r#"{{"{UID}":[{}]}}"#, rows.collect::<Vec<_>>().join(","));
        let files = settings(&[&rule]).files(&content).setup();
        for setup in [before(&cms, &[&rule]), files] {
            let service = setup.start();
            let found = urls(&sitemap(&service));
            let slugs: Vec<&str> = found.iter().filter_map(|url| url.rsplit('/').next()).collect();
            assert_eq!(slugs.join(" "), expected, "{options}");
            if options.starts_with("where") {
                for id in ["a", "b", "c", "d", "e", "f", "g", "h"] {
                    let status = if expected.contains(id) { 200 } else { 404 };
                    assert_eq!(url_of(&service, id).status, status, "{options} {id}");
                }
            }
        }
    }
}

#[test]
fn list_in_a_template_gives_no_url() {
    let content = articles(&[
        ("a", r#","slug":"x","tags":[{"slug":"t"}]"#),
        ("b", r#","slug":"y","tags":[]"#),
        ("c", r#","slug":"z","tags":[{"id":1}]"#),
    ]);
    let cms = content.start();
    let service = before(&cms, &["template = \"/{tags.slug}/{slug}\""]).start();
    let list = sitemap(&service);
    assert_eq!(urls(&list), Vec::<String>::new());
    assert_eq!(list.header("x-skipped-documents").as_deref(), Some("3"));
    for id in ["a", "b", "c"] {
        let response = url_of(&service, id);
        assert_failure(&response, 404, "NotFoundError");
        assert_eq!(response.json()["error"]["details"]["reason"], "tags.slug_not_string");
    }
}

#[test]
fn component_that_is_only_passed_through_is_requested_by_its_id() {
    let content = articles(&[("a", r#","slug":"x","seo":{"id":5,"section":{"slug":"s"}}"#)]);
    let cms = content.start();
    let service = before(&cms, &["template = \"/{seo.section.slug}/{slug}\""]).start();
    assert_eq!(urls(&sitemap(&service)), ["https://x.example/s/x"]);
    assert_eq!(url_of(&service, "a").json()["data"]["path"], "/s/x");
    let populate = "populate[seo][fields][0]=id&populate[seo][populate][section][fields][0]=slug";
    let targets = cms.targets();
    let rows = targets.iter().filter(|target| target.contains("fields[1]"));
    assert!(rows.clone().count() >= 2, "{targets:?}");
    for target in rows {
        assert!(target.contains(populate), "{target}");
    }
}

#[test]
fn walk_ends_with_the_first_page_that_lacks_a_key() {
    let content = Content::many(&["en"], 450);
    let cms = content.start();
    let service = before(&cms, &[DEEP]).start();
    assert_eq!(message(&sitemap(&service)), not_readable("category"));
    let targets = cms.targets();
    let pages = targets.iter().filter(|target| target.contains("pageSize"));
    // The second page is requested before the rows of the first one are read.
    assert!(pages.clone().count() <= 2, "{:?}", pages.collect::<Vec<_>>());
}

#[test]
fn webhook_for_a_document_with_an_absent_key_changes_nothing() {
    let content = articles(&[("a", &article("x", 3)), ("b", &article("y", 3))]);
    let cms = content.start();
    let service = before(&cms, &[DEEP]).start();
    let good = sitemap(&service);
    assert_eq!(urls(&good).len(), 2);
    content.put("en", "a", &article("x", 1));
    let event = format!(r#"{{"uid":"{UID}","entry":{{"documentId":"a"}}}}"#);
    let (length, bearer) = (event.len().to_string(), format!("Bearer {SECRET}"));
    let headers = [("Authorization", bearer.as_str()), ("Content-Length", &length)];
    let hook = http::send_with(service.addr(), "POST", "/hooks/cms", &headers, &event);
    assert_eq!(hook.status, 202);
    until("a marked snapshot", || {
        let response = sitemap(&service);
        assert_eq!((response.status, &response.body), (200, &good.body));
        response.header("cache-status").unwrap().ends_with(FAILS).then_some(())
    });
}

/// The files in a folder.
fn files(setup: &Setup, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(setup.path().join(folder)).expect("a folder");
    let file = |entry: std::fs::DirEntry| {
        let text = std::fs::read(entry.path()).expect("a file");
        (entry.file_name().to_string_lossy().into_owned(), text)
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

#[test]
fn commands_end_with_an_error_and_leave_the_files() {
    let content = articles(&[("a", &article("x", 3))]);
    let cms = content.start();
    let setup = before(&cms, &[DEEP]);
    let write = ["sitemap", "--site", "main", "--out", "maps"];
    let ended = setup.run(&write);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let good = files(&setup, "maps");
    assert!(good.len() >= 3, "an index, robots.txt and a file: {:?}", good.keys());
    content.put("en", "a", &article("x", 1));
    let document = ["explain", "--uid", UID, "--document", "a"];
    for (args, status) in [(&write[..], 1), (&["validate", "--site", "main"], 2), (&document, 2)] {
        let ended = setup.run(args);
        assert_eq!(ended.status, Some(status), "{args:?}: {}", ended.stderr);
        let expected = "the token may not read the relation `category.section` of \
                        api::article.article: grant find on the content type that it leads to";
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    assert_eq!(files(&setup, "maps"), good);
}
