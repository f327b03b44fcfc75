use std::convert::Infallible;

use super::*;
use frontend_map_rules::{FieldPath, FieldValue};

/// The rows of a page, as a walk gets them.
type Items = Vec<Result<Document<'static>, BadItem>>;

fn projection() -> Projection {
    let paths = ["slug", "on", "parent.slug", "parent.parent.slug", "parent", "documentId"];
    Projection::new(paths.map(|path| FieldPath::parse(path).unwrap()).to_vec())
}

fn items(page: Page<'_>) -> Items {
    let mut items = Vec::new();
    let taken = page.each(usize::MAX, |item| {
        items.push(item.map(|document| document.clone().into_owned()));
        Ok::<(), Infallible>(())
    });
    taken.unwrap();
    items
}

/// All that a walk learns from a page.
fn facts(page: Page<'_>) -> (Option<EchoedPaging>, Vec<Option<String>>, Items) {
    let keys = page.keys().map(|key| key.map(str::to_owned)).collect();
    (page.echo, keys, items(page))
}

#[test]
fn list_is_rows_and_paging() {
    let json = r#" {"data":[{"documentId":"d","slug":"x"},{"id":1},null,["x"]],"meta":{"pagination":{"page":1,"pageSize":100,"pageCount":1,"total":3}}} "#;
    let projection = projection();
    let (echo, keys, items) = facts(Page::read(json, &projection).unwrap());
    assert_eq!(echo, Some(EchoedPaging { page_size: 100, total: Some(3) }));
    assert_eq!(keys, [Some("d".to_owned()), None, None, None]);
    assert_eq!(items.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, false]);
}

#[test]
fn row_that_cannot_be_read_costs_itself_alone() {
    let row = |id: &str, slug: &str| format!(r#"{{"documentId":"{id}","slug":"{slug}"}}"#);
    let rows = [row("a", "x"), row("b", r"\ud800"), "7".to_owned(), row("c", r"\u00e9")];
    let json = format!(r#"{{"data":[{}],"meta":{{}}}}"#, rows.join(","));
    let projection = projection();
    let page = Page::read(&json, &projection).unwrap();
    assert_eq!(page.keys().collect::<Vec<_>>(), [Some("a"), Some("b"), None, Some("c")]);
    let items = items(page);
    let slug = FieldPath::parse("slug").unwrap();
    let slugs = items.iter().map(|item| item.as_ref().map(|found| found.field(&slug).clone()));
    let text = |text: &'static str| FieldValue::Text(text.into());
    let expected = [Ok(text("x")), Ok(FieldValue::NotText), Err(&BadItem), Ok(text("é"))];
    assert_eq!(slugs.collect::<Vec<_>>(), expected);
}

#[test]
fn other_shapes_are_no_list() {
    for json in [
        "",
        "null",
        "[]",
        r#""x""#,
        "{}",
        r#"{"meta":{}}"#,
        r#"{"data":null}"#,
        r#"{"data":{}}"#,
        r#"{"data":"x"}"#,
        r"[[],{}]",
        "\u{feff}{\"data\":[]}",
        r#"{"data":[]}{"data":[]}"#,
        r#"{"data":[],"data":[]}"#,
        r#"{"data":[],"meta":null,"meta":null}"#,
        r#"{"data":[1,]}"#,
    ] {
        assert!(Page::read(json, &projection()).is_err(), "{json}");
    }
}

#[test]
fn paging_without_a_count_has_no_total() {
    let json = r#"{"data":[],"meta":{"pagination":{"page":1,"pageSize":100}}}"#;
    let echo = Page::read(json, &projection()).unwrap().echo;
    assert_eq!(echo, Some(EchoedPaging { page_size: 100, total: None }));
}

#[test]
fn other_paging_is_no_echo() {
    let projection = projection();
    for meta in [
        "null",
        "[]",
        "{}",
        r#"{"pagination":null}"#,
        r#"{"pagination":[1,100,1]}"#,
        r#"{"pagination":{"page":2,"pageSize":100,"total":3}}"#,
        r#"{"pagination":{"start":0,"limit":100,"total":3}}"#,
        r#"{"pagination":{"page":1,"total":3}}"#,
        r#"{"pagination":{"page":1,"pageSize":100,"total":-1}}"#,
        r#"{"pagination":{"page":1,"pageSize":"100","total":3}}"#,
    ] {
        let json = format!(r#"{{"data":[],"meta":{meta}}}"#);
        assert_eq!(Page::read(&json, &projection).unwrap().echo, None, "{meta}");
    }
    assert_eq!(Page::read(r#"{"data":[]}"#, &projection).unwrap().echo, None);
}
