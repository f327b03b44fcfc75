//! Events about types of which it is not known whether a relation leads to them. The token may not
//! read the schema.

use super::{CATEGORY, Fixture};
use crate::support::content::selected;
use crate::support::front_of_cms::list;
use crate::support::wait::until_so;

const ARTICLE: &str = "plugin::cms.article";
const TAG: &str = "api::tag.tag";

/// From now on the token may read the types at these endpoints, which have these documents.
fn permit(fixture: &Fixture, types: &'static [(&'static str, &'static [&'static str])]) {
    fixture.intercept(move |target, script| {
        let is_at = |path: &str| target.starts_with(&format!("/api/{path}?"));
        let Some((_, own)) = types.iter().find(|(path, _)| is_at(path)) else { return script };
        let (_, query) = target.split_once('?').expect("a query");
        let rows: Vec<(&str, &str)> = own
            .iter()
            .filter(|id| selected(query).iter().any(|selected| selected == *id))
            .map(|id| (*id, r#","locale":"en","publishedAt":"2026-01-01""#))
            .collect();
        list(&rows, 100, rows.len())
    });
}

fn requests(fixture: &Fixture, path: &str) -> usize {
    fixture.cms.targets().iter().filter(|target| target.contains(path)).count()
}

#[test]
fn document_without_dependents_is_listed_again_when_its_type_cannot_be_read() {
    let fixture = Fixture::start(&[("a", "c1", "one"), ("b", "c2", "two")]);
    fixture.hint("entry.publish", CATEGORY, "c3");
    until_so("the list", || fixture.filtered().len() == 1);
    // An editor adds "b" on the side of the category, without an event about "b".
    fixture.set(&[("a", "c1", "one"), ("b", "c3", "three")]);
    fixture.hint("entry.publish", CATEGORY, "c3");
    fixture.lists(&["/one/a", "/three/b"]);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn each_event_about_a_type_that_cannot_be_read_causes_one_list_of_dependents() {
    let fixture = Fixture::start(&[("a", "c1", "one")]);
    let lists = |id: &str| {
        let wanted = format!("filters[category][documentId][$eq]={id}");
        fixture.filtered().iter().filter(|target| target.contains(&wanted)).count()
    };
    for (id, before) in [("t1", 0), ("t2", 0), ("t1", 1)] {
        fixture.hint("entry.publish", TAG, id);
        until_so(id, || lists(id) == before + 1);
    }
    // The next one comes behind those before it.
    fixture.set(&[("a", "c1", "two")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    fixture.lists(&["/two/a"]);
    assert_eq!((lists("t1"), lists("t2"), lists("c1")), (2, 1, 1));
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn type_is_known_behind_a_relation_from_the_documents_that_the_copy_reads() {
    let fixture = Fixture::start(&[("a", "c1", "one"), ("b", "c2", "two")]);
    permit(&fixture, &[("categories", &["c1", "c2", "c3"]), ("tags", &["t1"])]);
    fixture.hint("entry.publish", CATEGORY, "c3");
    until_so("the list", || fixture.filtered().len() == 1);
    assert_eq!(requests(&fixture, "/api/categories?"), 1);
    fixture.hint("entry.publish", TAG, "t1");
    fixture.set(&[("a", "c1", "one"), ("b", "c3", "three")]);
    fixture.hint("entry.publish", CATEGORY, "c3");
    fixture.lists(&["/one/a", "/three/b"]);
    assert_eq!(requests(&fixture, "/api/categories?"), 1);
    assert_eq!(requests(&fixture, "/api/tags?"), 0);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn type_that_is_not_behind_a_relation_costs_one_request_until_the_document_behind_it_has_gone() {
    let fixture = Fixture::start(&[("a", "c1", "one")]);
    permit(&fixture, &[("tags", &["t1", "t2", "t3"])]);
    fixture.hint("entry.publish", TAG, "t1");
    until_so("a request", || requests(&fixture, "/api/tags?") == 1);
    fixture.hint("entry.publish", TAG, "t2");
    fixture.hint("entry.delete", TAG, "t1");
    // Its own type is checked as well, behind those before it.
    fixture.hint("entry.publish", ARTICLE, "a");
    let is_check = |target: &String| target.contains("filters[documentId][$in]");
    until_so("a check", || fixture.filtered().iter().any(is_check));
    assert_eq!(requests(&fixture, "/api/tags?"), 1);
    assert!(fixture.filtered().iter().all(|target| !target.contains("filters[category]")));
    fixture.set(&[("a", "c2", "two")]);
    fixture.hint("entry.publish", ARTICLE, "a");
    fixture.lists(&["/two/a"]);
    // What was found out was about "c1".
    fixture.hint("entry.publish", TAG, "t3");
    until_so("another request", || requests(&fixture, "/api/tags?") == 2);
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn endpoint_without_the_changed_document_proves_nothing() {
    let fixture = Fixture::start(&[("a", "c1", "one"), ("b", "c2", "two")]);
    // What the name of the type suggests is the endpoint of another one.
    permit(&fixture, &[("categories", &["x"])]);
    fixture.hint("entry.publish", CATEGORY, "c3");
    until_so("the list", || fixture.filtered().len() == 1);
    fixture.set(&[("a", "c1", "one"), ("b", "c3", "three")]);
    fixture.hint("entry.publish", CATEGORY, "c3");
    fixture.lists(&["/one/a", "/three/b"]);
    assert_eq!(requests(&fixture, "/api/categories?"), 1);
    assert_eq!(fixture.walks(), 1);
}
