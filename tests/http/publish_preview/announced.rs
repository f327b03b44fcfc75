//! What is announced beside a CMS, what it costs the CMS, and what happens afterwards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{TOPIC, target};
use crate::support::api::{data, get};
use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::hook::{SECRET, post_body};
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::until_so;

const STORY: &str = "api::story.story";
/// More than the rows of a list of dependents.
const STORIES: usize = 12;

/// The topic of all stories: the slugs of its draft and of its published version.
#[derive(Clone)]
struct Topic {
    draft: String,
    published: Option<String>,
}

struct Fixture {
    topic: Arc<Mutex<Topic>>,
    fails: Arc<AtomicBool>,
    cms: Cms,
    service: Service,
}

/// A story of the topic, with a slug of its own.
fn story(id: &str, topic: Option<&str>) -> String {
    let topic =
        topic.map_or("null".to_owned(), |slug| format!(r#"{{"documentId":"t1","slug":"{slug}"}}"#));
    format!(r#","locale":"en","slug":"{id}","publishedAt":"2026-01-01","topic":{topic}"#)
}

fn one(row: &str, id: &str) -> Script {
    Script::json(200, &format!(r#"{{"data":{{"documentId":"{id}"{row}}},"meta":{{}}}}"#))
}

fn answer(topic: &Topic, count: usize, knows_schema: bool, request: &str) -> Script {
    let (path, query) = request.split_once('?').unwrap_or((request, ""));
    let is_draft = query.contains("status=draft");
    let of_topic = |slug: &str| format!(r#","locale":"en","slug":"{slug}""#);
    let published = topic.published.as_deref();
    match path {
        "/api/topics/t1" if is_draft => one(&of_topic(&topic.draft), "t1"),
        "/api/topics/t1" if published.is_some() => {
            one(&of_topic(published.unwrap_or_default()), "t1")
        }
        "/api/stories/new" if is_draft => one(&story("new", Some(&topic.draft)), "new"),
        "/api/topics" => {
            let row = of_topic(published.unwrap_or_default());
            let rows = [("t1", row.as_str())];
            list(
                if published.is_some() { &rows } else { &[] },
                100,
                usize::from(published.is_some()),
            )
        }
        "/api/content-type-builder/content-types/api::story.story" if knows_schema => {
            let topic = r#"{"type":"relation","relation":"manyToOne","target":"api::topic.topic"}"#;
            let schema = format!(r#"{{"attributes":{{"topic":{topic}}}}}"#);
            let data = format!(r#"{{"uid":"{STORY}","schema":{schema}}}"#);
            Script::json(200, &format!(r#"{{"data":{data}}}"#))
        }
        "/api/stories" => {
            let stories = published.map_or(0, |_| count);
            let rows: Vec<(String, String)> = (0..stories)
                .map(|at| (format!("s{at:02}"), story(&format!("s{at:02}"), published)))
                .collect();
            let after = query.split_once("[documentId][$gt]=").map(|(_, rest)| rest);
            let after = after.and_then(|rest| rest.split('&').next()).unwrap_or_default();
            let rows: Vec<(&str, &str)> = rows
                .iter()
                .map(|(id, row)| (&**id, &**row))
                .filter(|(id, _)| *id > after)
                .collect();
            list(&rows, 100, rows.len())
        }
        _ => refusal(404, "NotFoundError", "{}"),
    }
}

impl Fixture {
    /// This number of stories is published, if the topic is.
    fn start(draft: &str, published: Option<&str>, count: usize) -> Self {
        Self::with(draft, published, count, true)
    }

    /// The token may read the schema, or not.
    fn with(draft: &str, published: Option<&str>, count: usize, knows_schema: bool) -> Self {
        let topic = Topic { draft: draft.to_owned(), published: published.map(str::to_owned) };
        let topic = Arc::new(Mutex::new(topic));
        let fails = Arc::<AtomicBool>::default();
        let (own, failing) = (Arc::clone(&topic), Arc::clone(&fails));
        let cms = Cms::start(move |request| {
            if failing.load(Ordering::Relaxed) {
                return refusal(500, "InternalServerError", "{}");
            }
            answer(&own.lock().expect("no panic"), count, knows_schema, request)
        });
        let service = site("main")
            .resolve("documents")
            .rule(STORY, "/{locale}/{topic.slug}/{slug}")
            .strapi(&cms)
            .without_endpoints()
            .more("[[content_type]]\nuid = \"api::topic.topic\"\nendpoint = \"topics\"")
            .more("[[content_type]]\nuid = \"api::story.story\"\nendpoint = \"stories\"")
            .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
            .start();
        until_so("the walk", || {
            get(&service, "/api/resolve?site=main&pathname=/en/x/y").status != 503
        });
        Self { topic, fails, cms, service }
    }

    /// The requests for single documents since then.
    fn single(&self, from: usize) -> Vec<String> {
        let targets = self.cms.targets().split_off(from).into_iter();
        targets.filter(|request| request.contains("/t1?") || request.contains("/new?")).collect()
    }

    fn preview(&self, uid: &str, id: &str) -> Value {
        data(&self.service, &target(uid, id))["sites"][0].clone()
    }
}

#[test]
fn renamed_topic_announces_the_stories_that_move_and_costs_one_request() {
    let fixture = Fixture::start("sports", Some("sport"), STORIES);
    let before = fixture.cms.targets().len();
    // The topic has no rule: it has no page of its own.
    let found = fixture.preview(TOPIC, "t1");
    assert_eq!(fixture.single(before).len(), 1, "{:?}", fixture.cms.targets());
    let publish = &found["publish"];
    assert_eq!(
        (&publish["ok"], &publish["moves"], publish.get("path")),
        (&json!(true), &Value::Null, None)
    );
    let dependents = &publish["dependents"];
    assert_eq!((&dependents["count"], &dependents["more"]), (&json!(STORIES), &json!(false)));
    let first = dependents["first"].as_array().unwrap();
    assert_eq!(first.len(), 10);
    let row = json!({
        "contentType": STORY, "documentId": "s00", "locale": "en",
        "from": "/en/sport/s00", "to": "/en/sports/s00", "redirects": true,
    });
    assert_eq!(first[0], row);
    let gone = &found["unpublish"]["gone"];
    assert_eq!(
        (&gone["count"], &gone["first"][9]["path"]),
        (&json!(STORIES), &json!("/en/sport/s09"))
    );
    assert_eq!(found["delete"], found["unpublish"]);

    // It happens.
    fixture.topic.lock().expect("no panic").published = Some("sports".to_owned());
    let body = r#"{"event":"entry.publish","model":"topic","uid":"api::topic.topic","entry":{"documentId":"t1","publishedAt":"2026-01-02"}}"#;
    let response = post_body(&fixture.service, body.as_bytes());
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
    for row in first {
        let from = row["from"].as_str().unwrap();
        let resolved =
            || data(&fixture.service, &format!("/api/resolve?site=main&pathname={from}"));
        until_so("it redirects", || resolved()["redirect"]["path"] == row["to"]);
    }
}

#[test]
fn first_story_of_a_topic_reads_whether_the_topic_is_published() {
    // No path has its published slug.
    let fixture = Fixture::start("sports", Some("sport"), 0);
    let before = fixture.cms.targets().len();
    let publish = fixture.preview(STORY, "new")["publish"].clone();
    assert_eq!((&publish["path"], &publish["ok"]), (&json!("/en/sport/new"), &json!(true)));
    let single = fixture.single(before);
    let [draft, related] = &single[..] else { panic!("{single:?}") };
    assert!(draft.starts_with("/api/stories/new?status=draft&locale=en&"), "{draft}");
    assert!(related.starts_with("/api/topics/t1?status=published&locale=en&"), "{related}");

    let fixture = Fixture::start("sports", None, 0);
    let publish = fixture.preview(STORY, "new")["publish"].clone();
    let topic = json!([{"field": "topic", "documentId": "t1"}]);
    assert_eq!((&publish["unpublished"], &publish["ok"]), (&topic, &json!(false)));
    let message = "`topic` leads to document t1, which is not published in this locale";
    let no_path = json!({
        "reason": "topic_missing", "rule": "/{locale}/{topic.slug}/{slug}", "message": message,
    });
    assert_eq!((&publish["noPath"], publish.get("path")), (&no_path, None));

    // Where it is not known which type the relation leads to, the draft of the topic stands for it.
    let fixture = Fixture::with("sports", Some("sport"), 0, false);
    let publish = fixture.preview(STORY, "new")["publish"].clone();
    assert_eq!((&publish["path"], &publish["assumed"]), (&json!("/en/sports/new"), &topic));
    assert_eq!(publish["ok"], false);
}

#[test]
fn story_of_a_topic_with_stories_needs_no_other_request() {
    let fixture = Fixture::start("sports", Some("sport"), 1);
    let before = fixture.cms.targets().len();
    let publish = fixture.preview(STORY, "new")["publish"].clone();
    assert_eq!((&publish["path"], &publish["ok"]), (&json!("/en/sport/new"), &json!(true)));
    assert_eq!(fixture.single(before).len(), 1);
}

#[test]
fn failing_cms_is_an_error() {
    let fixture = Fixture::start("sports", Some("sport"), 1);
    fixture.fails.store(true, Ordering::Relaxed);
    let response = get(&fixture.service, &target(TOPIC, "t1"));
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
}
