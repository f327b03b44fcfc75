//! One document by its id, locale and status.

mod versions;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Strapi;
use super::endpoint::EndpointKind;
use super::json::object;
use super::query_string;
use crate::{ContentError, ContentQuery, Document, Projection, Status};
use frontend_map_rules::{Locale, encode};

pub(super) use versions::versions;

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
