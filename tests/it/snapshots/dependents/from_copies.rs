//! A document that more than a page of others read: they are updated from the copy, and read later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{CATEGORY, Fixture};
use crate::snapshots::{paths, sitemap};
use crate::support::wait::until_so;

const ARTICLE: &str = "plugin::cms.article";
const UPDATED: &str = "documents were updated from the copy";

/// 120 articles of the category `c1`, and 600 of `c2`.
pub(super) fn ids() -> Vec<String> {
    (0..720).map(|n| format!("d{n:05}")).collect()
}

pub(super) fn articles(
    ids: &[String],
    of: impl Fn(usize) -> (&'static str, &'static str),
) -> Vec<(&str, &'static str, &'static str)> {
    ids.iter().enumerate().map(|(n, id)| (&**id, of(n).0, of(n).1)).collect()
}

pub(super) fn two(n: usize, slug: &'static str) -> (&'static str, &'static str) {
    if n < 120 { ("c1", slug) } else { ("c2", "two") }
}

fn expected(articles: &[(&str, &'static str, &'static str)]) -> Vec<String> {
    let with_url = articles.iter().filter(|(_, _, slug)| !slug.is_empty());
    let mut paths: Vec<String> = with_url.map(|(id, _, slug)| format!("/{slug}/{id}")).collect();
    paths.sort();
    paths
}

pub(super) fn shows(fixture: &Fixture, articles: &[(&str, &'static str, &'static str)]) {
    let expected = expected(articles);
    until_so("the list", || paths(&sitemap(&fixture.service)) == expected);
}

pub(super) fn lists(fixture: &Fixture) -> usize {
    fixture.filtered().iter().filter(|target| target.contains("pageSize]=100")).count()
}

#[test]
fn renamed_document_updates_its_dependents_with_one_request_and_reads_them_later() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let new = articles(&ids, |n| two(n, "new"));
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &new);
    let filtered = fixture.filtered();
    assert_eq!(filtered.len(), 1, "{filtered:?}");
    assert!(filtered[0].contains("pageSize]=1&"), "{filtered:?}");
    until_so("the log line", || fixture.logged(UPDATED) == 1);
    until_so("the follow-up read", || lists(&fixture) > 0);
    until_so("its last page", || lists(&fixture) >= 2);
    shows(&fixture, &new);
    assert_eq!(fixture.walks(), 1);
}

/// The category is renamed, and one document has left it while another one has come: what the list
/// has once that is found. The rename is in the copy already.
fn rename_while_one_leaves_and_one_comes(
    ids: &[String],
) -> (Fixture, Vec<(&str, &'static str, &'static str)>) {
    let fixture = Fixture::start(&articles(ids, |n| two(n, "old")));
    // The drafts of these two had moved, when the category was published.
    let new = articles(ids, |n| match n {
        0 => ("", ""),
        200 => ("c1", "new"),
        n => two(n, "new"),
    });
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c1");
    until_so("an update from the copy", || fixture.logged(UPDATED) == 1);
    (fixture, new)
}

#[test]
fn document_that_gained_the_relation_while_another_one_lost_it_is_found_by_the_follow_up_read() {
    let ids = ids();
    let (fixture, new) = rename_while_one_leaves_and_one_comes(&ids);
    shows(&fixture, &new);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn events_of_other_types_do_not_delay_the_follow_up_read() {
    let ids = ids();
    let (fixture, new) = rename_while_one_leaves_and_one_comes(&ids);
    let expected = expected(&new);
    until_so("the list", || {
        fixture.send("entry.publish", "plugin::cms.tag", "t1");
        paths(&sitemap(&fixture.service)) == expected
    });
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn withdrawal_soon_after_a_change_is_an_update_from_the_copy() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let new = articles(&ids, |n| two(n, "new"));
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &new);
    let without = articles(&ids, |n| if n < 120 { ("", "") } else { two(n, "") });
    fixture.set(&without);
    fixture.hint("entry.unpublish", CATEGORY, "c1");
    shows(&fixture, &without);
    until_so("the log line", || fixture.logged(UPDATED) == 2);
    assert_eq!(lists(&fixture), 0, "{:?}", fixture.filtered());
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn dependents_of_another_number_are_listed_at_once() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let new = articles(&ids, |n| if n == 0 { ("", "") } else { two(n, "new") });
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &new);
    assert_eq!(fixture.logged(UPDATED), 0);
    assert!(lists(&fixture) > 1, "{:?}", fixture.filtered());
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn withdrawn_document_takes_the_urls_of_its_dependents_at_once_and_returns_them() {
    let ids = ids();
    let before = articles(&ids, |n| two(n, "old"));
    let fixture = Fixture::start(&before);
    let without = articles(&ids, |n| if n < 120 { ("", "") } else { two(n, "") });
    fixture.set(&without);
    fixture.hint("entry.unpublish", CATEGORY, "c1");
    shows(&fixture, &without);
    until_so("the log line", || fixture.logged(UPDATED) == 1);
    assert_eq!(lists(&fixture), 0, "{:?}", fixture.filtered());
    fixture.set(&before);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &before);
    // It is published again: the copy knows the rest of the paths.
    until_so("the log line", || fixture.logged(UPDATED) == 2);
    until_so("the follow-up read", || lists(&fixture) > 0);
    shows(&fixture, &before);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn article_that_was_renamed_right_before_its_category_keeps_its_new_name() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let mut new = articles(&ids, |n| two(n, "new"));
    // It has left for another category, and another one has come.
    new[5] = (&ids[5], "c2", "two");
    new[300] = (&ids[300], "c1", "new");
    fixture.set(&new);
    fixture.send("entry.publish", ARTICLE, &ids[5]);
    fixture.send("entry.publish", ARTICLE, &ids[300]);
    fixture.send("entry.publish", CATEGORY, "c1");
    shows(&fixture, &new);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn follow_up_read_in_progress_does_not_delay_another_change() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let new = articles(&ids, |n| two(n, "new"));
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &new);
    let held = Arc::new(AtomicBool::new(true));
    let waits = Arc::clone(&held);
    fixture.intercept(move |target, script| {
        if target.contains("filters[category]") && target.contains("pageSize]=100") {
            until_so("the test lets it go", || !waits.load(Ordering::Relaxed));
        }
        script
    });
    until_so("the follow-up read", || lists(&fixture) > 0);
    let newest = articles(&ids, |n| two(n, "newest"));
    fixture.set(&newest);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &newest);
    held.store(false, Ordering::Relaxed);
    let before = lists(&fixture);
    until_so("another follow-up read", || lists(&fixture) > before);
    shows(&fixture, &newest);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn withdrawal_needs_no_follow_up_read() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    fixture.set(&articles(&ids, |n| if n < 120 { ("", "") } else { two(n, "") }));
    fixture.hint("entry.unpublish", CATEGORY, "c1");
    until_so("an update from the copy", || fixture.logged(UPDATED) == 1);
    let new = articles(&ids, |n| if n < 120 { ("", "") } else { ("c2", "new") });
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c2");
    shows(&fixture, &new);
    // The one of the withdrawal would have been due earlier.
    until_so("the follow-up read of the other document", || lists(&fixture) > 0);
    let filtered = fixture.filtered();
    assert!(
        filtered.iter().all(|target| !target.contains("filters[documentId][$in]")),
        "{filtered:?}"
    );
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn follow_up_read_of_most_documents_is_a_list() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    // One of 600 has left for the other category, and another one has come.
    let new = articles(&ids, |n| match n {
        0 => ("c2", "new"),
        200 => ("c1", "old"),
        n if n < 120 => ("c1", "old"),
        _ => ("c2", "new"),
    });
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c2");
    shows(&fixture, &new);
    until_so("the log line", || fixture.logged(UPDATED) == 1);
    assert_eq!(fixture.walks(), 1);
}
