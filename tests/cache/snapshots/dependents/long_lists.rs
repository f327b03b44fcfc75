//! Lists of dependents that do not fit on a page, while the CMS fails or more webhooks arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{CATEGORY, Fixture};
use crate::snapshots::{paths, sitemap};
use crate::support::script::Script;
use crate::support::wait::until_so;

/// 900 articles in six categories of 150.
fn ids() -> Vec<String> {
    (0..900).map(|n| format!("d{n:05}")).collect()
}

const CATEGORIES: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];

fn articles<'a>(
    ids: &'a [String],
    slugs: [&'static str; 6],
) -> Vec<(&'a str, &'static str, &'static str)> {
    // Without a slug, an article has no category.
    let category = |n: usize| if slugs[n].is_empty() { "" } else { CATEGORIES[n] };
    let with = |(n, id): (usize, &'a String)| (&**id, category(n % 6), slugs[n % 6]);
    ids.iter().enumerate().map(with).collect()
}

const OLD: [&str; 6] = ["s0", "s1", "s2", "s3", "s4", "s5"];

fn shows(fixture: &Fixture, articles: &[(&str, &'static str, &'static str)]) {
    let with_url = articles.iter().filter(|(_, _, slug)| !slug.is_empty());
    let mut expected: Vec<String> = with_url.map(|(id, _, slug)| format!("/{slug}/{id}")).collect();
    expected.sort();
    until_so("the list", || paths(&sitemap(&fixture.service)) == expected);
}

fn first_pages(fixture: &Fixture) -> usize {
    let is_first = |target: &&String| {
        target.contains("filters[category]")
            && target.contains("locale=en")
            && target.contains("pageSize]=100")
            && !target.contains("[$gt]")
    };
    fixture.filtered().iter().filter(is_first).count()
}

#[test]
fn page_that_fails_is_requested_again_and_the_list_goes_on() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, OLD));
    let mut new = articles(&ids, ["new", "s1", "s2", "s3", "s4", "s5"]);
    // So the number differs from the known one.
    (new[0].1, new[0].2) = ("", "");
    fixture.set(&new);
    let failures = Arc::new(AtomicUsize::new(0));
    let failed = Arc::clone(&failures);
    fixture.intercept(move |target, script| {
        let is_second = target.contains("filters[category]") && target.contains("[$gt]");
        // Each request is repeated once.
        if is_second && failed.fetch_add(1, Ordering::Relaxed) < 4 {
            return Script::reset();
        }
        script
    });
    fixture.hint("entry.publish", CATEGORY, "c0");
    shows(&fixture, &new);
    // After these failures a walk comes, too, and may be first.
    until_so("the page", || failures.load(Ordering::Relaxed) > 4);
    assert_eq!(first_pages(&fixture), 1, "{:?}", fixture.filtered());
}

#[test]
fn several_documents_that_are_read_by_a_quarter_together_cause_no_walk() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, OLD));
    let mut new = articles(&ids, ["n0", "n1", "n2", "s3", "s4", "s5"]);
    for one in &mut new[..3] {
        (one.1, one.2) = ("", "");
    }
    fixture.set(&new);
    for id in ["c0", "c1", "c2"] {
        fixture.send("entry.publish", CATEGORY, id);
    }
    shows(&fixture, &new);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn unknown_dependents_of_several_documents_are_listed_in_smaller_groups() {
    let ids = ids();
    let fixture = Fixture::start(&articles(&ids, OLD));
    let empty = articles(&ids, ["", "", "s2", "s3", "s4", "s5"]);
    fixture.set(&empty);
    fixture.send("entry.unpublish", CATEGORY, "c0");
    fixture.send("entry.unpublish", CATEGORY, "c1");
    shows(&fixture, &empty);
    let new = articles(&ids, ["n0", "n1", "s2", "s3", "s4", "s5"]);
    fixture.set(&new);
    fixture.send("entry.publish", CATEGORY, "c0");
    fixture.send("entry.publish", CATEGORY, "c1");
    shows(&fixture, &new);
    assert_eq!(fixture.walks(), 1);
}
