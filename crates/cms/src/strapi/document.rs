//! One document by its id, locale and status, and the versions of some documents, drafts too.

use futures::future::try_join_all;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::endpoint::EndpointKind;
use super::endpoint_cache::ResolvedEndpoint;
use super::json::object;
use super::page::{NO_LIST, Page};
use super::{Strapi, query_string};
use crate::{ContentError, ContentQuery, Document, Projection, Status, Versions};
use frontend_map_rules::{Locale, encode};

const NO_DOCUMENT: ContentError = ContentError::Unusable("a response without a document");

/// One version of one document; `None`: it does not exist (D18, D19).
pub(super) async fn fetch(
    strapi: &Strapi,
    query: &ContentQuery,
    document_id: &str,
    locale: &Locale,
    status: Status,
) -> Result<Option<Document<'static>>, ContentError> {
    let resolved = strapi.resolve(&query.uid).await?;
    let is_single = resolved.endpoint.kind() == EndpointKind::Single;
    let path = match resolved.endpoint.path() {
        path if is_single => path.to_owned(),
        path => format!("{path}/{}", encode(document_id)),
    };
    let query_string = |locale: Option<&Locale>| query_string::version(query, locale, status);
    let Some(body) = strapi.version(&resolved, &path, locale, query_string).await? else {
        if !is_single {
            strapi.confirm(query, &resolved).await?;
        }
        return Ok(None);
    };
    match read(&body, &query.projection)? {
        Some(other) if other.id != document_id && !is_single => {
            Err(ContentError::Unusable("another document than requested"))
        }
        document => {
            let document = document.filter(|document| {
                let is_visible = !document.unpublished || status == Status::Draft;
                document.id == document_id
                    && is_visible
                    && document.locale.may_be_in(locale.as_str())
            });
            Ok(document.map(Document::into_owned))
        }
    }
}

/// The document of a response; `None` for `data: null`.
pub(super) fn read<'a>(
    body: &'a str,
    projection: &'a Projection,
) -> Result<Option<Document<'a>>, ContentError> {
    let response: DocumentResponse<'a> = object(body).ok_or(NO_DOCUMENT)?;
    if response.data.get() == "null" {
        return Ok(None);
    }
    projection.decode(response.data.get()).map(Some).map_err(|_| NO_DOCUMENT)
}

#[derive(Deserialize)]
struct DocumentResponse<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
}

/// See [`crate::Content::versions`].
pub(super) async fn versions(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_accepts_only_an_object_or_null_as_data() {
        let projection = Projection::new(Vec::new());
        let read = |json| read(json, &projection);
        assert_eq!(read(r#"{"data":{"documentId":"d"},"meta":{}}"#).unwrap().unwrap().id, "d");
        assert_eq!(read(r#"{"data":null}"#), Ok(None));
        for bad in [
            "{}",
            "null",
            r#"[{"documentId":"d"}]"#,
            r#"{"data":[]}"#,
            r#"{"data":[{"documentId":"d"}]}"#,
            r#"{"data":{}}"#,
            r#"{"data":{"documentId":1}}"#,
        ] {
            assert_eq!(read(bad), Err(NO_DOCUMENT), "{bad}");
        }
    }
}
