//! The values that placeholders get from documents, and their faults.

use super::*;
use crate::fixtures::{Holds, field, rule, text};
use crate::{Param, Rule};

fn value(rule: &Rule, holds: &Holds<'_>) -> Result<String, String> {
    let value = rule.first_template().segments()[0].value(holds).unwrap();
    value.map(|value| value.text.into_owned()).map_err(|fault| fault.to_string())
}

#[test]
fn value_is_text_that_a_path_may_contain() {
    for (template, given, expected) in [
        ("/{slug}", text("a b"), Ok("a b")),
        ("/{slug}", text("-1"), Ok("-1")),
        ("/{slug}", FieldValue::Missing, Err("missing")),
        ("/{slug}", FieldValue::Boolean(true), Err("not_string")),
        ("/{slug}", FieldValue::NotText, Err("not_string")),
        ("/{slug}", text("a/b"), Err("has_slash")),
        ("/{*slug}", text("a/b"), Ok("a/b")),
        ("/{*slug}", text("a//b"), Err("empty_segment")),
        ("/{slug}f", text("a%2"), Err("unsafe_after_decoding")),
        ("/{slug} = a,b", text("b"), Ok("b")),
        ("/{slug} = a,b", text("c"), Err("not_allowed")),
        ("/{slug} = a,..", text(".."), Err("dot_segment")),
    ] {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        let holds = Holds::new("en", &[("slug", given.clone())]);
        assert_eq!(value(&rule(0, template), &holds), expected, "{template} {given:?}");
    }
}

#[test]
fn value_of_a_date_part_is_that_of_its_day_in_utc() {
    for (given, expected) in [
        ("2024-02-29", Ok("2024 02 29")),
        ("2024-12-31T23:30:00.000-01:00", Ok("2025 01 01")),
        ("2024-03-01T00:30:00+01:00", Ok("2024 02 29")),
        ("0033-04-03", Ok("0033 04 03")),
        ("-000001-01-01", Err("not_a_date")),
        ("2023-02-29", Err("not_a_date")),
        ("yesterday", Err("not_a_date")),
    ] {
        let holds = Holds::texts("en", &[("on", given)]);
        let parts = ["/{on:year}", "/{on:month}", "/{on:day}"];
        let parts = parts.map(|template| value(&rule(0, template), &holds));
        let found: Result<Vec<String>, String> = parts.into_iter().collect();
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(found.map(|parts| parts.join(" ")), expected, "{given}");
    }
}

#[test]
fn value_with_ancestors_begins_with_the_topmost_up_to_the_depth() {
    let mut rule = rule(0, "/{*path}");
    let source = Source::ancestors(&field("slug"), &field("up"), 2);
    assert!(rule.set_param("path", &Param { source: Some(source), constraint: None }));
    let one = [("slug", "c"), ("up.documentId", "p"), ("up.slug", "b")];
    let above = [("up.up.documentId", "g"), ("up.up.slug", "a")];
    let two = [&one[..], &above[..]].concat();
    let beyond =
        |id, slug| [&two[..], &[("up.up.up.documentId", id), ("up.up.up.slug", slug)]].concat();
    let second = |id, slug| [&one[..], &[("up.up.documentId", id), ("up.up.slug", slug)]].concat();
    let first = |id, slug| vec![("slug", "c"), ("up.documentId", id), ("up.slug", slug)];
    for (fields, expected) in [
        (vec![("slug", "c")], Ok("c")),
        (first("p", "b"), Ok("b/c")),
        (two.clone(), Ok("a/b/c")),
        (beyond("gg", "z"), Err("too_many_ancestors")),
        ([&two[..], &[("up.up.up.documentId", "gg")]].concat(), Err("too_many_ancestors")),
        (beyond("id", "c"), Err("ancestor_cycle")),
        (second("id", "c"), Err("ancestor_cycle")),
        (second("p", "b"), Err("ancestor_cycle")),
        (first("id", "c"), Err("ancestor_cycle")),
        (first("p", "a/b"), Err("has_slash")),
        (vec![("slug", "c"), ("up.slug", "b")], Err("missing")),
        (vec![("slug", "c"), ("up.documentId", "p")], Err("missing")),
        (vec![("up.documentId", "p"), ("up.slug", "b")], Err("missing")),
    ] {
        let holds = Holds::texts("en", &fields);
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(value(&rule, &holds), expected, "{fields:?}");
    }
}
