//! `check` about overlapping rules, and `explain` about one path or document.

use serde_json::{Value, json};

use crate::support::cms::Cms;
use crate::support::script::Script;
use crate::support::settings::{Settings, site};

fn settings() -> Settings {
    site("main")
        .locales(&["en", "de"])
        .rule("api::post.post", "/{locale}/blog/{slug}")
        .with(r#"where = { section = "blog" }"#)
        .rule("api::page.page", "/{locale}/{*path}")
        .rule("api::event.event", "/{locale}/{section}/{slug}")
        .with(r#"params.section = { values = ["blog", "events"] }"#)
        .files(CONTENT)
}

/// With one more rule that never matches.
fn shadowed() -> Settings {
    settings()
        .rule("api::talk.talk", "/{locale}/{kind}/{slug}")
        .with(r#"params.kind = { values = ["events"] }"#)
}

const CONTENT: &str = r#"{"api::post.post": [
    {"documentId": "a", "locale": "en", "slug": "x", "section": "blog"},
    {"documentId": "b", "locale": "de", "slug": "a/b", "section": "blog"},
    {"documentId": "c", "locale": "en", "slug": "x", "section": "news", "status": "draft"}],
    "api::page.page": [], "api::event.event": [], "api::talk.talk": [], "api::t.t1": [],
    "api::t.t2": []}"#;

#[track_caller]
fn assert_output(args: &[&str], status: i32, expected: &str) {
    let ended = settings().run(args);
    assert_eq!(ended.stdout, expected, "{args:?}: {}", ended.stderr);
    assert_eq!(ended.status, Some(status), "{args:?}: {}", ended.stderr);
}

const OVERLAPS: &str = "\
the settings are fine: 1 site, 3 rules

note: site main: two rules match /en/blog/x
  wins   api::post.post /{locale}/blog/{slug}
  loses  api::event.event /{locale}/{section}/{slug}
  why    static text before a placeholder in segment 2

note: site main: two rules match /en/blog/x
  wins   api::post.post /{locale}/blog/{slug}
  loses  api::page.page /{locale}/{*path}
  why    static text before a placeholder in segment 2

note: site main: two rules match /en/events/x
  wins   api::event.event /{locale}/{section}/{slug}
  loses  api::page.page /{locale}/{*path}
  why    a placeholder before a catch-all in segment 2
";

#[test]
fn check_lists_overlaps_with_an_example_and_the_reason() {
    assert_output(&["check"], 0, OVERLAPS);
}

#[test]
fn check_strict_passes_overlaps_that_specificity_decides() {
    let ended = settings().run(&["check", "--strict"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), OVERLAPS), "{}", ended.stderr);
    let ended = settings().locales(&[]).run(&["check", "--strict"]);
    assert_eq!(ended.status, Some(78), "{}", ended.stderr);
}

#[test]
fn check_lists_shadowed_rules_and_names_a_third_rule() {
    let ended = shadowed().run(&["check"]);
    let wanted = "
note: site main: two rules match /en/events/x
  wins   api::talk.talk /{locale}/{kind}/{slug}
  loses  api::page.page /{locale}/{*path}
  why    a placeholder before a catch-all in segment 2
  note   a third rule wins over both there: api::event.event /{locale}/{section}/{slug}

warning: site main: a rule never matches
  rule   api::talk.talk /{locale}/{kind}/{slug}
  why    api::event.event /{locale}/{section}/{slug} matches its paths first
";
    assert!(ended.stdout.ends_with(wanted), "{}", ended.stdout);
    assert_eq!(ended.status, Some(0));
}

#[test]
fn check_says_that_the_search_for_overlaps_reached_its_bound() {
    // The product of the two automata has 101 * 103 states, and at most 10,000 are visited.
    let settings = site("main")
        .locales(&["en", "de"])
        .rule("api::t.t1", "/{slug}")
        .with(r#"params.slug = { pattern = "(a{101})+b" }"#)
        .rule("api::t.t2", "/{slug}")
        .with(r#"params.slug = { pattern = "(a{103})+c" }"#)
        .files(CONTENT);
    let ended = settings.run(&["check", "--strict"]);
    let expected = "the settings are fine: 1 site, 2 rules\n\nwarning: site main: the search for overlaps reached its bound; one path of each remaining rule was tried\n";
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), expected), "{}", ended.stderr);
}

#[test]
fn serve_warns_if_only_the_order_of_the_settings_decides() {
    let service = shadowed().start();
    // The search runs after the start.
    assert!(service.logs("share a path"), "{}", service.log());
    let log = service.log();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
    let [warning] = warnings[..] else { panic!("one warning, not\n{log}") };
    for text in ["share a path", "/en/events/x", "api::event.event", "api::talk.talk"] {
        assert!(warning.contains(text), "{text} is missing in {warning}");
    }
}

#[test]
fn serve_logs_at_most_20_of_these_warnings() {
    let with = |site: Settings, n| site.rule(&format!("api::t.t{n}"), "/{slug}");
    let service = (0..8).fold(site("main"), with).files(CONTENT).start();
    assert!(service.logs("more=8"), "28 pairs in all: {}", service.log());
    let log = service.log();
    assert_eq!(log.matches("two content types share a path").count(), 20, "{log}");
}

#[test]
fn explain_compares_a_pathname_with_every_rule() {
    assert_output(
        &["explain", "--site", "main", "/en/events//x/?q"],
        0,
        "\
site main, /en/events/x
api::event.event by /{locale}/{section}/{slug}

1. api::post.post /{locale}/blog/{slug}
   {locale}  en      fits
   blog      events  static_mismatch
   does not match: static_mismatch in segment 2

2. api::event.event /{locale}/{section}/{slug}
   {locale}   en      fits
   {section}  events  fits
   {slug}     x       fits
   matches and wins

3. api::page.page /{locale}/{*path}
   {locale}  en        fits
   {*path}   events/x  fits
   matches too, but an earlier rule wins
",
    );
    assert_output(
        &["explain", "/fr"],
        1,
        "\
site main, /fr
no rule matches

1. api::post.post /{locale}/blog/{slug}
   does not match: segment_count, 3 wanted, 1 given

2. api::event.event /{locale}/{section}/{slug}
   does not match: segment_count, 3 wanted, 1 given

3. api::page.page /{locale}/{*path}
   does not match: segment_count, 2 or more wanted, 1 given
",
    );
}

#[test]
fn explain_names_the_pattern_of_a_template_with_several() {
    let settings = settings().set("locale_prefix = \"except-default\"");
    let ended = settings.run(&["explain", "/blog/x"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let wanted = "
1. api::post.post /{locale}/blog/{slug} as /blog/{slug}
   blog    blog  fits
   {slug}  x     fits
   matches and wins
";
    assert!(ended.stdout.contains(wanted), "{}", ended.stdout);
}

#[test]
fn explain_builds_the_url_of_a_document_by_every_rule() {
    assert_output(
        &["explain", "--uid", "api::post.post", "--document", "a"],
        0,
        "\
site main, api::post.post a, locale en, published
https://www.example.com/en/blog/x

1. /{locale}/blog/{slug}
   section = \"blog\"  \"blog\"  holds
   {locale}          \"en\"    usable
   {slug}            \"x\"     usable
   builds /en/blog/x
",
    );
    assert_output(
        &["explain", "--uid", "api::post.post", "--document", "b", "--locale", "de"],
        1,
        "\
site main, api::post.post b, locale de, published
no URL

1. /{locale}/blog/{slug}
   section = \"blog\"  \"blog\"  holds
   {locale}          \"de\"    usable
   {slug}            \"a/b\"   has_slash
   builds no path: slug_has_slash, `slug` contains a slash
",
    );
    assert_output(
        &["explain", "--uid", "api::post.post", "--document", "c"],
        1,
        "\
site main, api::post.post c, locale en, published
there is no such version of the document
",
    );
}

#[test]
fn explain_json_has_all_comparisons() {
    let ended = settings().run(&["explain", "--json", "/en/blog"]);
    let read: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let matched = json!({"collectionType": "api::page.page", "rule": "/{locale}/{*path}",
        "params": {"locale": "en", "path": "blog"}, "locale": "en"});
    assert_eq!(read["matched"], matched);
    let first = json!({"collectionType": "api::post.post", "rule": "/{locale}/blog/{slug}",
        "form": "/{locale}/blog/{slug}", "outcome": "no_match", "reason": "segment_count",
        "segment": null, "segmentsWanted": 3, "orMore": false, "segments": []});
    assert_eq!(read["considered"][0], first);
    let arguments = ["--uid", "api::post.post", "--document", "c", "--status", "draft"];
    let ended = settings().run(&[&["explain", "--json"], &arguments[..]].concat());
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let read: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let expected = json!({"site": "main", "uid": "api::post.post", "documentId": "c",
        "locale": "en", "found": true, "problem": null, "path": null, "url": null, "considered": [{
            "rule": "/{locale}/blog/{slug}", "outcome": "no_url", "reason": "conditions_not_met",
            "why": "the `where` of no rule holds", "path": null,
            "conditions": [{"field": "section", "wanted": "blog", "found": "news", "holds": false}],
            "placeholders": [{"placeholder": "{locale}", "value": "en", "leftOut": false, "fault": null},
                {"placeholder": "{slug}", "value": "x", "leftOut": false, "fault": null}]}]});
    assert_eq!(read, expected);
}

#[test]
fn explain_refuses_invalid_arguments() {
    let long = "/a".repeat(1_025);
    for (args, text) in [
        (&["explain", "--site", "nope", "/x"][..], "unknown site `nope`; there are: main"),
        (&["explain", "x"], "`pathname` must start with a slash, not \"x\""),
        (&["explain", &long], "a pathname must have at most 2048 bytes"),
        (&["explain", "/a\u{85}"], "a pathname must have no control characters"),
        (
            &["explain", "--uid", "api::post.post", "--document", &"a".repeat(65)],
            "not a documentId",
        ),
        (&["explain"], "PATHNAME"),
        (&["explain", "/x", "--uid", "api::a.a", "--document", "a"], "cannot be used with"),
        (&["explain", "--uid", "api::post.post"], "--document"),
        (&["explain", "--uid", "api::a.a", "--document", "a"], "no site has a rule"),
        (&["explain", "--uid", "api::post.post", "--document", "../x"], "not a documentId"),
        (
            &["explain", "--uid", "api::post.post", "--document", "a", "--locale", "fr"],
            "site \"main\" has no locale `fr`",
        ),
    ] {
        let ended = settings().run(args);
        assert_eq!(ended.status, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(text), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{args:?}");
    }
}

#[test]
fn explain_shows_omitted_segments_of_a_path() {
    let content = r#"{"api::post.post": [
        {"documentId": "a", "locale": "en", "slug": "x", "section": " "},
        {"documentId": "b", "locale": "en", "slug": "de"},
        {"documentId": "c", "locale": "en", "slug": "a/b", "sub": "x"},
        {"documentId": "d", "locale": "de", "slug": "de"}]}"#;
    let settings = site("main")
        .locales(&["en", "de"])
        .set("locale_prefix = \"except-default\"")
        .rule("api::post.post", "/{locale}/{section?}/{sub?}/{slug}")
        .files(content);
    for (document, locale, expected) in [
        (
            "a",
            "en",
            "\n   {locale}    -    left out\n   {section?}  \" \"  left out\n   {sub?}      -    left out\n   {slug}      \"x\"  usable\n   builds /x\n",
        ),
        (
            "b",
            "en",
            "\n   {locale}    -     left out\n   {section?}  -     left out\n   {sub?}      -     left out\n   {slug}      \"de\"  not_allowed\n   builds no path: slug_not_allowed, `slug` has a value that the rule does not allow\n",
        ),
        (
            "c",
            "en",
            "\n   {locale}    -      left out\n   {section?}  -      missing\n   {sub?}      \"x\"    usable\n   {slug}      \"a/b\"  has_slash\n   builds no path: section_missing, `section` is empty\n",
        ),
        (
            "d",
            "de",
            "\n   {locale}    \"de\"  usable\n   {section?}  -     left out\n   {sub?}      -     left out\n   {slug}      \"de\"  usable\n   builds /de/de\n",
        ),
    ] {
        let args =
            ["explain", "--uid", "api::post.post", "--document", document, "--locale", locale];
        let ended = settings.run(&args);
        assert!(ended.stdout.ends_with(expected), "{document}: {}{}", ended.stdout, ended.stderr);
        let json = settings.run(&[&args[..], &["--json"]].concat()).stdout;
        let json: Value = serde_json::from_str(&json).unwrap();
        let out = &json["considered"][0]["placeholders"][0]["leftOut"];
        assert_eq!(*out, json!(locale == "en"), "{json}");
    }
}

#[test]
fn rules_page_shows_the_output_of_its_commands() {
    let page = include_str!("../../docs/rules.md");
    let shown = page.split("```console\n$ frontend-map ").skip(1).filter_map(|block| {
        let (command, rest) = block.split_once('\n')?;
        Some((command, rest.split_once("```")?.0))
    });
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown.len(), 3, "a block each");
    for (command, output) in shown {
        let ended = settings().run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.stdout, output, "{command}");
    }
}

/// Two posts and a page with one path, and a post with a path of its own.
const SHARED: &str = r#"{"api::post.post": [
    {"documentId": "a", "locale": "en", "slug": "x"},
    {"documentId": "b", "locale": "en", "slug": "x"},
    {"documentId": "c", "locale": "en", "slug": "y"}],
    "api::page.page": [{"documentId": "p", "slug": "y"}, {"documentId": "q", "slug": "z"}]}"#;

#[test]
fn explain_of_a_document_names_the_owner_of_its_path_with_a_link() {
    let settings = site("main")
        .without_front_end_url()
        .locales(&["en", "de"])
        .rule("api::page.page", "/{slug}")
        .rule("api::post.post", "/{slug}")
        .cms("admin_url = \"https://cms.example.com/admin\"")
        .files(SHARED);
    let explain = |resolve: &str, uid: &str, id: &str, json: bool| {
        let arguments = ["explain", "--uid", uid, "--document", id];
        let json = if json { &["--json"][..] } else { &[] };
        let ended = settings.clone().resolve(resolve).run(&[&arguments[..], json].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    let types = "https://cms.example.com/admin/content-manager/collection-types";
    let post = format!(
        "api::post.post a, locale en\n   {types}/api::post.post/a?plugins[i18n][locale]=en"
    );
    // A page is not localized.
    let page = format!("api::page.page p, locale en\n   {types}/api::page.page/p\n");
    for (resolve, uid, id, owner) in [
        ("documents", "api::post.post", "a", None),
        ("documents", "api::post.post", "b", Some(&post)),
        ("documents", "api::post.post", "c", Some(&page)),
        ("documents", "api::page.page", "p", None),
        ("rules", "api::post.post", "a", None),
        ("rules", "api::post.post", "b", Some(&post)),
        // The rules decide between content types.
        ("rules", "api::post.post", "c", None),
    ] {
        let text = explain(resolve, uid, id, false);
        let line = "another document owns the path, so that the URL opens that one:";
        assert_eq!(text.contains(line), owner.is_some(), "{text}");
        if let Some(owner) = owner {
            assert!(text.contains(&format!("{line}\n   {owner}")), "{text}");
            // Between content types the rules decide.
            let note = "by the dates of creation; a running service may have kept another owner";
            assert_eq!(text.contains(note), owner.starts_with(uid), "{text}");
        }
    }
    let read: Value =
        serde_json::from_str(&explain("documents", "api::post.post", "c", true)).expect("JSON");
    let owner = json!({"contentType": "api::page.page", "documentId": "p", "locale": "en",
        "adminUrl": format!("{types}/api::page.page/p")});
    assert_eq!(read["sharedPath"], json!({ "owner": owner }));
    let read: Value =
        serde_json::from_str(&explain("documents", "api::post.post", "a", true)).expect("JSON");
    assert_eq!(read.get("sharedPath"), None);
}

#[test]
fn explain_that_could_not_read_what_decides_exits_with_2() {
    let cms = Cms::start(|_| Script::json(500, "{}"));
    let settings =
        |site: Settings| site.rule("api::page.page", "/pages/{slug}").strapi(&cms).setup();
    let own_paths =
        settings(site("main").resolve("documents").rule_of(
            "api::landing.landing",
            "template = \"/landings/{slug}\"\npath_field = \"path\"",
        ));
    let redirects = settings(site("main").resolve("documents").redirects());
    for (setup, path, status) in
        [(own_paths, "/old", 2), (redirects, "/old", 2), (settings(site("main")), "/old", 1)]
    {
        let ended = setup.run(&["explain", path]);
        assert_eq!(ended.status, Some(status), "{}{}", ended.stdout, ended.stderr);
    }
}

#[test]
fn explain_says_what_a_redirect_of_the_cms_does_with_a_path() {
    let content = r#"{"api::page.page": [
        {"documentId": "p1", "slug": "home"}, {"documentId": "p2", "slug": "news"}],
      "api::redirect.redirect": [
        {"documentId": "r1", "from": "/old", "to": "/news", "code": 301},
        {"documentId": "r2", "from": "/home", "to": "/news", "force": true},
        {"documentId": "r3", "from": "/news", "to": "/home"},
        {"documentId": "r4", "from": "/gone/*", "code": 410},
        {"documentId": "r5", "from": "/self", "to": "/self"},
        {"documentId": "r6", "from": "/lost", "target": {"documentId": "none"}}]}"#;
    let settings = site("main").resolve("documents").redirects();
    let setup = settings.rule("api::page.page", "/{slug}").files(content).setup();
    let by = |id: &str, from: &str| {
        format!("\n   by api::redirect.redirect {id}, locale en, from {from}\n")
    };
    let base = "https://www.example.com";
    for (path, status, said) in [
        ("/old", 0, format!("redirected with 301 to {base}/news{}", by("r1", "/old"))),
        (
            "/home",
            0,
            format!(
                "redirected with 308 to {base}/news, before the live page{}",
                by("r2", "/home")
            ),
        ),
        (
            "/news",
            0,
            "not redirected: the redirect has no `force`, and a live page comes first".to_owned()
                + &by("r3", "/news"),
        ),
        ("/gone/a/b", 0, format!("gone, with 410{}", by("r4", "/gone/*"))),
        (
            "/self",
            0,
            "not redirected: the redirect leads back to its own path, or through more than ten others".to_owned()
                + &by("r5", "/self"),
        ),
        (
            "/lost",
            0,
            "not redirected: the document to which the redirect leads is not published in this locale".to_owned()
                + &by("r6", "/lost"),
        ),
    ] {
        let ended = setup.run(&["explain", path]);
        let (first, rest) = ended.stdout.split_once('\n').expect("lines");
        assert_eq!((ended.status, first), (Some(status), format!("site main, {path}").as_str()));
        assert!(rest.starts_with(&said), "{path}: {}", ended.stdout);
    }
    let none = setup.run(&["explain", "/nothing/here"]);
    assert_eq!(none.status, Some(1), "{}", none.stdout);
    assert!(!none.stdout.contains("redirect"), "{}", none.stdout);
    let json = |path: &str| -> Value {
        serde_json::from_str(&setup.run(&["explain", path, "--json"]).stdout).expect("JSON")
    };
    let expected = json!({
        "contentType": "api::redirect.redirect", "documentId": "r2", "locale": "en",
        "path": "/home", "force": true, "hasPage": true, "outcome": "redirects",
        "to": format!("{base}/news"), "status": 308,
    });
    assert_eq!(json("/home")["redirect"], expected);
    assert_eq!(json("/gone/x")["redirect"]["outcome"], "gone");
    assert!(json("/nothing").get("redirect").is_none());
}
