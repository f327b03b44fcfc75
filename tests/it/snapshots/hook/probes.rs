//! Probes of the CMS for changes that no webhook has announced.

use super::lost_events::{UID, event, lists, put, rarely, settings, start};
use crate::snapshots::{paths, sitemap, walks};
use crate::support::content::Content;
use crate::support::front_of_cms::refusal;
use crate::support::service::Setup;
use crate::support::wait::until_so;

#[test]
fn probe_finds_a_change_without_an_event_and_reads_its_document_alone() {
    let content = Content::default();
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        put(&content, id, id, u32::try_from(n).expect("few"));
    }
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a", "/en/articles/b", "/en/articles/c"]);
    assert_eq!(cms.probes(), 0, "walks are as frequent as the settings say");
    event(&service, UID, "a");
    until_so("the first probe", || cms.probes() > 0);
    put(&content, "b", "renamed", 20);
    lists(&service, &["/en/articles/a", "/en/articles/c", "/en/articles/renamed"]);
    assert!(service.logs("documents have changed without a webhook"));
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn probe_finds_an_import_with_old_dates_and_the_type_is_walked() {
    let content = Content::default();
    put(&content, "a", "a", 30);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a"]);
    event(&service, UID, "a");
    until_so("the first probe", || cms.probes() > 0);
    for n in 0..30 {
        put(&content, &format!("i{n}"), &format!("i{n}"), 1);
    }
    until_so("the list", || paths(&sitemap(&service)).len() == 31);
    assert!(service.logs("a content type has changed without a webhook"));
    assert_eq!(walks(&cms, "en"), 2);
}

#[test]
fn schema_that_fails_is_requested_once_a_minute() {
    let content = Content::default();
    content.put("en", "a", r#","slug":"a","category":{"documentId":"c","slug":"c"}"#);
    let is_schema = |target: &str| target.contains("content-type-builder");
    content
        .fail(move |target| is_schema(target).then(|| refusal(500, "InternalServerError", "{}")));
    let cms = content.start();
    let rule = format!(
        "[[site.rule]]\ncontent_type = \"{UID}\"\ntemplate = \"/{{category.slug}}/{{slug}}\"\n"
    );
    let service = rarely(Setup::new(&settings(&cms, &rule))).env("RUST_LOG", "debug").start();
    lists(&service, &["/c/a"]);
    event(&service, UID, "a");
    until_so("the second probe, after half a minute", || cms.probes() > 1);
    let requests = cms.targets().iter().filter(|target| is_schema(target)).count();
    // Those of the probe and of the update of the event, each with its retry.
    assert!((1..=4).contains(&requests), "{requests} requests");
}
