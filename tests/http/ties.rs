//! A site with `resolve = "documents"` whose types share a template: `check`, `serve` and `explain`
//! leave the decision to the documents.

use serde_json::{Value, json};

use crate::support::api::{data, get};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
  "api::page.page": [{"documentId": "p1", "locale": "en", "slug": "about"}],
  "api::story.story": [{"documentId": "s1", "locale": "en", "slug": "journey"}]
}"#;

fn settings(resolve: &str) -> Settings {
    site("main")
        .resolve(resolve)
        .rule("api::page.page", "/{locale}/{slug}")
        .rule("api::story.story", "/{locale}/{slug}")
        .files(CONTENT)
}

#[test]
fn check_strict_passes_a_tie_only_if_documents_decide() {
    let ended = settings("documents").run(&["check", "--strict"]);
    let expected = "
note: site main: two rules match /en/x
  first  api::page.page /{locale}/{slug}
  second api::story.story /{locale}/{slug}
  why    same shape: the document that has the path decides
";
    assert!(ended.stdout.ends_with(expected), "{}", ended.stdout);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));

    let ended = settings("rules").run(&["check", "--strict"]);
    let expected = "
warning: site main: two rules match /en/x
  wins   api::page.page /{locale}/{slug}
  loses  api::story.story /{locale}/{slug}
  why    same shape: order of the settings

warning: site main: a rule never matches
  rule   api::story.story /{locale}/{slug}
  why    api::page.page /{locale}/{slug} matches its paths first
";
    assert!(ended.stdout.ends_with(expected), "{}", ended.stdout);
    let counted =
        "1 overlap that only the order of the settings decides, 1 rule that never matches";
    assert_eq!(ended.stderr, format!("frontend-map: {counted}\n"));
    assert_eq!(ended.status, Some(1));
}

#[test]
fn check_strict_passes_a_rule_that_only_repeats_a_template_for_other_documents() {
    let settings = site("main")
        .rule("api::page.page", "/{slug}")
        .with(r#"where = { kind = "a" }"#)
        .rule("api::page.page", "/{slug}")
        .with(r#"where = { kind = "b" }"#)
        .files(CONTENT);
    let ended = settings.run(&["check", "--strict"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    assert!(ended.stdout.contains("the response is the same"), "{}", ended.stdout);
}

#[test]
fn serve_does_not_warn_of_a_tie_that_documents_decide() {
    // The search of the second site ends after that of the first.
    let service = settings("documents")
        .site("other")
        .without_front_end_url()
        .rule("api::page.page", "/{slug}")
        .rule("api::story.story", "/{slug}")
        .start();
    assert!(service.logs("share a path"), "{}", service.log());
    let log = service.log();
    let warned: Vec<&str> = log.lines().filter(|line| line.contains("share a path")).collect();
    assert_eq!(warned.len(), 1, "{log}");
    assert!(warned[0].contains("site=\"other\""), "{log}");
}

#[test]
fn explain_names_the_document_that_has_the_path_of_a_tie() {
    let explained = |pathname: &str| -> Value {
        let ended = settings("documents").run(&["explain", pathname, "--json"]);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).expect("JSON")
    };
    let outcomes = |value: &Value| {
        let all = value["considered"].as_array().expect("a list").iter();
        all.map(|one| one["outcome"].clone()).collect::<Vec<_>>()
    };
    let journey = explained("/en/journey");
    assert_eq!(journey["matched"]["collectionType"], "api::story.story");
    let document = json!({"decidedBy": "documents", "contentType": "api::story.story",
        "documentId": "s1", "locale": "en", "path": "/en/journey"});
    assert_eq!(journey["decision"], document);
    assert_eq!(outcomes(&journey), ["tied", "match"]);
    let missing = explained("/en/missing");
    assert_eq!(missing["matched"]["collectionType"], "api::page.page");
    let types = json!(["api::page.page", "api::story.story"]);
    assert_eq!(missing["decision"], json!({"decidedBy": "rules", "contentTypes": types}));
    let text = settings("documents").run(&["explain", "/en/journey"]).stdout;
    let head = "site main, /en/journey\napi::story.story by /{locale}/{slug}\ndecided by documents: api::story.story s1, locale en, has this path\n";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("matches too, with equal precedence"), "{text}");
    let text = settings("documents").run(&["explain", "/en/missing"]).stdout;
    assert!(text.contains("   matches first, but no document has this path\n"), "{text}");
    assert!(!text.contains("wins"), "{text}");
    let by_rules = settings("rules").run(&["explain", "/en/journey", "--json"]).stdout;
    assert!(!by_rules.contains("\"decision"), "{by_rules}");
}

#[test]
fn explain_says_why_documents_could_not_decide() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    let cms = format!("http://{}", free.expect("an address"));
    let settings = settings("documents").strapi_at(&cms).without_endpoints();
    let ended = settings.run(&["explain", "/en/journey"]);
    let head = "site main, /en/journey\napi::page.page by /{locale}/{slug}\ndocuments decide, but they could not be read";
    assert!(ended.stdout.starts_with(head), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("connection refused"), "{}", ended.stdout);
    let row = "   matches first, but whether a document has this path is not known\n";
    assert!(ended.stdout.contains(row) && !ended.stdout.contains("wins"), "{}", ended.stdout);
    let json = settings.run(&["explain", "/en/journey", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["decision"]["decidedBy"], "unknown");
    assert!(json["decision"]["problem"].as_str().is_some_and(|p| p.contains("refused")), "{json}");
    assert_eq!(ended.status, Some(0));
}

const PAGES_AND_EVENTS: &str = r#"{
  "api::page.page": [
    {"documentId": "about", "locale": "en", "path": "about"},
    {"documentId": "secret", "locale": "en", "path": "secret-draft", "status": "draft"},
    {"documentId": "moved", "locale": "en", "path": "old", "customPath": "new"},
    {"documentId": "all", "path": "all"},
    {"documentId": "hidden", "locale": "de", "path": "events/fair"}],
  "api::event.event": [{"documentId": "fair", "slug": "fair"}]
}"#;

#[test]
fn explain_without_ties_names_the_document_that_resolve_finds_or_none() {
    // One rule matches each path, or a more specific one hides the other.
    let settings = site("main")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/{*path}")
        .with("path_field = \"customPath\"")
        .rule("api::event.event", "/{locale}/events/{slug}")
        .files(PAGES_AND_EVENTS);
    let service = settings.start();
    let resolved = |path: &str| data(&service, &format!("/api/resolve?site=main&pathname={path}"));
    until_so("the documents are known", || {
        let of = |path: &str| get(&service, &format!("/api/resolve?site=main&pathname={path}"));
        ["/en/about", "/en/events/fair"].iter().all(|path| of(path).status == 200)
    });
    let (page, event) = ("api::page.page", "api::event.event");
    for (path, uid, document, line, row) in [
        ("/en/about", page, Some("about"), "about, locale en, has this path", "matches and wins"),
        ("/en/new", page, Some("moved"), "moved, locale en, has this path as its own", "wins"),
        (
            "/de/all",
            page,
            Some("all"),
            "all, locale en, is not localized and has the path /en/all",
            "matches and wins",
        ),
        ("/en/events/fair", event, Some("fair"), "fair, locale en, has this path", "earlier"),
        ("/en/secret-draft", page, None, "", ""),
        ("/en/old", page, None, "", ""),
        ("/en/gone", page, None, "", ""),
        // The page of the less specific rule has the path, so that the event is not found there.
        ("/de/events/fair", event, None, "", ""),
    ] {
        let found = resolved(path);
        assert_eq!(found["documentId"], json!(document), "{path}");
        let ended = settings.run(&["explain", path, "--json"]);
        let explained: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        assert_eq!(ended.status, Some(0), "{path}");
        assert_eq!(explained["matched"]["collectionType"], uid, "{path}");
        let decision = &explained["decision"];
        let text = settings.run(&["explain", path]).stdout;
        let Some(document) = document else {
            let expected = json!({"decidedBy": "rules", "contentTypes": [uid]});
            assert_eq!(*decision, expected, "{path}");
            let line = format!("decided by the rules: no document of {uid} has this path\n");
            assert!(text.contains(&line), "{text}");
            assert!(text.contains("   matches first, but no document has this path\n"), "{text}");
            assert!(!text.contains("wins"), "{text}");
            continue;
        };
        let expected = [json!(uid), json!(document), found["canonicalPath"].clone(), json!("en")];
        let named = ["contentType", "documentId", "path", "locale"].map(|key| &decision[key]);
        assert_eq!(named, expected.each_ref(), "{path}");
        assert!(text.contains(&format!("decided by documents: {uid} {line}\n")), "{text}");
        assert!(text.contains(row), "{text}");
    }
}
