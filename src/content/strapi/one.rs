//! One document by its id, locale and status.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{EndpointKind, Strapi, object, query};
use crate::content::{ContentError, ContentQuery, Document, DocumentLocale, Projection, Status};
use crate::rules::{Locale, encode};

/// Said when the answer is no document at all.
const NO_DOCUMENT: ContentError = ContentError::Unusable("an answer that holds no document");

impl Strapi {
    /// One version of one document. `None`: it does not exist (D19, D27).
    ///
    /// Also absent is a document that is not published where published was asked (D18), and one in
    /// another locale than asked for: there is no fallback (D19).
    ///
    /// # Errors
    /// [`ContentError`]; among them an answer about another document, except for a single type,
    /// whose only document simply is not the one asked for.
    pub async fn document(
        &self,
        ask: &ContentQuery,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<Option<Document<'static>>, ContentError> {
        let place = self.place(&ask.uid).await?;
        let single = place.endpoint.kind() == EndpointKind::Single;
        let path = match place.endpoint.path() {
            path if single => path.to_owned(),
            path => format!("{path}/{}", encode(document_id)),
        };
        let query = |locale: Option<&Locale>| query::version(ask, locale, status);
        let Some(body) = self.version(&place, &path, locale, query).await? else {
            if !single {
                self.check_endpoint(ask, &place).await?;
            }
            return Ok(None);
        };
        let found = document(&body, &ask.projection)?;
        match found {
            Some(other) if other.id != document_id && !single => {
                Err(ContentError::Unusable("another document than asked for"))
            }
            found => {
                let found = found.filter(|document| {
                    let visible = !document.unpublished || status == Status::Draft;
                    document.id == document_id && visible && speaks(document, locale)
                });
                Ok(found.map(Document::into_owned))
            }
        }
    }
}

/// The document of an answer; `None` for `data: null`.
pub(super) fn document<'a>(
    body: &'a str,
    projection: &'a Projection,
) -> Result<Option<Document<'a>>, ContentError> {
    let answer: Answer<'a> = object(body).ok_or(NO_DOCUMENT)?;
    if answer.data.get() == "null" {
        return Ok(None);
    }
    projection.decode(answer.data.get()).map(Some).map_err(|_| NO_DOCUMENT)
}

/// Whether a document that names a locale names this one. What else it may hold there is for the
/// rules to judge.
pub(super) fn speaks(document: &Document<'_>, locale: &Locale) -> bool {
    match &document.locale {
        DocumentLocale::Named(name) => name == locale.as_str(),
        DocumentLocale::None | DocumentLocale::NotText => true,
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_or_none_or_something_else() {
        let projection = Projection::new(Vec::new());
        let read = |json| document(json, &projection);
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
