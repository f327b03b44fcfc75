//! The newest published versions of a content type, and how many there are.

use super::error::NO_LIST;
use crate::content::strapi::fetch::Fetcher;
use crate::content::strapi::page::Page;
use crate::content::strapi::query_string;
use crate::content::{ContentError, ContentQuery, DocumentLocale, Newest, NewestVersion};
use crate::rules::{FieldPath, FieldValue, Locale};

const UNREADABLE: ContentError = ContentError::Unusable("an item that is not a document");

/// See [`crate::content::Strapi::newest`].
pub(in crate::content::strapi) async fn newest(
    fetcher: &Fetcher,
    query: &ContentQuery,
    locale: &Locale,
    size: usize,
) -> Result<Newest, ContentError> {
    let resolved = fetcher.resolve(&query.uid).await?;
    let query_string =
        |locale: Option<&Locale>| query_string::newest(query, locale.is_some(), size);
    let reply = fetcher.list(&resolved, Some(locale), query_string).await?;
    let page = Page::read(&reply.body, &query.projection).ok_or(NO_LIST)?;
    let total = page.echo.and_then(|echo| echo.total).ok_or(NO_LIST)?;
    let published_at = FieldPath::parse(Newest::DATE).expect("a field name");
    let mut versions = Vec::with_capacity(size);
    page.each(size, |row| {
        let row = row.map_err(|_| UNREADABLE)?;
        let locale = match &row.locale {
            DocumentLocale::Named(locale) => locale.clone().into_owned(),
            DocumentLocale::None | DocumentLocale::NotText => String::new(),
        };
        let published_at = match row.field(&published_at) {
            FieldValue::Text(text) => text.clone().into_owned(),
            _ => String::new(),
        };
        versions.push(NewestVersion { id: row.id.clone().into_owned(), locale, published_at });
        Ok::<(), ContentError>(())
    })?;
    Ok(Newest { total, versions })
}
