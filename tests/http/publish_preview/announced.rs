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
    drafts_fail: Arc<AtomicBool>,
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
            let slug = if is_draft { Some(&*topic.draft) } else { published };
            let rows: Vec<(String, String)> = (0..count)
                .map(|at| (format!("s{at:02}"), story(&format!("s{at:02}"), slug)))
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
        let [fails, drafts_fail] = [(); 2].map(|()| Arc::<AtomicBool>::default());
        let (own, failing) = (Arc::clone(&topic), [&fails, &drafts_fail].map(Arc::clone));
        let cms = Cms::start(move |request| {
            let [all, drafts] = [0, 1].map(|at| failing[at].load(Ordering::Relaxed));
            if all || drafts && request.starts_with("/api/stories?status=draft") {
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
        Self { topic, fails, drafts_fail, cms, service }
    }

    /// The requests for single documents since then.
    fn single(&self, from: usize) -> Vec<String> {
        let targets = self.cms.targets().split_off(from).into_iter();
        targets.filter(|request| request.contains("/t1?") || request.contains("/new?")).collect()
    }

    /// The requests for drafts of stories with a topic since then.
    fn of_drafts(&self, from: usize) -> Vec<String> {
        let targets = self.cms.targets().split_off(from).into_iter();
        let is_of_drafts = |one: &String| {
            one.starts_with("/api/stories?status=draft&") && one.contains("[topic][documentId]")
        };
        targets.filter(is_of_drafts).collect()
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
fn stories_whose_drafts_have_an_unpublished_topic_may_move_when_it_is_published() {
    let fixture = Fixture::start("sports", None, STORIES);
    let before = fixture.cms.targets().len();
    let found = fixture.preview(TOPIC, "t1");
    let group = json!({"count": 0, "more": true, "first": []});
    let publish = &found["publish"];
    assert_eq!((&publish["dependents"], &publish["gone"]), (&group, &group));
    assert_eq!(found["unpublish"]["dependents"]["more"], false);
    assert_eq!(fixture.of_drafts(before).len(), 1, "{:?}", fixture.cms.targets());
}

#[test]
fn drafts_that_cannot_be_read_are_perhaps_more_dependents() {
    let fixture = Fixture::start("sports", Some("sport"), 1);
    fixture.drafts_fail.store(true, Ordering::Relaxed);
    let found = fixture.preview(TOPIC, "t1");
    let dependents = &found["publish"]["dependents"];
    assert_eq!((&dependents["count"], &dependents["more"]), (&json!(1), &json!(true)));
    assert_eq!(found["unpublish"]["dependents"]["more"], false);
}

#[test]
fn drafts_are_asked_for_where_a_relation_may_lead_to_the_document() {
    // Whether the schema is known, whether a story has the topic, and which document it is.
    for (knows_schema, published, uid, id, requests) in [
        (true, Some("sport"), TOPIC, "t1", 1),
        (false, Some("sport"), TOPIC, "t1", 1),
        // A story leads to a topic.
        (true, Some("sport"), STORY, "new", 0),
        // It may be one of another story.
        (false, Some("sport"), STORY, "new", 1),
        // The topic may be a component, through which Strapi has no filter for documents.
        (false, None, STORY, "new", 0),
    ] {
        let fixture = Fixture::with("sport", published, STORIES, knows_schema);
        let before = fixture.cms.targets().len();
        let publish = fixture.preview(uid, id)["publish"].clone();
        assert_eq!(publish["dependents"]["more"], false, "{knows_schema} {uid}");
        let found = fixture.of_drafts(before);
        assert_eq!(found.len(), requests, "{knows_schema} {published:?} {uid}: {found:?}");
    }
}

#[test]
fn drafts_are_asked_for_through_the_relations_that_paths_depend_on() {
    let page = "api::page.page";
    let ancestors = "template = \"/{*path}\"\nparams.path = { field = \"slug\", ancestors = \"parent\", depth = 2 }";
    for (rule, expected) in [
        (ancestors.to_owned(), vec!["[parent]"]),
        // No rule is for a parent of another kind, so the parent's own parent has to be looked at.
        (
            format!("{ancestors}\nwhere = {{ kind = \"leaf\" }}"),
            vec!["[parent]", "[parent][parent]", "[parent][parent][parent]"],
        ),
        ("template = \"/{slug}\"\ntitle = \"parent.slug\"".to_owned(), vec![]),
    ] {
        let cms = Cms::start(|request| match request.split_once('?') {
            None if request.ends_with("/api::page.page") => {
                let parent =
                    r#"{"type":"relation","relation":"manyToOne","target":"api::page.page"}"#;
                let schema =
                    format!(r#"{{"pluralName":"pages","attributes":{{"parent":{parent}}}}}"#);
                Script::json(200, &format!(r#"{{"data":{{"schema":{schema}}}}}"#))
            }
            Some(("/api/pages/p1", _)) => {
                one(r#","locale":"en","slug":"p","kind":"leaf","parent":null"#, "p1")
            }
            Some(("/api/pages", _)) => list(&[], 100, 0),
            _ => refusal(404, "NotFoundError", "{}"),
        });
        let service = site("main").rule_of(page, &rule).strapi(&cms).without_endpoints().start();
        data(&service, &target(page, "p1"));
        let targets = cms.targets();
        let filter = |target: &String| {
            let (_, rest) = target.split_once("?status=draft&")?.1.split_once("&filters")?;
            rest.split_once("[documentId][$eq]=p1&").map(|(relation, _)| relation.to_owned())
        };
        let mut found: Vec<String> = targets.iter().filter_map(filter).collect();
        found.sort();
        assert_eq!(found, expected, "{rule}: {targets:?}");
    }
}

#[test]
fn document_that_no_version_reads_has_no_rule() {
    let fixture = Fixture::start("sports", None, 0);
    let response = get(&fixture.service, &target(TOPIC, "t1"));
    let reason = &response.json()["error"]["details"]["reason"];
    assert_eq!((response.status, reason), (404, &json!("no_rule")));
}

#[test]
fn failing_cms_is_an_error() {
    let fixture = Fixture::start("sports", Some("sport"), 1);
    fixture.fails.store(true, Ordering::Relaxed);
    let response = get(&fixture.service, &target(TOPIC, "t1"));
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
}
