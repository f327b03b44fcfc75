//! `frontend-map diff`: which paths change if these settings replace others.

use serde_json::{Value, json};

use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::script::Script;
use crate::support::service::Ended;
use crate::support::settings::{Settings, site};

const CONTENT: &str = r#"{
  "api::article.article": [
    {"documentId": "a1", "locale": "en", "slug": "one", "category": "x"},
    {"documentId": "a1", "locale": "de", "slug": "eins", "category": "x"},
    {"documentId": "a2", "locale": "en", "slug": "two", "category": "y"},
    {"documentId": "a3", "locale": "en", "slug": "two", "category": "z"},
    {"documentId": "a4", "locale": "en", "slug": "four"}
  ],
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "x"},
    {"documentId": "p2", "locale": "en", "slug": "two"},
    {"documentId": "p3", "locale": "en", "slug": "draft", "status": "draft"}
  ],
  "api::old.old": [{"documentId": "o1", "locale": "en", "slug": "o"}]
}"#;

/// One site, which has no base URL.
fn settings(rules: &[(&str, &str)]) -> Settings {
    with_rules(site("main"), rules)
}

fn with_rules(site: Settings, rules: &[(&str, &str)]) -> Settings {
    let site = site.without_front_end_url().locales(&["en", "de"]);
    rules
        .iter()
        .fold(site, |site, (name, template)| site.rule(&format!("api::{name}.{name}"), template))
}

const BEFORE: [(&str, &str); 3] =
    [("article", "/{locale}/{category}/{slug}"), ("page", "/{slug}"), ("old", "/old/{slug}")];
const AFTER: [(&str, &str); 2] = [("article", "/{locale}/a/{slug}"), ("page", "/{slug}")];

/// Runs the command with these settings against the other ones.
fn diff(before: &Settings, after: &Settings, args: &[&str]) -> Ended {
    let setup = after.clone().files(CONTENT).file("old.toml", &before.toml());
    let old = setup.path().join("old.toml");
    let old = old.to_str().expect("text");
    setup.run(&[&["diff", "--against", old], args].concat())
}

fn parsed(ended: &Ended) -> Value {
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

#[test]
fn diff_lists_what_moves_appears_vanishes_and_collides() {
    let both = (settings(&BEFORE), settings(&AFTER));
    let ended = diff(&both.0, &both.1, &["--format", "json"]);
    let json = parsed(&ended);
    let counts = |before, after, moved, vanished, appeared, collisions| {
        json!({
            "before": before, "after": after, "moved": moved, "vanished": vanished,
            "appeared": appeared, "collisions": collisions
        })
    };
    let main = &json["sites"][0];
    assert_eq!((&json["affected"], &main["site"]), (&json!(6), &json!("main")));
    // a2 and a3 get one path, which a2 owns; a4 had no category.
    assert_eq!(main["totals"], counts(7, 6, 3, 2, 1, 1));
    let of = |uid: &str, counts: Value| {
        let mut members = counts;
        members["contentType"] = json!(uid);
        members
    };
    let types = json!([
        of("api::article.article", counts(4, 4, 3, 1, 1, 1)),
        of("api::page.page", counts(2, 2, 0, 0, 0, 0)),
        of("api::old.old", counts(1, 0, 0, 1, 0, 0)),
    ]);
    assert_eq!(main["contentTypes"], types);
    let article = "api::article.article";
    let mut expected = vec![
        json!({"type": "moved", "contentType": article, "documentId": "a1", "locale": "en",
            "from": "/en/x/one", "to": "/en/a/one"}),
        json!({"type": "moved", "contentType": article, "documentId": "a1", "locale": "de",
            "from": "/de/x/eins", "to": "/de/a/eins"}),
        json!({"type": "moved", "contentType": article, "documentId": "a2", "locale": "en",
            "from": "/en/y/two", "to": "/en/a/two"}),
        json!({"type": "vanished", "contentType": article, "documentId": "a3", "locale": "en",
            "from": "/en/z/two"}),
        json!({"type": "appeared", "contentType": article, "documentId": "a4", "locale": "en",
            "to": "/en/a/four"}),
        json!({"type": "vanished", "contentType": "api::old.old", "documentId": "o1",
            "locale": "en", "from": "/old/o"}),
    ];
    let mut found = main["changes"].as_array().expect("a list").clone();
    found.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(found, expected);
    let version = |id: &str| json!({"contentType": article, "documentId": id, "locale": "en"});
    let collisions = json!([{"path": "/en/a/two", "versions": [version("a2"), version("a3")]}]);
    assert_eq!(main["collisions"], collisions);
}

#[test]
fn diff_as_text_has_a_table_and_examples() {
    let ended = diff(&settings(&BEFORE), &settings(&AFTER), &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let (head, lists) = ended.stdout.split_once("\n  move: ").expect("a list");
    let expected = "site main: 3 paths move, 2 paths vanish, 1 path appears, 1 path collides

  content type              paths       move     vanish     appear    collide      after
  api::article.article          4          3          1          1          1          4
  api::page.page                2          0          0          0          0          2
  api::old.old                  1          0          1          0          0          0
";
    assert_eq!(head, expected);
    for line in [
        "api::article.article\n",
        "    /de/x/eins → /de/a/eins  a1 de\n",
        "\n  vanish: api::article.article\n    /en/z/two  a3 en\n",
        "\n  appear: api::article.article\n    /en/a/four  a4 en\n",
        "\n  vanish: api::old.old\n    /old/o  o1 en\n",
        "\n  collide\n    /en/a/two  api::article.article a2 en, api::article.article a3 en\n",
    ] {
        assert!(lists.contains(line), "{line}: {lists}");
    }
    let same = settings(&BEFORE);
    let ended = diff(&same, &same, &["--max-moved", "0"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), "site main: no path changes\n"));
}

#[test]
fn diff_lists_few_examples_unless_all_are_wanted() {
    let slugs = |n: usize| format!(r#"{{"documentId": "d{n}", "slug": "s{n}"}}"#);
    let rows: Vec<String> = (0..30).map(slugs).collect();
    let content = format!(r#"{{"api::page.page": [{}]}}"#, rows.join(", "));
    let settings = |template| settings(&[("page", template)]).files(&content);
    let setup = settings("/b/{slug}").file("old.toml", &settings("/a/{slug}").toml());
    let old = setup.path().join("old.toml");
    let run = |args: &[&str]| {
        let old = ["diff", "--against", old.to_str().expect("text")];
        setup.run(&[&old, args].concat()).stdout
    };
    assert_eq!(run(&[]).matches(" → ").count(), 5);
    assert!(run(&[]).contains("    and 25 more: --all\n"), "{}", run(&[]));
    assert_eq!(run(&["--all"]).matches(" → ").count(), 30);
    let out = setup.path().join("diff.txt");
    assert_eq!(run(&["--out", out.to_str().expect("text")]), "");
    assert_eq!(std::fs::read_to_string(out).expect("a file"), run(&[]));
}

#[test]
fn diff_fails_when_more_paths_change_than_may() {
    let (before, after) = (settings(&BEFORE), settings(&AFTER));
    for (most, status) in [("5", 1), ("6", 0), ("0", 1)] {
        let ended = diff(&before, &after, &["--max-moved", most]);
        assert_eq!(ended.status, Some(status), "{most}: {}", ended.stderr);
    }
    for (args, status) in [
        (&["--site", "other"][..], 2),
        (&["--max-moved", "-1"], 2),
        (&["--out", "no/such/folder/x"], 2),
    ] {
        let ended = diff(&before, &after, args);
        assert_eq!(ended.status, Some(status), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    let ended = diff(&site("a b").locales(&[]), &after, &[]);
    assert_eq!(ended.status, Some(78), "{}", ended.stderr);
    assert!(ended.stderr.contains("settings: ") && ended.stderr.contains("old.toml"));
}

#[test]
fn diff_matches_sites_by_their_keys() {
    let rules = [("page", "/{slug}")];
    let before = with_rules(with_rules(site("one"), &rules).site("two"), &rules);
    let after = with_rules(with_rules(site("two"), &rules).site("three"), &rules);
    let json = parsed(&diff(&before, &after, &["--format", "json"]));
    let sites = json["sites"].as_array().expect("a list");
    let found: Vec<_> = sites
        .iter()
        .map(|site| {
            let totals = &site["totals"];
            (site["site"].clone(), totals["vanished"].clone(), totals["appeared"].clone())
        })
        .collect();
    let expected = [("two", 0, 0), ("three", 0, 2), ("one", 2, 0)]
        .map(|(key, gone, new): (_, i32, i32)| (json!(key), json!(gone), json!(new)));
    assert_eq!(found, expected);
    let json = parsed(&diff(&before, &after, &["--format", "json", "--site", "two"]));
    assert_eq!(json["sites"].as_array().expect("a list").len(), 1);
}

#[test]
fn diff_compares_hosts_and_names_a_base_url_that_changes() {
    let with = |base: &str| settings(&[("page", "/{slug}")]).front_end_url(base);
    let one = with("https://a.example");
    let two = with("{ en = \"https://a.example\", de = \"https://b.example\" }");
    let swapped = with("{ en = \"https://b.example\", de = \"https://a.example\" }");
    let json = parsed(&diff(&two, &swapped, &["--format", "json"]));
    let rows = json["sites"][0]["changes"].as_array().expect("a list");
    assert_eq!(rows.len(), 2);
    for row in rows {
        let hosts = (&row["fromHost"], &row["toHost"]);
        assert_eq!(hosts, (&json!("a.example"), &json!("b.example")), "{row}");
    }
    let ended = diff(&one, &with("https://c.example"), &["--max-moved", "0"]);
    let expected = "site main: no path changes
  the base URL changes: https://a.example → https://c.example, and with it each URL
";
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), expected));
}

/// A list of two pages in English, of which each has a title and a slug.
fn strapi(target: &str) -> Script {
    if !target.starts_with("/api/pages?") || !target.contains("locale=en") {
        return list(&[], 100, 0);
    }
    let rows = [
        ("p1", r#","locale":"en","slug":"one","title":"uno""#),
        ("p2", r#","locale":"en","slug":"two","title":"dos""#),
    ];
    list(if target.contains("$gt") { &[] } else { &rows }, 100, 2)
}

#[test]
fn both_settings_are_applied_to_one_walk() {
    let cms = Cms::start(strapi);
    let settings = |template| settings(&[("page", template)]).strapi(&cms).without_endpoints();
    let setup =
        settings("/{locale}/{title}").file("old.toml", &settings("/{locale}/{slug}").toml());
    let old = setup.path().join("old.toml");
    let ended = setup.run(&["diff", "--against", old.to_str().expect("text"), "--format", "json"]);
    let json = parsed(&ended);
    let rows = json["sites"][0]["changes"].as_array().expect("a list");
    let moves: Vec<_> = rows.iter().map(|row| (row["from"].clone(), row["to"].clone())).collect();
    assert!(moves.contains(&(json!("/en/one"), json!("/en/uno"))), "{moves:?}");
    assert!(moves.contains(&(json!("/en/two"), json!("/en/dos"))), "{moves:?}");
    // Each list of documents has the fields of both rules.
    let lists = || {
        let targets = cms.targets().into_iter();
        targets.filter(|target| target.contains("pageSize]=100")).collect::<Vec<_>>()
    };
    let of_diff = lists();
    assert!(!of_diff.is_empty());
    for target in &of_diff {
        assert!(target.contains("slug") && target.contains("title"), "{target}");
    }
    let ended = setup.run(&["pages", "--site", "main"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(lists().len(), 2 * of_diff.len(), "as many requests as one walk sends");
}

#[test]
fn diff_could_not_run_if_the_cms_fails() {
    let cms = Cms::start(|_| refusal(500, "Error", "{}"));
    let settings = settings(&[("page", "/{slug}")]).strapi(&cms).without_endpoints();
    let setup = settings.file("old.toml", &settings.toml());
    let old = setup.path().join("old.toml");
    let ended = setup.run(&["diff", "--against", old.to_str().expect("text")]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("api::page.page"), "{}", ended.stderr);
}

const REDIRECTS: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "slug": "home", "title": "start"},
    {"documentId": "p2", "slug": "news", "title": "latest"}
  ],
  "api::redirect.redirect": [
    {"documentId": "r1", "from": "/old", "to": "/home", "alias": "/older"},
    {"documentId": "r2", "from": "/gone", "to": "/news", "code": 301, "alias": "/gone"},
    {"documentId": "r3", "from": "/news", "to": "/home", "alias": "/home"},
    {"documentId": "r4", "from": "/out", "to": "https://www.example.net/x", "alias": "/out"}
  ]
}"#;

#[test]
fn diff_lists_redirects_that_change_end_and_begin() {
    let with = |template: &str, lines: &str| {
        let table = "[[site.redirects]]\ncontent_type = \"api::redirect.redirect\"\n";
        let site = site("main").resolve("documents").rule("api::page.page", template);
        site.set(&format!("{lines}\n{table}to = \"to\"\n"))
    };
    let hosts = "redirect_hosts = [\"www.example.net\"]";
    let before = with("/{slug}", hosts).set("from = \"from\"");
    // The pages move: what was at their paths follows, or is not shadowed any more.
    let after = with("/{title}", "").set("from = \"alias\"\nstatus = \"code\"");
    let run = |before: &Settings, after: &Settings, args: &[&str]| {
        let setup = after.clone().files(REDIRECTS).file("old.toml", &before.toml());
        let old = setup.path().join("old.toml");
        setup.run(&[&["diff", "--against", old.to_str().expect("text")], args].concat())
    };
    let target =
        |target: &str, status: u16| json!({"target": target, "status": status, "force": false});
    let row = |kind: &str, id: &str, path: &str| {
        json!({"type": kind, "contentType": "api::redirect.redirect", "documentId": id,
            "locale": "en", "path": path})
    };
    let with_targets = |mut row: Value, from: Option<Value>, to: Option<Value>| {
        for (name, target) in [("from", from), ("to", to)] {
            if let Some(target) = target {
                row[name] = target;
            }
        }
        row
    };
    let ended = run(&before, &after, &["--format", "json"]);
    let json = parsed(&ended);
    let redirects = &json["sites"][0]["redirects"];
    assert_eq!((&redirects["before"], &redirects["after"]), (&json!(3), &json!(2)));
    let expected = json!([
        with_targets(
            row("changed", "r2", "/gone"),
            Some(target("/news", 308)),
            Some(target("/news", 301))
        ),
        with_targets(row("ended", "r1", "/old"), Some(target("/home", 308)), None),
        with_targets(
            row("ended", "r4", "/out"),
            Some(target("https://www.example.net/x", 308)),
            None
        ),
        with_targets(row("began", "r1", "/older"), None, Some(target("/home", 308))),
    ]);
    assert_eq!(redirects["changes"], expected);
    // Two pages move, one redirect changes and two end.
    assert_eq!(json["affected"], 5);
    assert_eq!(run(&before, &after, &["--max-moved", "4"]).status, Some(1));
    let text = run(&before, &after, &["--max-moved", "5"]);
    assert_eq!(text.status, Some(0), "{}", text.stderr);
    let (first, lists) = text.stdout.split_once('\n').expect("lines");
    assert_eq!(
        first,
        "site main: 2 paths move, 1 redirect changes, 2 redirects end, 1 redirect begins"
    );
    let expected = "
  redirects that change
    /gone  308 /news → 301 /news  r2 en

  redirects that end
    /old  308 /home  r1 en
    /out  308 https://www.example.net/x  r4 en

  redirects that begin
    /older  308 /home  r1 en
";
    assert!(lists.ends_with(expected), "{lists}");
    let same = run(&before, &before, &["--max-moved", "0"]);
    assert_eq!(same.stdout, "site main: no path and no redirect changes\n", "{}", same.stderr);
    let other_base = before.clone().front_end_url("https://other.example");
    let other = parsed(&run(&before, &other_base, &["--format", "json"]));
    assert_eq!(other["sites"][0]["redirects"]["changes"], json!([]));
}
