use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use frontend_map_rules::FieldPath;

/// The rows of a page, as a walk gets them.
type Items = Vec<Result<Document<'static>, BadItem>>;

fn projection() -> Projection {
    let paths = ["slug", "on", "parent.slug", "parent.parent.slug", "parent", "documentId"];
    Projection::new(paths.map(|path| FieldPath::parse(path).unwrap()).to_vec())
}

fn items(page: Page<'_>) -> Items {
    let mut items = Vec::new();
    let taken = page.each(usize::MAX, |item| {
        items.push(item.map(|document| document.clone().into_owned()).map_err(BadItem::clone));
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
    let text = |text: &'static str| frontend_map_rules::FieldValue::Text(text.into());
    let bad = |id: Option<&str>| BadItem { id: id.map(str::to_owned) };
    let [b, seven] = [bad(Some("b")), bad(None)];
    let expected = [Ok(text("x")), Err(&b), Err(&seven), Ok(text("é"))];
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
        assert!(Page::read(json, &projection()).is_none(), "{json}");
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

/// Text of JSON values, some of which `serde_json` accepts only where it skips them.
fn value() -> impl Strategy<Value = String> {
    const PLAIN: [&str; 18] = [
        "null",
        "true",
        "0",
        "-7",
        "1.5",
        "-0",
        "1e999",
        "18446744073709551615",
        "18446744073709551616",
        r#""x""#,
        r#""""#,
        r#""\u00e9\n""#,
        r#""\ud800""#,
        r#""é""#,
        r#""a\/b""#,
        "[]",
        "{}",
        r#"{"\ud800":1}"#,
    ];
    let plain = prop::sample::select(&PLAIN[..]).prop_map(str::to_owned);
    // Around the depth that `serde_json` takes.
    let deep = (120..132_usize).prop_map(|n| format!("{}{}", "[".repeat(n), "]".repeat(n)));
    let leaf = prop_oneof![20 => plain, 1 => deep];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key(), inner), 0..4).prop_map(|members| object_of(&members)),
        ]
    })
}

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "slug",
        "slug",
        "on",
        "parent",
        "parent",
        "documentId",
        "locale",
        "publishedAt",
        "id",
        r"sl\u0075g",
        r"\ud800",
    ])
}

fn object_of(members: &[(&str, String)]) -> String {
    let members = members.iter().map(|(key, value)| format!(r#""{key}":{value}"#));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// A document, or an item that maybe is none.
fn row() -> impl Strategy<Value = String> {
    let members = || prop::collection::vec((key(), value()), 0..6);
    let document = ("[a-c]{1,3}", members()).prop_map(|(id, mut members)| {
        members.insert(0, ("documentId", format!(r#""{id}""#)));
        object_of(&members)
    });
    prop_oneof![6 => document, 1 => members().prop_map(|members| object_of(&members)), 1 => value()]
}

fn page() -> impl Strategy<Value = String> {
    let meta = prop::sample::select(vec![
        "",
        r#","meta":{"pagination":{"page":1,"pageSize":100,"total":3}}"#,
        r#","meta":null"#,
        r#","meta":7,"more":["x"]"#,
        r#","data":[]"#,
    ]);
    (prop::collection::vec(row(), 0..5), meta)
        .prop_map(|(rows, meta)| format!(r#"{{"data":[{}]{meta}}}"#, rows.join(",")))
}

/// Pages in which some characters are others, or missing.
fn mutated() -> impl Strategy<Value = String> {
    let other = prop::sample::select(vec!["", "\"", "\\", "{", "}", "[", ",", ":", "0", "é", "\n"]);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), other), 0..3);
    (page(), changes).prop_map(|(page, changes)| {
        let mut parts: Vec<String> = page.chars().map(String::from).collect();
        for (at, other) in changes {
            *at.get_mut(&mut parts) = other.to_owned();
        }
        parts.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn one_pass_reads_what_two_passes_read(json in mutated()) {
        let projection = projection();
        let two = Page::row_by_row(&json, &projection).map(facts);
        if let Some(one) = Page::single_pass(&json, &projection) {
            prop_assert_eq!(Some(facts(one)), two.clone());
        }
        prop_assert_eq!(Page::read(&json, &projection).map(facts), two);
    }

    #[test]
    fn one_pass_is_enough_for_documents(ids in prop::collection::vec("[a-z]{1,5}", 0..200)) {
        let row = |id: &String| format!(r#"{{"documentId":"{id}","slug":null,"x":[{{}}],"on":"\n"}}"#);
        let rows: Vec<String> = ids.iter().map(row).collect();
        let json = format!(r#"{{"data":[{}]}}"#, rows.join(","));
        let projection = projection();
        let page = Page::single_pass(&json, &projection);
        prop_assert_eq!(items(page.unwrap()).len(), ids.len());
    }
}
