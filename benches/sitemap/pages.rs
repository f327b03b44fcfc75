//! Pages as Strapi sends them, and the struct that `serde_json` alone reads them into.

use std::borrow::Cow;
use std::fmt::Write;

use frontend_map_rules::{ContentTypeUid, Locale, LocalePrefix, Locales, Rule, RuleSet, Template};
use serde::Deserialize;

pub(crate) const UID: &str = "plugin::cms.article";
pub(crate) const BASE: &str = "https://www.example.com";
const PER_PAGE: usize = 100;

pub(crate) fn rules() -> RuleSet {
    let locales = ["en", "de", "fr"].map(|code| Locale::parse(code).expect("a locale"));
    let template = Template::parse("/{locale}/articles/{slug}").expect("a template");
    let rule = Rule::new(ContentTypeUid::parse(UID).expect("a UID"), template);
    let locales = Locales::new(locales.to_vec()).expect("locales");
    RuleSet::new(locales, LocalePrefix::Always, vec![rule])
}

/// Full pages of documents with ids and slugs of usual length; one slug in ten is not ASCII.
pub(crate) fn pages(documents: usize) -> Vec<String> {
    (0..documents / PER_PAGE).map(|page| one_page(page * PER_PAGE, documents)).collect()
}

fn one_page(first: usize, documents: usize) -> String {
    let mut text = String::from(r#"{"data":["#);
    for n in first..first + PER_PAGE {
        let comma = if n == first { "" } else { "," };
        let word = if n % 10 == 0 { "größe" } else { "size" };
        write!(
            text,
            r#"{comma}{{"id":{n},"documentId":"d{n:023}","publishedAt":"2024-03-06T22:19:54.649Z","locale":"en","slug":"a-{word}-of-usual-length-{n}","updatedAt":"2024-03-06T22:19:54.{:03}Z"}}"#,
            n % 1000
        )
        .expect("memory");
    }
    let pages = documents / PER_PAGE;
    write!(
        text,
        r#"],"meta":{{"pagination":{{"page":1,"pageSize":{PER_PAGE},"pageCount":{pages},"total":{documents}}}}}}}"#
    )
    .expect("memory");
    text
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read to be measured")]
struct Row<'a> {
    document_id: &'a str,
    #[serde(borrow)]
    published_at: Cow<'a, str>,
    #[serde(borrow)]
    locale: Cow<'a, str>,
    #[serde(borrow)]
    slug: Cow<'a, str>,
    #[serde(borrow)]
    updated_at: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    data: Vec<Row<'a>>,
    meta: Meta,
}

#[derive(Deserialize)]
struct Meta {
    pagination: Pagination,
}

#[derive(Deserialize)]
struct Pagination {
    total: u64,
}

/// Reads a page and says how many rows it has.
pub(crate) fn borrowed(page: &str) -> usize {
    let page: Page<'_> = serde_json::from_str(page).expect("a page");
    assert!(page.meta.pagination.total > 0);
    page.data.len()
}
