//! A document that more than a page of others read: they are read locale by locale, and until then
//! their paths stand.

use super::{CATEGORY, Fixture};
use crate::snapshots::{paths, sitemap};
use crate::support::wait::until_so;

const ARTICLE: &str = "plugin::cms.article";

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
fn renamed_document_updates_its_dependents_by_one_list_without_a_walk() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let new = articles(&ids, |n| two(n, "new"));
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &new);
    assert!((2..=3).contains(&lists(&fixture)), "{:?}", fixture.filtered());
    assert_eq!(fixture.walks(), 1);
}

/// The events about two articles are lost: one has left the category, another one has come. Then the
/// category is renamed.
#[test]
fn article_whose_event_was_lost_gets_no_path_that_it_never_had() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let new = articles(&ids, |n| match n {
        0 => ("c2", "two"),
        200 => ("c1", "new"),
        n => two(n, "new"),
    });
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c1");
    let expected = expected(&new);
    until_so("the list", || {
        let paths = paths(&sitemap(&fixture.service));
        assert!(!paths.contains(&"/new/d00000".to_owned()), "it was never there");
        paths == expected
    });
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn withdrawn_document_takes_the_urls_of_its_dependents_and_returns_them() {
    let ids = ids();
    let before = articles(&ids, |n| two(n, "old"));
    let fixture = Fixture::start(&before);
    let without = articles(&ids, |n| if n < 120 { ("", "") } else { two(n, "") });
    fixture.set(&without);
    fixture.hint("entry.unpublish", CATEGORY, "c1");
    shows(&fixture, &without);
    let by_id = |target: &String| target.contains("filters[documentId][$in]");
    assert!(!fixture.filtered().iter().any(by_id), "the list of those without one has them all");
    fixture.set(&before);
    fixture.hint("entry.publish", CATEGORY, "c1");
    shows(&fixture, &before);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn dependents_of_most_documents_are_a_list_too() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let new = articles(&ids, |n| if n < 120 { ("c1", "old") } else { ("c2", "new") });
    fixture.set(&new);
    fixture.hint("entry.publish", CATEGORY, "c2");
    shows(&fixture, &new);
    assert!((6..=8).contains(&lists(&fixture)), "{:?}", fixture.filtered());
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
