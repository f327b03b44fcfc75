//! Strapi's error envelope, which distinguishes its 404 from that of a proxy in front of it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::QueryPart;
use crate::strapi::json::object;

/// An error response of Strapi itself.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::strapi) enum Refusal {
    /// 404: there is no such document or version, or no such endpoint.
    NotFound,
    /// 404 of the content-type builder: there is no such content type.
    NoContentType,
    /// 400 about a key of the query, such as `locale` on a type that is not localized.
    InvalidKey(InvalidKey),
    /// 400 about a filter through a relation that exists but that the token may not read, or about a
    /// private field: the names that lead to it, with dots between them.
    UnreadableFilter(String),
    /// 400 about the query as a whole, such as fields of a dynamic zone.
    Invalid,
}

/// A key that Strapi refuses.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::strapi) struct InvalidKey {
    pub(in crate::strapi) key: String,
    /// Whether there is such an attribute, which cannot be used like this.
    pub(in crate::strapi) exists: bool,
    /// Where the query names it; `None`: elsewhere than in fields and relations.
    pub(in crate::strapi) part: Option<QueryPart>,
}

impl Refusal {
    /// Reads the body of a response with that status; `None`: the response is not from Strapi.
    pub(in crate::strapi) fn parse(status: u16, json: &str) -> Option<Self> {
        if status == 404
            && object(json).is_some_and(|plain: PlainError| plain.error == "contentType.notFound")
        {
            return Some(Self::NoContentType);
        }
        let envelope: Envelope<'_> = object(json)?;
        let error: Error<'_> = object(envelope.error.get())?;
        if envelope.data.get() != "null" || error.status != status {
            return None;
        }
        match status {
            404 => (error.name == "NotFoundError").then_some(Self::NotFound),
            400 => {
                let details: Option<Details> = object(error.details?.get());
                let key = details.map(Self::from);
                key.or_else(|| (error.name == "ValidationError").then_some(Self::Invalid))
            }
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(borrow)]
    error: &'a RawValue,
}

/// The body of an error of the content-type builder.
#[derive(Deserialize)]
struct PlainError {
    error: String,
}

#[derive(Deserialize)]
struct Error<'a> {
    status: u16,
    name: String,
    #[serde(borrow)]
    details: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Details {
    key: String,
    /// The path to the attribute; of an unknown key the path to its parent.
    path: Option<String>,
    param: Option<String>,
}

impl From<Details> for Refusal {
    fn from(Details { key, path, param }: Details) -> Self {
        let exists = path.as_ref().is_some_and(|path| path.rsplit('.').next() == Some(&*key));
        let part = match (param.as_deref(), path) {
            (Some("filters"), Some(path)) if exists => return Self::UnreadableFilter(path),
            (Some("fields"), _) => Some(QueryPart::Fields),
            (Some("populate"), _) => Some(QueryPart::Populate),
            _ => None,
        };
        Self::InvalidKey(InvalidKey { key, exists, part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_strapis_envelope() {
        let no_type = r#"{"error":"contentType.notFound"}"#;
        assert_eq!(Refusal::parse(404, no_type), Some(Refusal::NoContentType));
        let missing = r#"{"data":null,"error":{"status":404,"name":"NotFoundError","message":"Not Found","details":{}}}"#;
        assert_eq!(Refusal::parse(404, missing), Some(Refusal::NotFound));
        let key = r#"{"data":null,"error":{"status":400,"name":"ValidationError","message":"Invalid key locale","details":{"key":"locale","path":"locale","source":"query","param":"fields"}}}"#;
        let part = Some(QueryPart::Fields);
        let locale = InvalidKey { key: "locale".into(), exists: true, part };
        assert_eq!(Refusal::parse(400, key), Some(Refusal::InvalidKey(locale)));
        let nested = r#"{"data":null,"error":{"status":400,"name":"ValidationError","message":"Invalid key nope at category","details":{"key":"nope","path":"category","source":"query","param":"populate"}}}"#;
        let part = Some(QueryPart::Populate);
        let nope = InvalidKey { key: "nope".into(), exists: false, part };
        assert_eq!(Refusal::parse(400, nested), Some(Refusal::InvalidKey(nope)));
        let zone = r#"{"data":null,"error":{"status":400,"name":"ValidationError","message":"Invalid nested populate","details":{}}}"#;
        assert_eq!(Refusal::parse(400, zone), Some(Refusal::Invalid));
    }

    #[test]
    fn parse_tells_an_unreadable_relation_in_a_filter_from_one_that_does_not_exist() {
        let populate = Some(QueryPart::Populate);
        let invalid = |key: &str, exists, part| {
            Refusal::InvalidKey(InvalidKey { key: key.to_owned(), exists, part })
        };
        let unreadable = |path: &str| Refusal::UnreadableFilter(path.to_owned());
        for (details, expected) in [
            (r#"{"key":"tags","path":"tags","param":"filters"}"#, unreadable("tags")),
            (r#"{"key":"room","path":"shelf.room","param":"filters"}"#, unreadable("shelf.room")),
            (r#"{"key":"nope","path":"tags","param":"filters"}"#, invalid("nope", false, None)),
            (r#"{"key":"nope","path":null,"param":"filters"}"#, invalid("nope", false, None)),
            (r#"{"key":"tags","path":"tags","param":"populate"}"#, invalid("tags", true, populate)),
            (r#"{"key":"tags"}"#, invalid("tags", false, None)),
        ] {
            let json = format!(
                r#"{{"data":null,"error":{{"status":400,"name":"ValidationError","details":{details}}}}}"#
            );
            assert_eq!(Refusal::parse(400, &json), Some(expected), "{details}");
        }
    }

    #[test]
    fn parse_refuses_any_other_error_body() {
        for (status, json) in [
            (404, "<html>nginx</html>"),
            (404, "{}"),
            (404, r#"{"error":"component.notFound"}"#),
            (400, r#"{"error":"contentType.notFound"}"#),
            (404, r#"{"data":{},"error":{"status":404,"name":"NotFoundError"}}"#),
            (404, r#"{"data":null,"error":{"status":403,"name":"NotFoundError"}}"#),
            (404, r#"{"data":null,"error":{"status":404,"name":"X"}}"#),
            (404, r#"{"data":null,"error":[404,"NotFoundError",null]}"#),
            (404, r#"[null,{"status":404,"name":"NotFoundError"}]"#),
            (400, r#"{"data":null,"error":{"status":400,"name":"PolicyError","details":{}}}"#),
            (400, r#"{"data":null,"error":{"status":400,"name":"ValidationError"}}"#),
            (405, r#"{"data":null,"error":{"status":405,"name":"NotFoundError"}}"#),
        ] {
            assert_eq!(Refusal::parse(status, json), None, "{status} {json}");
        }
    }
}
