//! D34: a list that loses most of its entries without an event that says so is walked again before
//! it is served.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::hook::{hint, with_secret};
use super::{paths, sitemap, walks};
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::list;
use crate::support::hook::post_body;
use crate::support::wait::until_so;

const AGAIN: &str = "list lost most of its URLs; reading again to confirm";

/// Leaves these many documents of each locale.
fn keep(content: &Content, kept: usize, of: usize) {
    (kept..of).for_each(|n| content.unpublish("en", &format!("d{n:05}")));
}

#[test]
fn list_that_collapses_in_one_walk_alone_is_never_served() {
    let content = Content::many(&["en"], 120);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(paths(&sitemap(&service)).len(), 120);
    // The walk after the webhook finds nothing, once: a page and the totals.
    let first = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&first);
    content.fail(move |target| {
        let query = Query::parse(target)?;
        let begins = query.after.is_empty() && query.size > 1;
        let walk = asked.fetch_add(usize::from(begins), Ordering::SeqCst) + usize::from(begins);
        (walk == 1).then(|| list(&[], query.size, 0))
    });
    hint(&service);
    let mut built = 0;
    until_so("the refresh", || {
        assert_eq!(paths(&sitemap(&service)).len(), 120, "at any time");
        built = service.log().matches("a snapshot is built").count();
        built == 2
    });
    assert_eq!(walks(&cms, "en"), 3, "the first, the refresh, and the one that confirms it");
    assert!(service.logs(AGAIN) && service.logs("does not confirm the list"));
}

#[test]
fn list_that_has_collapsed_is_served_after_a_second_walk() {
    for (before, after) in [(120, 59), (120, 0), (3, 0)] {
        let content = Content::many(&["en"], before);
        let cms = content.start();
        let service = with_secret(&cms).start();
        assert_eq!(paths(&sitemap(&service)).len(), before);
        keep(&content, after, before);
        hint(&service);
        until_so("the shorter list", || paths(&sitemap(&service)).len() == after);
        assert_eq!(walks(&cms, "en"), 3, "{before} to {after}");
        assert!(service.logs(AGAIN) && service.logs("confirms the list"));
    }
}

#[test]
fn list_that_loses_less_is_served_after_one_walk() {
    for (before, after) in [(120, 60), (99, 1), (3, 1)] {
        let content = Content::many(&["en"], before);
        let cms = content.start();
        let service = with_secret(&cms).start();
        assert_eq!(paths(&sitemap(&service)).len(), before);
        keep(&content, after, before);
        hint(&service);
        until_so("the shorter list", || paths(&sitemap(&service)).len() == after);
        assert_eq!(walks(&cms, "en"), 2, "{before} to {after}");
        assert!(!service.log().contains(AGAIN));
    }
}

#[test]
fn event_about_a_withdrawal_explains_a_list_that_collapses() {
    for event in ["entry.delete", "entry.unpublish"] {
        let content = Content::many(&["en"], 120);
        let cms = content.start();
        let service = with_secret(&cms).start();
        assert_eq!(paths(&sitemap(&service)).len(), 120);
        keep(&content, 0, 120);
        let body = format!(r#"{{"event":"{event}","model":"article"}}"#);
        assert!(post_body(&service, body.as_bytes()).starts_with("HTTP/1.1 202 "));
        until_so("the empty list", || paths(&sitemap(&service)).is_empty());
        assert_eq!(walks(&cms, "en"), 2, "{event}");
        assert!(!service.log().contains(AGAIN));
    }
}

#[test]
fn deleted_draft_explains_no_list_that_collapses() {
    let content = Content::many(&["en"], 120);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(paths(&sitemap(&service)).len(), 120);
    keep(&content, 0, 120);
    let body = br#"{"event":"entry.delete","entry":{"publishedAt":null}}"#;
    assert!(post_body(&service, body).starts_with("HTTP/1.1 202 "));
    until_so("the empty list", || paths(&sitemap(&service)).is_empty());
    assert_eq!(walks(&cms, "en"), 3);
    let log = service.log();
    assert!(log.contains(AGAIN) && log.contains("confirms the list"), "{log}");
}
