//! The shape of a list answer: rows one by one, and the paging that it echoes.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::object;
use super::proof::Echo;
use crate::content::projection::id_of;

/// One page as it came, its rows not yet read.
pub(super) struct Page<'a> {
    pub rows: Vec<&'a RawValue>,
    pub echo: Option<Echo>,
}

impl<'a> Page<'a> {
    /// Takes a list answer apart; `None` when it has another shape.
    ///
    /// Missing or odd paging is not a matter of shape: the proof refuses it.
    pub(super) fn parse(json: &'a str) -> Option<Self> {
        let answer: Answer<'a> = object(json)?;
        Some(Self { rows: answer.data, echo: answer.meta.and_then(|meta| echo(meta.get())) })
    }

    /// The key after which the next page starts, as far as can be told without reading all rows.
    pub(super) fn next_key(&self) -> Option<String> {
        let full = self.echo?.page_size == self.rows.len() as u64;
        self.rows.last().filter(|_| full).and_then(|row| id_of(row.get()))
    }
}

fn echo(meta: &str) -> Option<Echo> {
    let meta: Meta<'_> = object(meta)?;
    let pagination: Pagination = object(meta.pagination.get())?;
    // Page 1 is the only one ever asked for.
    (pagination.page == 1)
        .then_some(Echo { page_size: pagination.page_size, total: pagination.total })
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    pagination: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    page: u64,
    page_size: u64,
    total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_rows_and_paging() {
        let json = r#" {"data":[{"id":1},null,["x"]],"meta":{"pagination":{"page":1,"pageSize":100,"pageCount":1,"total":3}}} "#;
        let page = Page::parse(json).unwrap();
        let rows: Vec<_> = page.rows.iter().map(|row| row.get()).collect();
        assert_eq!(rows, [r#"{"id":1}"#, "null", r#"["x"]"#]);
        assert_eq!(page.echo, Some(Echo { page_size: 100, total: 3 }));
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
            r#"{"data":[1,]}"#,
        ] {
            assert!(Page::parse(json).is_none(), "{json}");
        }
    }

    #[test]
    fn other_paging_is_no_echo() {
        for meta in [
            "null",
            "[]",
            "{}",
            r#"{"pagination":null}"#,
            r#"{"pagination":[1,100,1]}"#,
            r#"{"pagination":{"page":2,"pageSize":100,"total":3}}"#,
            r#"{"pagination":{"start":0,"limit":100,"total":3}}"#,
            r#"{"pagination":{"page":1,"pageSize":100}}"#,
            r#"{"pagination":{"page":1,"pageSize":100,"total":-1}}"#,
            r#"{"pagination":{"page":1,"pageSize":"100","total":3}}"#,
        ] {
            let json = format!(r#"{{"data":[],"meta":{meta}}}"#);
            assert_eq!(Page::parse(&json).unwrap().echo, None, "{meta}");
        }
        assert_eq!(Page::parse(r#"{"data":[]}"#).unwrap().echo, None);
    }
}
