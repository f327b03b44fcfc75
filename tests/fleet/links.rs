//! Links in content, read by the leader for all instances.

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::articles;
use crate::support::hook::{SECRET, post_body};
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::wait::until_so;

const LINKS: &str = "/api/links?site=main";

fn start(cms: &Cms, redis: &Redis) -> Service {
    let fields = "[[site.links]]\ncontent_type = \"plugin::cms.article\"\nfields = [\"body\"]\n";
    articles()
        .resolve("documents")
        .with(fields)
        .strapi(cms)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "t")
        .env("FRONTEND_MAP__SHARED__URL", &redis.url())
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .start()
}

fn put(content: &Content, id: &str, body: &str) {
    content.put("en", id, &format!(r#","slug":"{id}","body":"{body}""#));
}

fn send(service: &Service, method: &str) -> http::Response {
    http::send(service.addr(), method, LINKS, &[("Authorization", "Bearer t")])
}

/// Address and verdict of each link.
fn verdicts(service: &Service) -> Vec<(String, String)> {
    let json = send(service, "GET").json();
    let rows = json["data"]["links"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.iter().map(|row| (text(&row["address"]), text(&row["verdict"]))).collect()
}

#[track_caller]
fn until_all_have(all: &[Service], expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|(a, v)| ((*a).to_owned(), (*v).to_owned())).collect();
    for service in all {
        until_so(&format!("{expected:?}"), || verdicts(service) == expected);
    }
}

/// The requests for all documents with their content.
fn scans(cms: &Cms) -> usize {
    let is_first_page =
        |target: &String| target.contains("=body") && !target.contains("documentId]");
    cms.targets().iter().filter(|target| is_first_page(target)).count()
}

#[test]
fn leader_reads_the_content_and_all_instances_have_its_links() {
    let content = Content::default();
    put(&content, "a", "[b](/en/articles/b)");
    let (cms, redis) = (content.start(), Redis::start());
    let mut all = vec![start(&cms, &redis), start(&cms, &redis)];
    until_all_have(&all, &[("/en/articles/b", "no_such_page")]);
    assert_eq!(scans(&cms), 1, "one scan for both");
    // An edit is read by each of them.
    put(&content, "b", "[self](/en/articles/b)");
    let event = r#"{"event":"entry.publish","createdAt":"2026-01-01T00:00:00.000Z","model":"article","uid":"plugin::cms.article","entry":{"id":7,"documentId":"b","locale":"en"}}"#;
    assert!(post_body(&all[1], event.as_bytes()).starts_with("HTTP/1.1 202 "));
    until_all_have(&all, &[("/en/articles/b", "ok"), ("/en/articles/b", "ok")]);
    assert_eq!(scans(&cms), 1);
    // A new instance adopts what the leader has, with what was edited since.
    all.push(start(&cms, &redis));
    until_all_have(&all, &[("/en/articles/b", "ok"), ("/en/articles/b", "ok")]);
    assert_eq!(scans(&cms), 1);
    // Any instance lets the leader read.
    put(&content, "b", "");
    for service in &all {
        let before = scans(&cms);
        assert_eq!(send(service, "POST").status, 202);
        until_so("a scan", || scans(&cms) == before + 1);
    }
}
