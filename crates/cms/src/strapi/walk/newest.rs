//! The newest published versions of a content type, and how many there are.

use crate::Strapi;
use crate::strapi::document;
use crate::strapi::endpoint::EndpointKind;
use crate::strapi::page::{NO_LIST, Page};
use crate::strapi::query_string;
use crate::{
    ContentError, ContentQuery, Document, DocumentLocale, Newest, NewestVersion, Projection, Status,
};
use frontend_map_rules::{FieldPath, FieldValue, Locale};

/// Strapi sets this date when a document is published, and at each change of one without Draft &
/// Publish.
const PUBLISHED: &str = "publishedAt";
/// Of a type without Draft & Publish, other programs set this date alone.
const UPDATED: &str = "updatedAt";

/// The newest published versions of the query in all locales, at most `size`; of a single type, those
/// in these locales.
pub(crate) async fn newest(
    strapi: &Strapi,
    query: &ContentQuery,
    locales: &[Locale],
    size: usize,
) -> Result<Newest, ContentError> {
    let resolved = strapi.resolve(&query.uid).await?;
    let has_drafts = strapi.targets.has_drafts(&strapi.client, &query.uid).await;
    let field = if has_drafts == Some(false) { UPDATED } else { PUBLISHED };
    let date = FieldPath::parse(field).expect("a field name");
    let query = ContentQuery { projection: Projection::new(vec![date.clone()]), ..query.clone() };
    let versions = |rows: &[Document<'_>]| -> Vec<NewestVersion> {
        rows.iter().map(|row| version(row, &date)).collect()
    };
    if resolved.endpoint.kind() == EndpointKind::Single {
        // There is no list: one request for each locale.
        let found = document::versions(strapi, &query, locales, Status::Published).await?;
        let versions = versions(&found.documents);
        let total = versions.len() as u64;
        return Ok(Newest { total, dated: total, field, versions });
    }
    let page = async |is_dated: bool| {
        let query_string = |locale: Option<&Locale>| {
            let text = query_string::selection(&query, locale.is_some(), size);
            let mut text = text.replacen("sort=documentId:asc", &format!("sort={field}:desc"), 1);
            if is_dated {
                text = format!("{text}&filters[{field}][$notNull]=true");
            }
            text
        };
        let reply = strapi.list(&resolved, locales.first(), query_string).await?;
        let page = Page::read(&reply.body, &query.projection)?;
        let total = page.total().ok_or(NO_LIST)?;
        let mut rows = page.documents()?;
        rows.truncate(size);
        Ok::<_, ContentError>((total, versions(&rows)))
    };
    let (total, mut versions) = page(false).await?;
    let mut dated = total;
    // PostgreSQL has rows without a date first.
    if versions.iter().any(|version| version.date.is_empty()) {
        (dated, versions) = page(true).await?;
        versions.retain(|version| !version.date.is_empty());
    }
    Ok(Newest { total, dated, field, versions })
}

fn version(row: &Document<'_>, date: &FieldPath) -> NewestVersion {
    let locale = match &row.locale {
        DocumentLocale::Named(locale) => locale.clone().into_owned(),
        DocumentLocale::None | DocumentLocale::NotText => String::new(),
    };
    let date = match row.field(date) {
        FieldValue::Text(text) => text.clone().into_owned(),
        _ => String::new(),
    };
    NewestVersion { id: row.id.clone().into_owned(), locale, date }
}
