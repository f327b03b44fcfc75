//! Some documents of a content type: those that a webhook named, or those that read one of these.
//!
//! They are requested in all locales at once. Where they do not fit on one page, they are walked
//! locale by locale with the same filter and the same proof (D23).

use std::slice;

use super::walk;
use crate::Strapi;
use crate::strapi::endpoint::EndpointKind;
use crate::strapi::page::{BAD_ITEM, NO_LIST, Page};
use crate::strapi::query_string::{self, PageRequest};
use crate::{BadItem, ContentError, ContentQuery, Document, DocumentSink, Selection, WalkRequest};
use frontend_map_rules::Locale;

const IGNORED: ContentError = ContentError::Unusable("documents that the filter excludes");

/// See [`crate::Content::select`]. It is also an error when the CMS ignores the filter.
pub(crate) async fn select(
    strapi: &Strapi,
    query: &ContentQuery,
    locales: &[Locale],
    max: u64,
) -> Result<Option<Vec<Document<'static>>>, ContentError> {
    let Some(selection) = &query.selection else { return Ok(None) };
    let resolved = strapi.resolve(&query.uid).await?;
    if resolved.endpoint.kind() == EndpointKind::Single {
        let mut versions = by_locale(strapi, query, locales).await?;
        versions.retain(|version| selection.has(version));
        return Ok(Some(versions));
    }
    let query_string = |locale: Option<&Locale>| {
        query_string::selection(query, locale.is_some(), strapi.page_size)
    };
    let reply = strapi.list(&resolved, locales.first(), query_string).await?;
    let page = Page::read(&reply.body, &query.projection)?;
    let total = page.total().ok_or(NO_LIST)?;
    let mut versions = checked(page.documents()?, selection)?;
    if total > max {
        return Ok(None);
    }
    if versions.len() as u64 != total {
        let locales = if reply.is_localized { locales } else { locales.get(..1).unwrap_or(&[]) };
        versions = checked(by_locale(strapi, query, locales).await?, selection)?;
    }
    versions
        .retain(|version| locales.iter().any(|locale| version.locale.may_be_in(locale.as_str())));
    Ok(Some(versions))
}

/// See [`crate::Content::select_by_locale`].
pub(crate) async fn select_by_locale(
    strapi: &Strapi,
    query: &ContentQuery,
    locales: &[Locale],
) -> Result<Vec<Document<'static>>, ContentError> {
    let Some(selection) = &query.selection else { return Ok(Vec::new()) };
    let is_long = matches!(selection, Selection::Dependents { .. });
    let mut all = Vec::new();
    for locale in locales {
        let page = if is_long { None } else { on_one_page(strapi, query, locale).await? };
        let versions = match page {
            Some(versions) => versions,
            None => by_locale(strapi, query, slice::from_ref(locale)).await?,
        };
        all.extend(checked(versions, selection)?);
    }
    Ok(all)
}

/// The selection in a locale, if the response proves that one page has all of it; `None`: it needs a
/// walk.
async fn on_one_page(
    strapi: &Strapi,
    query: &ContentQuery,
    locale: &Locale,
) -> Result<Option<Vec<Document<'static>>>, ContentError> {
    let resolved = strapi.resolve(&query.uid).await?;
    if resolved.endpoint.kind() == EndpointKind::Single {
        return Ok(None);
    }
    let page = PageRequest { after: None, size: strapi.page_size, with_total: true };
    let query_string = |locale: Option<&Locale>| query_string::page(query, locale, page);
    let reply = strapi.list(&resolved, Some(locale), query_string).await?;
    let page = Page::read(&reply.body, &query.projection)?;
    let total = page.total();
    let versions = page.documents()?;
    let is_all = total == Some(versions.len() as u64);
    let is_own = versions.iter().all(|version| version.locale.may_be_in(locale.as_str()));
    Ok((reply.is_localized && is_all && is_own).then_some(versions))
}

/// The selection in each of these locales.
async fn by_locale(
    strapi: &Strapi,
    query: &ContentQuery,
    locales: &[Locale],
) -> Result<Vec<Document<'static>>, ContentError> {
    let mut all = Vec::new();
    // One after another, so that the CMS stays fast for editors.
    for locale in locales {
        // No earlier walk had the same filter.
        let request = WalkRequest::new(query, slice::from_ref(locale));
        for versions in walk(strapi, request, |_| Versions(Ok(Vec::new()))).await? {
            all.extend(versions.0?);
        }
    }
    Ok(all)
}

/// Collects documents, unless one is unreadable, because it is not known which version that is.
struct Versions(Result<Vec<Document<'static>>, ContentError>);

impl DocumentSink for Versions {
    fn push(&mut self, item: Result<&Document<'_>, BadItem>) {
        match (item, &mut self.0) {
            (Ok(document), Ok(documents)) => documents.push(document.clone().into_owned()),
            (Err(_), own @ Ok(_)) => *own = Err(BAD_ITEM),
            (_, Err(_)) => {}
        }
    }
}

/// The documents, if the filter selects all of them.
fn checked(
    documents: Vec<Document<'static>>,
    selection: &Selection,
) -> Result<Vec<Document<'static>>, ContentError> {
    let are_selected = documents.iter().all(|document| selection.has(document));
    are_selected.then_some(documents).ok_or(IGNORED)
}
