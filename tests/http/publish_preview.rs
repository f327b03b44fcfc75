//! `/api/publish-preview`: what publishing, unpublishing and deleting a version would do.

mod announced;
mod redirects;

use serde_json::{Value, json};

use crate::support::api::{data, get};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::refusal;
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};

const NEWS: &str = "api::news.news";
const PAGE: &str = "api::page.page";
const EVENT: &str = "api::event.event";
const TOPIC: &str = "api::topic.topic";
const AUTHOR: &str = "api::author.author";

const CONTENT: &str = r#"{
  "api::news.news": [
    {"documentId": "n1", "locale": "en", "slug": "hello", "headline": "Hello"},
    {"documentId": "n1", "locale": "en", "slug": "hello", "headline": "Hello", "status": "draft"},
    {"documentId": "n1", "locale": "de", "slug": "hallo", "status": "draft"},
    {"documentId": "n2", "locale": "en", "slug": "old"},
    {"documentId": "n2", "locale": "en", "slug": "new", "status": "draft"},
    {"documentId": "n3", "locale": "en", "slug": "hello", "status": "draft"},
    {"documentId": "n4", "locale": "en", "slug": "fine"},
    {"documentId": "n4", "locale": "en", "slug": "a/b", "status": "draft"},
    {"documentId": "n5", "locale": "en", "slug": "contact", "status": "draft"},
    {"documentId": "n7", "locale": "en", "slug": "only-published"}
  ],
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "topics"},
    {"documentId": "p1", "locale": "en", "slug": "subjects", "status": "draft"},
    {"documentId": "p2", "locale": "en", "slug": "team", "parent": {"documentId": "p1", "slug": "topics"}},
    {"documentId": "p3", "locale": "en", "slug": "jane",
     "parent": {"documentId": "p2", "slug": "team", "parent": {"documentId": "p1", "slug": "topics"}}},
    {"documentId": "p4", "locale": "en", "slug": "about", "status": "draft"},
    {"documentId": "p5", "locale": "en", "slug": "history", "status": "draft",
     "parent": {"documentId": "p4", "slug": "about"}},
    {"documentId": "p6", "locale": "en", "slug": "x", "status": "draft",
     "parent": {"documentId": "p2", "slug": "renamed", "parent": {"documentId": "p1", "slug": "subjects"}}}
  ],
  "api::event.event": [
    {"documentId": "e1", "locale": "en", "slug": "hello", "status": "draft"},
    {"documentId": "e2", "locale": "en", "slug": "fair", "status": "draft"},
    {"documentId": "e3", "locale": "en", "slug": "taken", "status": "draft", "customPath": "hello"}
  ],
  "api::author.author": [
    {"documentId": "u1", "slug": "ada"},
    {"documentId": "u1", "slug": "lovelace", "status": "draft"}
  ]
}"#;

fn settings() -> Settings {
    site("main")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule(PAGE, "/{locale}/p/{*path}")
        .with(r#"params.path = { field = "slug", ancestors = "parent" }"#)
        .rule(NEWS, "/{locale}/{slug}")
        .with("title = \"headline\"")
        .rule(EVENT, "/{locale}/{slug}")
        .with("path_field = \"customPath\"")
        .rule(AUTHOR, "/authors/{slug}")
        .more("[[site.page]]\nname = \"contact\"\npath = { en = \"/en/contact\" }")
        .files(CONTENT)
}

fn target(uid: &str, id: &str) -> String {
    format!("/api/publish-preview?uid={uid}&documentId={id}")
}

/// The part of the first site.
#[track_caller]
fn preview(service: &Service, uid: &str, id: &str) -> Value {
    data(service, &target(uid, id))["sites"][0].clone()
}

fn none() -> Value {
    json!({"count": 0, "more": false, "first": []})
}

fn group(rows: &[Value]) -> Value {
    json!({"count": rows.len(), "more": false, "first": rows})
}

fn version(uid: &str, id: &str, more: &Value) -> Value {
    let mut row = json!({"contentType": uid, "documentId": id, "locale": "en"});
    let members = more.as_object().expect("an object").clone();
    row.as_object_mut().expect("an object").extend(members);
    row
}

#[test]
fn new_document_gets_its_url_and_withdrawing_it_does_nothing() {
    let service = settings().start();
    let response = get(&service, &format!("{}&locale=de", target(NEWS, "n1")));
    let nothing =
        json!({"ok": true, "conflict": null, "moves": null, "dependents": none(), "gone": none()});
    let expected = json!({"data": {
        "contentType": NEWS,
        "documentId": "n1",
        "locale": "de",
        "sites": [{
            "site": "main",
            "path": null,
            "publish": {
                "ok": true,
                "path": "/de/hallo",
                "url": "https://www.example.com/de/hallo",
                "conflict": null,
                "moves": null,
                "dependents": none(),
                "gone": none(),
            },
            "unpublish": nothing,
            // The English version is deleted too.
            "delete": {
                "ok": false,
                "conflict": null,
                "moves": null,
                "dependents": none(),
                "gone": group(&[version(NEWS, "n1", &json!({"title": "Hello", "path": "/en/hello"}))]),
            },
        }],
    }, "meta": {}});
    assert_eq!((response.status, response.json()), (200, expected));
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
}

#[test]
fn changed_slug_moves_the_page_and_a_withdrawal_ends_it() {
    let service = settings().start();
    let found = preview(&service, NEWS, "n2");
    assert_eq!(found["path"], "/en/old");
    let publish = &found["publish"];
    let moves = json!({"from": "/en/old", "to": "/en/new", "redirects": true});
    assert_eq!(
        (&publish["ok"], &publish["moves"], &publish["gone"]),
        (&json!(true), &moves, &none())
    );
    let gone = group(&[version(NEWS, "n2", &json!({"path": "/en/old"}))]);
    for action in ["unpublish", "delete"] {
        assert_eq!(
            (&found[action]["ok"], &found[action]["gone"]),
            (&json!(false), &gone),
            "{action}"
        );
    }
    // Without room for former paths, nothing redirects.
    let service = settings().more("[moved]\nmax_paths = 0").start();
    let moves = json!({"from": "/en/old", "to": "/en/new", "redirects": false});
    assert_eq!(preview(&service, NEWS, "n2")["publish"]["moves"], moves);
}

#[test]
fn slug_that_can_stand_in_no_url_ends_the_page_and_says_why() {
    let service = settings().start();
    let publish = preview(&service, NEWS, "n4")["publish"].clone();
    let no_path = json!({
        "reason": "slug_has_slash",
        "rule": "/{locale}/{slug}",
        "message": "`slug` contains a slash",
    });
    assert_eq!((&publish["ok"], &publish["noPath"]), (&json!(false), &no_path));
    assert_eq!(publish["gone"], group(&[version(NEWS, "n4", &json!({"path": "/en/fine"}))]));
    assert_eq!(publish.get("path"), None);
}

#[test]
fn path_of_another_document_a_page_or_a_first_rule_is_a_conflict() {
    let service = settings().start();
    let owner = version(NEWS, "n1", &json!({"title": "Hello"}));
    let rule = "/{locale}/{slug}";
    for (uid, id, conflict) in [
        (
            NEWS,
            "n3",
            json!({"path": "/en/hello", "document": owner, "wins": "other", "by": "owned_before"}),
        ),
        (
            NEWS,
            "n5",
            json!({"path": "/en/contact", "page": "contact", "wins": "other", "by": "page"}),
        ),
        (
            EVENT,
            "e1",
            json!({"path": "/en/hello", "document": owner, "rule": rule, "wins": "other", "by": "rule"}),
        ),
        (
            EVENT,
            "e3",
            json!({"path": "/en/hello", "document": owner, "rule": rule, "wins": "this", "by": "own_path"}),
        ),
    ] {
        let publish = preview(&service, uid, id)["publish"].clone();
        assert_eq!((&publish["conflict"], &publish["ok"]), (&conflict, &json!(false)), "{id}");
    }
    assert_eq!(preview(&service, EVENT, "e2")["publish"]["conflict"], Value::Null);
    // Where the rules decide alone, the path leads to the content type of the first one.
    let by_rules = site("main")
        .rule(NEWS, "/{locale}/{slug}")
        .rule(EVENT, "/{locale}/{slug}")
        .files(CONTENT)
        .start();
    let conflict = json!({"path": "/en/fair", "rule": rule, "wins": "other", "by": "rule"});
    assert_eq!(preview(&by_rules, EVENT, "e2")["publish"]["conflict"], conflict);
}

#[test]
fn descendants_move_along_and_a_parent_that_is_a_draft_is_named() {
    let service = settings().start();
    let found = preview(&service, PAGE, "p1");
    let moved = |id, path: &str, to: &str| {
        version(PAGE, id, &json!({"from": path, "to": to, "redirects": true}))
    };
    let publish = [
        moved("p2", "/en/p/topics/team", "/en/p/subjects/team"),
        moved("p3", "/en/p/topics/team/jane", "/en/p/subjects/team/jane"),
    ];
    assert_eq!(found["publish"]["dependents"], group(&publish));
    assert_eq!(found["publish"]["ok"], true);
    // The CMS returns them without their parent then.
    let unpublish = [
        moved("p2", "/en/p/topics/team", "/en/p/team"),
        moved("p3", "/en/p/topics/team/jane", "/en/p/team/jane"),
    ];
    assert_eq!(found["unpublish"]["dependents"], group(&unpublish));
    let gone = group(&[version(PAGE, "p1", &json!({"path": "/en/p/topics"}))]);
    assert_eq!(found["unpublish"]["gone"], gone);

    let publish = preview(&service, PAGE, "p5")["publish"].clone();
    assert_eq!(publish["unpublished"], json!([{"field": "parent", "documentId": "p4"}]));
    assert_eq!((&publish["path"], &publish["ok"]), (&json!("/en/p/history"), &json!(false)));
    // The published parent has another slug than its draft, and so has its own parent.
    let publish = preview(&service, PAGE, "p6")["publish"].clone();
    assert_eq!(publish["path"], "/en/p/topics/team/x");
    assert_eq!((publish.get("unpublished"), publish.get("assumed")), (None, None));
}

#[test]
fn document_that_is_not_localized_is_the_same_in_each_locale() {
    let service = settings().start();
    let english = preview(&service, AUTHOR, "u1");
    let moves = json!({"from": "/authors/ada", "to": "/authors/lovelace", "redirects": true});
    assert_eq!(english["publish"]["moves"], moves);
    let german = data(&service, &format!("{}&locale=de", target(AUTHOR, "u1")));
    assert_eq!((&german["sites"][0], &german["locale"]), (&english, &json!("de")));
}

#[test]
fn each_site_that_lists_the_type_has_a_part() {
    let service = settings()
        .site("shop")
        .locales(&["en"])
        .front_end_url("https://shop.example.com")
        .rule(NEWS, "/news/{slug}.html")
        .site("empty")
        .start();
    let parts = data(&service, &target(NEWS, "n2"))["sites"].clone();
    let keys: Vec<&Value> = parts.as_array().unwrap().iter().map(|part| &part["site"]).collect();
    assert_eq!(keys, ["main", "shop"]);
    // On a site that resolves by rules, nothing redirects.
    let moves = json!({"from": "/news/old.html", "to": "/news/new.html", "redirects": false});
    assert_eq!(parts[1]["publish"]["moves"], moves);
    assert_eq!(parts[1]["publish"]["url"], "https://shop.example.com/news/new.html");
    let one = data(&service, &format!("{}&site=shop", target(NEWS, "n2")))["sites"].clone();
    assert_eq!(one, json!([parts[1]]));
    // Only one of them has the locale.
    let german = data(&service, &format!("{}&locale=de", target(NEWS, "n1")))["sites"].clone();
    assert_eq!((german.as_array().unwrap().len(), &german[0]["site"]), (1, &json!("main")));
}

#[test]
fn publish_preview_refuses_what_it_knows_nothing_about() {
    let service = settings().start();
    for (query, status, reason) in [
        ("uid=api::news.news", 400, Value::Null),
        ("documentId=n1", 400, Value::Null),
        ("uid=api::news.news&documentId=a%20b", 400, Value::Null),
        ("uid=api::news.news&documentId=n1&site=x", 400, Value::Null),
        ("uid=api::news.news&documentId=n1&locale=%21", 400, Value::Null),
        ("uid=api::none.none&documentId=n1", 404, json!("no_rule")),
        ("uid=none&documentId=n1", 404, json!("no_rule")),
        ("uid=api::none.none&documentId=n1&site=main", 404, json!("no_rule")),
        ("uid=api::news.news&documentId=n1&locale=fr", 404, json!("locale_unknown")),
        ("uid=api::news.news&documentId=none", 404, json!("no_version")),
        ("uid=api::news.news&documentId=n7", 404, json!("no_version")),
    ] {
        let response = get(&service, &format!("/api/publish-preview?{query}"));
        let details = response.json()["error"]["details"]["reason"].clone();
        assert_eq!((response.status, details), (status, reason), "{query}");
        let no_store = response.header("cache-control").as_deref() == Some("no-store");
        assert_eq!(no_store, status != 400, "{query}");
    }
}

#[test]
fn publish_preview_needs_the_token_for_drafts() {
    let token = "draft-token-1234567890";
    let service = settings().env("FRONTEND_MAP__AUTH__DRAFT_TOKEN", token).start();
    for (sent, expected) in [(None, 401), (Some("wrong"), 403), (Some(token), 200)] {
        let header = sent.map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> =
            header.iter().map(|header| ("Authorization", header.as_str())).collect();
        let response = http::send(service.addr(), "GET", &target(NEWS, "n2"), &headers);
        assert_eq!(response.status, expected);
        assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    }
}

#[test]
fn other_site_whose_types_cannot_be_read_is_named_and_does_not_end_the_preview() {
    let content = Content::new(&[("en", "n1", "hello")]);
    let cms = Cms::start(move |target| {
        let is_blog = target.starts_with("/api/blogs");
        if is_blog { refusal(403, "ForbiddenError", "{}") } else { content.answer(target) }
    });
    let service = site("main")
        .rule(NEWS, "/{locale}/{slug}")
        .site("other")
        .rule("api::blog.blog", "/{topic.slug}/{slug}")
        .strapi(&cms)
        .start();
    let found = data(&service, &target(NEWS, "n1"));
    assert_eq!(found["unknown"], json!(["other"]));
    assert_eq!(found["sites"][0]["publish"]["path"], "/en/hello");
    // Whether pages of the other site read a topic is not known.
    let response = get(&service, &target(TOPIC, "t1"));
    let error = &response.json()["error"]["message"];
    assert_eq!(
        (response.status, error.as_str().unwrap().contains("/api/blogs")),
        (502, true),
        "{error}"
    );
    // The other site has a rule for its own type, in whatever locale.
    let own = format!("{}&locale=xx", target("api::blog.blog", "b1"));
    assert_eq!(get(&service, &own).status, 502);
    // No relation leads to a document of no content type.
    assert_eq!(get(&service, &target("none", "t1")).status, 404);
}
