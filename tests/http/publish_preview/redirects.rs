//! Previews of documents at whose paths the CMS has redirects.

use serde_json::{Value, json};

use super::{NEWS, group, none, preview, target, version};
use crate::support::api::{data, get};
use crate::support::service::Service;
use crate::support::settings::site;

const REDIRECT: &str = "api::redirect.redirect";
/// The redirect that comes before a live page.
const FORCED: &str = "r2";
const ELSEWHERE: Option<&str> = Some("/en/elsewhere");
const TOPIC: &str = "api::topic.topic";
const STORY: &str = "api::story.story";

/// Each document has a draft with a slug of its own.
const CONTENT: &str = r#"{
  "api::news.news": [
    {"documentId": "shadowing", "locale": "en", "slug": "taken", "status": "draft"},
    {"documentId": "hidden", "locale": "en", "slug": "forced", "status": "draft"},
    {"documentId": "leaving", "locale": "en", "slug": "old"},
    {"documentId": "leaving", "locale": "en", "slug": "new", "status": "draft"},
    {"documentId": "ahead", "locale": "en", "slug": "before"},
    {"documentId": "ahead", "locale": "en", "slug": "after", "status": "draft"},
    {"documentId": "ended", "locale": "en", "slug": "gone"},
    {"documentId": "ended", "locale": "en", "slug": "gone", "status": "draft"},
    {"documentId": "wild", "locale": "en", "slug": "blog"},
    {"documentId": "wild", "locale": "en", "slug": "blog", "status": "draft"},
    {"documentId": "behind", "locale": "en", "slug": "forced-now"},
    {"documentId": "behind", "locale": "en", "slug": "forced-now", "status": "draft"},
    {"documentId": "plain", "locale": "en", "slug": "plain", "status": "draft"}
  ],
  "api::topic.topic": [
    {"documentId": "t1", "locale": "en", "slug": "sport"},
    {"documentId": "t1", "locale": "en", "slug": "sports", "status": "draft"}
  ],
  "api::story.story": [
    {"documentId": "s1", "locale": "en", "slug": "a", "topic": {"documentId": "t1", "slug": "sport"}},
    {"documentId": "s2", "locale": "en", "slug": "b", "topic": {"documentId": "t1", "slug": "sport"}},
    {"documentId": "s3", "locale": "en", "slug": "c", "topic": {"documentId": "t1", "slug": "sport"}}
  ],
  "api::redirect.redirect": [
    {"documentId": "r1", "from": "/en/taken", "to": "/en/elsewhere"},
    {"documentId": "r2", "from": "/en/forced", "to": "/en/elsewhere", "force": true},
    {"documentId": "r3", "from": "/en/old", "to": "https://other.example/old"},
    {"documentId": "r4", "locale": "en", "from": "/en/before", "target": {"documentId": "ahead"}},
    {"documentId": "r5", "from": "/en/gone", "code": 410},
    {"documentId": "r6", "from": "/en/blog/*", "to": "/en/elsewhere"},
    {"documentId": "r7", "from": "/en/forced-now", "to": "/en/elsewhere", "force": true},
    {"documentId": "r8", "from": "/en/plain", "target": {"documentId": "missing"}},
    {"documentId": "r0", "from": "/en/sport/a", "to": "/en/elsewhere"},
    {"documentId": "r9", "from": "/en/sport/c", "to": "/en/sport/b"}
  ]
}"#;

fn start() -> Service {
    site("main")
        .resolve("documents")
        .set("redirect_hosts = [\"other.example\"]")
        .redirects()
        .rule(NEWS, "/{locale}/{slug}")
        .rule(STORY, "/{locale}/{topic.slug}/{slug}")
        .files(CONTENT)
        .start()
}

/// A redirect that is not localized has the first locale of the site.
fn redirect(id: &str, to: Option<&str>) -> Value {
    let document = json!({"contentType": REDIRECT, "documentId": id, "locale": "en"});
    json!({"document": document, "to": to, "force": id == FORCED})
}

#[test]
fn page_at_the_path_of_a_redirect_is_shown_unless_the_redirect_has_force() {
    let service = start();
    let publish = preview(&service, NEWS, "shadowing")["publish"].clone();
    assert_eq!((&publish["redirect"], &publish["ok"]), (&redirect("r1", ELSEWHERE), &json!(true)));
    let publish = preview(&service, NEWS, "hidden")["publish"].clone();
    assert_eq!(
        (&publish["redirect"], &publish["ok"]),
        (&redirect(FORCED, ELSEWHERE), &json!(false))
    );
    assert_eq!(publish["path"], "/en/forced");
    // One without a target says nothing, and one for paths below nothing of a page.
    for id in ["plain", "wild"] {
        let publish = preview(&service, NEWS, id)["publish"].clone();
        assert_eq!((publish.get("redirect"), &publish["ok"]), (None, &json!(true)), "{id}");
    }
    // A page that is hidden is not there, so that no click takes it away.
    let found = preview(&service, NEWS, "behind");
    assert_eq!((&found["path"], &found["unpublish"]["gone"]), (&Value::Null, &none()));
}

#[test]
fn withdrawn_page_is_not_gone_where_a_redirect_has_its_path() {
    let service = start();
    let found = preview(&service, NEWS, "leaving");
    for action in ["unpublish", "delete"] {
        let effect = &found[action];
        assert_eq!((&effect["gone"], &effect["ok"]), (&none(), &json!(true)), "{action}");
        assert_eq!(
            effect["redirect"],
            redirect("r3", Some("https://other.example/old")),
            "{action}"
        );
    }
    // The redirect of all paths below decides once the page does not.
    let unpublish = preview(&service, NEWS, "wild")["unpublish"].clone();
    assert_eq!((&unpublish["gone"], &unpublish["redirect"]), (&none(), &redirect("r6", ELSEWHERE)));
    // The status 410 leads nowhere.
    let unpublish = preview(&service, NEWS, "ended")["unpublish"].clone();
    let gone = group(&[version(NEWS, "ended", &json!({"path": "/en/gone"}))]);
    assert_eq!((&unpublish["gone"], &unpublish["redirect"]), (&gone, &redirect("r5", None)));
    // The redirect leads to the page that goes.
    let unpublish = preview(&service, NEWS, "ahead")["unpublish"].clone();
    let gone = group(&[version(NEWS, "ahead", &json!({"path": "/en/before"}))]);
    assert_eq!((&unpublish["gone"], unpublish.get("redirect")), (&gone, None));
}

#[test]
fn old_path_of_a_page_leads_where_a_redirect_of_the_cms_says() {
    let service = start();
    let publish = preview(&service, NEWS, "leaving")["publish"].clone();
    let moves = json!({
        "from": "/en/old", "to": "/en/new", "redirects": false, "redirect": redirect("r3", Some("https://other.example/old")),
    });
    assert_eq!((&publish["moves"], publish.get("redirect")), (&moves, None));
    let publish = preview(&service, NEWS, "ahead")["publish"].clone();
    let moves = json!({
        "from": "/en/before", "to": "/en/after", "redirects": true,
        "redirect": redirect("r4", Some("/en/after")),
    });
    assert_eq!(publish["moves"], moves);
}

#[test]
fn pages_that_move_along_have_the_redirects_of_their_old_paths() {
    let service = start();
    let found = preview(&service, TOPIC, "t1");
    let moved = |id, slug: &str| {
        let (from, to) = (format!("/en/sport/{slug}"), format!("/en/sports/{slug}"));
        version(STORY, id, &json!({"from": from, "to": to, "redirects": true}))
    };
    let mut rows = [moved("s1", "a"), moved("s2", "b"), moved("s3", "c")];
    for (at, id, to) in [(0, "r0", "/en/elsewhere"), (2, "r9", "/en/sports/b")] {
        rows[at]["redirects"] = json!(false);
        rows[at]["redirect"] = redirect(id, Some(to));
    }
    assert_eq!(found["publish"]["dependents"], group(&rows));
    // The redirect of the third one leads to the second one, which is gone then.
    let gone = [("s2", "b"), ("s3", "c")]
        .map(|(id, slug)| version(STORY, id, &json!({"path": format!("/en/sport/{slug}")})));
    assert_eq!(found["unpublish"]["gone"], group(&gone));
}

#[test]
fn redirect_itself_has_no_preview() {
    let service = start();
    let response = get(&service, &target(REDIRECT, "r1"));
    let reason = response.json()["error"]["details"]["reason"].clone();
    assert_eq!((response.status, reason), (404, json!("no_rule")));
    assert_eq!(data(&service, &target(NEWS, "plain"))["sites"][0]["site"], "main");
}
