//! Some documents of a content type: those that a webhook named, or those that read one of these.
//!
//! They are requested in all locales at once. Where they do not fit on one page, they are walked
//! locale by locale with the same filter and the same proof (D23).

use std::slice;

use super::walk;
use crate::Strapi;
use crate::strapi::document::is_in_locale;
use crate::strapi::endpoint::EndpointKind;
use crate::strapi::page::Page;
use crate::strapi::query_string::{self, PageRequest};
use crate::{
    BadItem, ContentError, ContentQuery, Document, DocumentSink, KnownDocuments, Selected,
    Selection, WalkRequest,
};
use frontend_map_rules::Locale;

const NO_LIST: ContentError = ContentError::Unusable("a response that is not a list");
const IGNORED: ContentError = ContentError::Unusable("documents that the filter excludes");
const BAD_ITEM: ContentError = ContentError::Unusable("an item that is not a document");

/// See [`crate::Content::select`]. It is also an error when the CMS ignores the filter.
pub(crate) async fn select(
    strapi: &Strapi,
    query: &ContentQuery,
    locales: &[Locale],
    max: u64,
) -> Result<Selected, ContentError> {
    let Some(selection) = &query.selection else { return Ok(Selected::TooMany) };
    let resolved = strapi.resolve(&query.uid).await?;
    if resolved.endpoint.kind() == EndpointKind::Single {
        let mut versions = by_locale(strapi, query, locales).await?;
        versions.retain(|version| selection.has(version));
        return Ok(Selected::Versions(versions));
    }
    let query_string = |locale: Option<&Locale>| {
        query_string::selection(query, locale.is_some(), strapi.page_size)
    };
    let reply = strapi.list(&resolved, locales.first(), query_string).await?;
    let page = Page::read(&reply.body, &query.projection).ok_or(NO_LIST)?;
    let echo = page.echo.ok_or(NO_LIST)?;
    let rows = page.keys().count();
    let mut versions = Versions::default();
    page.each(rows, |row| {
        versions.push(row);
        Ok::<(), ContentError>(())
    })?;
    let mut versions = versions.checked(selection)?;
    let total = echo.total.ok_or(NO_LIST)?;
    if total > max {
        return Ok(Selected::TooMany);
    }
    if rows as u64 != total {
        let locales = if reply.is_localized { locales } else { locales.get(..1).unwrap_or(&[]) };
        versions = by_locale(strapi, query, locales).await?;
        if versions.iter().any(|version| !selection.has(version)) {
            return Err(IGNORED);
        }
    }
    versions.retain(|version| locales.iter().any(|locale| is_in_locale(version, locale)));
    Ok(Selected::Versions(versions))
}

/// See [`crate::Content::select_by_locale`].
pub(crate) async fn select_by_locale(
    strapi: &Strapi,
    query: &ContentQuery,
    locales: &[Locale],
) -> Result<Vec<Document<'static>>, ContentError> {
    let Some(selection) = &query.selection else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for locale in locales {
        if !matches!(selection, Selection::Dependents { .. })
            && let Some(versions) = on_one_page(strapi, query, locale).await?
        {
            all.extend(versions.checked(selection)?);
            continue;
        }
        let request = WalkRequest::new(query, slice::from_ref(locale), &Unknown);
        for versions in walk(strapi, request, |_| Versions::default()).await? {
            all.extend(versions.checked(selection)?);
        }
    }
    Ok(all)
}

/// The selection in a locale, if the response proves that one page has all of it; `None`: it needs a
/// walk.
async fn on_one_page(
    strapi: &Strapi,
    query: &ContentQuery,
    locale: &Locale,
) -> Result<Option<Versions>, ContentError> {
    let resolved = strapi.resolve(&query.uid).await?;
    if resolved.endpoint.kind() == EndpointKind::Single {
        return Ok(None);
    }
    let page = PageRequest { after: None, size: strapi.page_size, with_total: true };
    let query_string = |locale: Option<&Locale>| query_string::page(query, locale, page);
    let reply = strapi.list(&resolved, Some(locale), query_string).await?;
    let page = Page::read(&reply.body, &query.projection).ok_or(NO_LIST)?;
    let (rows, mut versions) = (page.keys().count(), Versions::default());
    let is_all = page.echo.and_then(|echo| echo.total) == Some(rows as u64);
    page.each(rows, |row| {
        versions.push(row);
        Ok::<(), ContentError>(())
    })?;
    let is_own = versions.documents.iter().all(|version| is_in_locale(version, locale));
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
        let request = WalkRequest::new(query, slice::from_ref(locale), &Unknown);
        for versions in walk(strapi, request, |_| Versions::default()).await? {
            all.extend(versions.documents()?);
        }
    }
    Ok(all)
}

/// No earlier walk had the same filter.
struct Unknown;

impl KnownDocuments for Unknown {
    fn each(&self, _: Option<&Locale>, _: &mut dyn FnMut(&str)) {}
}

/// Collects documents.
#[derive(Default)]
struct Versions {
    documents: Vec<Document<'static>>,
    has_bad_item: bool,
}

impl DocumentSink for Versions {
    fn push(&mut self, item: Result<&Document<'_>, &BadItem>) {
        match item {
            Ok(document) => self.documents.push(document.clone().into_owned()),
            Err(_) => self.has_bad_item = true,
        }
    }
}

impl Versions {
    /// The documents, unless one is unreadable, because it is not known which version that is.
    fn documents(self) -> Result<Vec<Document<'static>>, ContentError> {
        if self.has_bad_item { Err(BAD_ITEM) } else { Ok(self.documents) }
    }

    fn checked(self, selection: &Selection) -> Result<Vec<Document<'static>>, ContentError> {
        let documents = self.documents()?;
        if documents.iter().all(|document| selection.has(document)) {
            Ok(documents)
        } else {
            Err(IGNORED)
        }
    }
}
