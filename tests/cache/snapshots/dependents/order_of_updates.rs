//! Changes do not wait for the long lists of others, and what a read could not find is found later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::many::{articles, ids, lists, shows, two};
use super::{Article, CATEGORY, Fixture};
use crate::snapshots::{paths, sitemap};
use crate::support::wait::until_so;

/// Holds the responses to requests that have all of these texts until the result is false.
fn hold(fixture: &Fixture, texts: &'static [&'static str]) -> Arc<AtomicBool> {
    let held = Arc::new(AtomicBool::new(true));
    let waits = Arc::clone(&held);
    fixture.intercept(move |target, script| {
        if texts.iter().all(|text| target.contains(text)) {
            until_so("the test lets it go", || !waits.load(Ordering::Relaxed));
        }
        script
    });
    held
}

#[test]
fn withdrawal_does_not_wait_for_the_list_of_another_document() {
    // More than a page of them read "c1", and fewer "c2".
    let ids: Vec<String> = ids().into_iter().take(180).collect();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let held = hold(&fixture, &["[$eq]=c1", "pageSize]=100"]);
    let new = articles(&ids, |n| match n {
        1..120 => ("c1", "new"),
        _ => ("", ""),
    });
    fixture.set(&new);
    fixture.send("entry.publish", CATEGORY, "c1");
    fixture.send("entry.unpublish", CATEGORY, "c2");
    shows(&fixture, &articles(&ids, |n| if n < 120 { ("c1", "old") } else { ("", "") }));
    until_so("the list", || lists(&fixture) > 0);
    held.store(false, Ordering::Relaxed);
    shows(&fixture, &new);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn version_that_gains_and_loses_a_relation_before_it_is_read_loses_its_url() {
    let fixture = Fixture::start(&[("a", "c0", "zero"), ("b", "c1", "one"), ("d", "c2", "two")]);
    let held = hold(&fixture, &["[$eq]=c0"]);
    fixture.send("entry.publish", CATEGORY, "c0");
    until_so("the list", || fixture.filtered().len() == 1);
    // Publishing "c2" has linked "b", whose draft had moved, and unpublishing it has removed the link.
    fixture.set(&[("a", "c0", "zero"), ("b", "", ""), ("d", "", "")]);
    fixture.send("entry.publish", CATEGORY, "c2");
    fixture.send("entry.unpublish", CATEGORY, "c2");
    // Two events have arrived when an event after them has.
    fixture.send("entry.publish", "plugin::cms.article", "a");
    until_so("the named one", || fixture.filtered().len() == 2);
    held.store(false, Ordering::Relaxed);
    fixture.lists(&["/zero/a"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn version_whose_draft_moves_away_between_two_publications_loses_its_url() {
    let fixture = Fixture::start(&[("a", "c0", "zero"), ("b", "c1", "one"), ("d", "c2", "two")]);
    let held = hold(&fixture, &["[$eq]=c0"]);
    fixture.send("entry.publish", CATEGORY, "c0");
    until_so("the list", || fixture.filtered().len() == 1);
    // Publishing "c2" has linked "b", and publishing it again, after the draft of "b" has moved away,
    // has removed the link.
    fixture.set(&[("a", "c0", "zero"), ("b", "", ""), ("d", "c2", "two")]);
    fixture.send("entry.publish", CATEGORY, "c2");
    fixture.send("entry.publish", CATEGORY, "c2");
    // Two events have arrived when an event after them has.
    fixture.send("entry.publish", "plugin::cms.article", "a");
    until_so("the named one", || fixture.filtered().len() == 2);
    held.store(false, Ordering::Relaxed);
    fixture.lists(&["/two/d", "/zero/a"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn version_loses_its_url_where_the_event_of_a_second_publication_arrives_after_the_list() {
    let fixture = Fixture::start(&[("a", "c0", "zero"), ("b", "c1", "one"), ("d", "c2", "two")]);
    // The second publication of "c2" has removed the link of "b" before the list.
    fixture.set(&[("a", "c0", "zero"), ("b", "", ""), ("d", "c2", "second")]);
    fixture.hint("entry.publish", CATEGORY, "c2");
    fixture.lists(&["/one/b", "/second/d", "/zero/a"]);
    fixture.hint("entry.publish", CATEGORY, "c2");
    fixture.lists(&["/second/d", "/zero/a"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn version_loses_its_url_where_the_event_of_an_unpublish_arrives_after_the_list() {
    let fixture = Fixture::start(&[("a", "c0", "zero"), ("b", "c1", "one"), ("d", "c2", "two")]);
    // Publishing "c2" has linked "b", and unpublishing it has removed the link before the list.
    fixture.set(&[("a", "c0", "zero"), ("b", "", ""), ("d", "", "")]);
    fixture.hint("entry.publish", CATEGORY, "c2");
    fixture.lists(&["/one/b", "/zero/a"]);
    // Only now its event arrives.
    fixture.hint("entry.unpublish", CATEGORY, "c2");
    fixture.lists(&["/zero/a"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn versions_that_take_the_place_of_others_and_are_withdrawn_before_the_follow_up_read_lose_their_urls()
 {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let swapped = articles(&ids, |n| match n {
        0 => ("", ""),
        200 => ("c1", "new"),
        n => two(n, "new"),
    });
    fixture.set(&swapped);
    fixture.hint("entry.publish", CATEGORY, "c1");
    until_so("an update from the snapshot", || {
        paths(&sitemap(&fixture.service)).iter().any(|path| path.starts_with("/new/"))
    });
    let without = articles(&ids, |n| if n < 120 || n == 200 { ("", "") } else { two(n, "") });
    fixture.set(&without);
    fixture.hint("entry.unpublish", CATEGORY, "c1");
    shows(&fixture, &without);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn change_does_not_wait_for_a_long_list_in_progress() {
    // More than a page of them read "c1", and fewer "c2".
    let ids: Vec<String> = ids().into_iter().take(180).collect();
    let fixture = Fixture::start(&articles(&ids, |n| two(n, "old")));
    let held = hold(&fixture, &["[$eq]=c1", "pageSize]=100"]);
    let first = articles(&ids, |n| if n == 0 { ("", "") } else { two(n, "new") });
    fixture.set(&first);
    fixture.hint("entry.publish", CATEGORY, "c1");
    until_so("the list", || lists(&fixture) > 0);
    let both = articles(&ids, |n| match n {
        0 => ("", ""),
        1..120 => ("c1", "new"),
        _ => ("c2", "three"),
    });
    fixture.set(&both);
    fixture.hint("entry.publish", CATEGORY, "c2");
    shows(&fixture, &articles(&ids, |n| if n < 120 { ("c1", "old") } else { ("c2", "three") }));
    held.store(false, Ordering::Relaxed);
    shows(&fixture, &both);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn long_list_is_read_once_beside_another_change() {
    let ids: Vec<String> = (0..480).map(|n| format!("d{n:05}")).collect();
    let own = |first: &'static str, second: &'static str| {
        articles(&ids, move |n| match n {
            0..120 => ("c1", first),
            120..165 => ("c2", second),
            _ => ("c3", "three"),
        })
    };
    // One document has lost the relation.
    let without = |first: &'static str, second: &'static str| {
        let mut own = own(first, second);
        (own[0].1, own[0].2) = ("", "");
        own
    };
    let fixture = Fixture::in_locales(&own("old", "two"), &["en", "de"]);
    let held = hold(&fixture, &["[$eq]=c1", "locale=de", "pageSize]=100"]);
    let expected = |en: &[Article<'_>], de: &[Article<'_>]| {
        let of = |locale, own: &[Article<'_>]| -> Vec<String> {
            own.iter()
                .filter(|one| !one.2.is_empty())
                .map(|(id, _, slug)| format!("/{locale}/{slug}/{id}"))
                .collect()
        };
        let mut all = [of("en", en), of("de", de)];
        for paths in &mut all {
            paths.sort();
        }
        all.concat()
    };
    let shows = |en: &[Article<'_>], de: &[Article<'_>]| {
        until_so("the list", || paths(&sitemap(&fixture.service)) == expected(en, de));
    };
    fixture.set(&without("new", "two"));
    fixture.hint("entry.publish", CATEGORY, "c1");
    // The other locale is held.
    shows(&without("new", "two"), &without("old", "two"));
    fixture.set(&without("new", "newer"));
    fixture.hint("entry.publish", CATEGORY, "c2");
    shows(&without("new", "newer"), &without("old", "newer"));
    held.store(false, Ordering::Relaxed);
    shows(&without("new", "newer"), &without("new", "newer"));
    let is_first = |target: &&String| {
        let own = ["[$eq]=c1", "locale=en", "pageSize]=100"];
        own.iter().all(|text| target.contains(text)) && !target.contains("[$gt]")
    };
    assert_eq!(fixture.filtered().iter().filter(is_first).count(), 1, "{:?}", fixture.filtered());
    assert_eq!(fixture.walks(), 2, "one for each locale");
}
