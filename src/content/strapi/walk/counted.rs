//! The number of versions that a selection has in one locale, and one of them.

use super::error::NO_LIST;
use crate::content::strapi::document::is_in_locale;
use crate::content::strapi::fetch::Fetcher;
use crate::content::strapi::page::Page;
use crate::content::strapi::query_string::{self, PageRequest};
use crate::content::{ContentError, ContentQuery, DocumentLocale, Selection, SelectionCount};
use crate::rules::Locale;

const FIRST: PageRequest<'_> = PageRequest { after: None, size: 1, with_total: true };
const UNREADABLE: ContentError = ContentError::Unusable("an item that is not a document");
const OTHER: ContentError = ContentError::Unusable("documents that the filter excludes");

/// See [`crate::content::Strapi::count`].
pub(in crate::content::strapi) async fn count(
    fetcher: &Fetcher,
    query: &ContentQuery,
    locale: &Locale,
) -> Result<SelectionCount, ContentError> {
    let resolved = fetcher.resolve(&query.uid).await?;
    let query_string = |locale: Option<&Locale>| query_string::page(query, locale, FIRST);
    let reply = fetcher.list(&resolved, Some(locale), query_string).await?;
    let page = Page::read(&reply.body, &query.projection).ok_or(NO_LIST)?;
    let total = page.echo.and_then(|echo| echo.total).ok_or(NO_LIST)?;
    let mut example = None;
    page.each(1, |row| {
        example = Some(row.map_err(|_| UNREADABLE)?.clone().into_owned());
        Ok::<(), ContentError>(())
    })?;
    let is_selected = |selection: &Selection| {
        let mut versions = example.iter();
        versions.all(|version| selection.has(version) && is_in_locale(version, locale))
    };
    if example.is_some() != (total > 0) || !query.selection.as_ref().is_none_or(is_selected) {
        return Err(OTHER);
    }
    let has_locale = example.as_ref().is_none_or(|own| own.locale != DocumentLocale::None);
    Ok(SelectionCount { total, example, is_localized: reply.is_localized && has_locale })
}
