//! The versions of some documents, drafts too, in one request for a list.

use futures::future::try_join_all;

use super::read;
use crate::Strapi;
use crate::strapi::endpoint::EndpointKind;
use crate::strapi::endpoint_cache::ResolvedEndpoint;
use crate::strapi::page::{NO_LIST, Page};
use crate::strapi::query_string;
use crate::{ContentError, ContentQuery, Document, Status, Versions};
use frontend_map_rules::Locale;

/// See [`crate::Content::versions`].
pub(in crate::strapi) async fn versions(
    strapi: &Strapi,
    query: &ContentQuery,
    locales: &[Locale],
    status: Status,
) -> Result<Versions, ContentError> {
    let resolved = strapi.resolve(&query.uid).await?;
    let mut found = match resolved.endpoint.kind() {
        EndpointKind::Collection => listed(strapi, &resolved, query, locales, status).await?,
        EndpointKind::Single => single(strapi, &resolved, query, locales, status).await?,
    };
    found.documents.retain(|document| {
        let is_visible = !document.unpublished || status == Status::Draft;
        is_visible && locales.iter().any(|locale| document.locale.may_be_in(locale.as_str()))
    });
    Ok(found)
}

async fn listed(
    strapi: &Strapi,
    resolved: &ResolvedEndpoint,
    query: &ContentQuery,
    locales: &[Locale],
    status: Status,
) -> Result<Versions, ContentError> {
    let query_string = |locale: Option<&Locale>| {
        let locales = if locale.is_some() { locales } else { &[] };
        query_string::versions(query, locales, status)
    };
    let reply = strapi.list(resolved, locales.first(), query_string).await?;
    let page = Page::read(&reply.body, &query.projection)?;
    let total = page.total().ok_or(NO_LIST)?;
    let documents = page.documents()?;
    Ok(Versions { are_all: total <= documents.len() as u64, documents })
}

/// A single type has no list.
async fn single(
    strapi: &Strapi,
    resolved: &ResolvedEndpoint,
    query: &ContentQuery,
    locales: &[Locale],
    status: Status,
) -> Result<Versions, ContentError> {
    let path = resolved.endpoint.path();
    let versions = locales.iter().map(async |locale| -> Result<_, ContentError> {
        let query_string = |locale: Option<&Locale>| query_string::version(query, locale, status);
        let body = strapi.version(resolved, path, locale, query_string).await?;
        let body = body.unwrap_or_else(|| r#"{"data":null}"#.to_owned());
        let found: Option<Document<'static>> =
            read(&body, &query.projection)?.map(Document::into_owned);
        Ok(found.filter(|document| document.locale.may_be_in(locale.as_str())))
    });
    let mut documents: Vec<Document<'static>> = Vec::new();
    for version in try_join_all(versions).await?.into_iter().flatten() {
        // A type that is not localized has the same document in each locale.
        if !documents.iter().any(|other| other.locale == version.locale) {
            documents.push(version);
        }
    }
    Ok(Versions { documents, are_all: true })
}
