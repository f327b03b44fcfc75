//! What a CMS has, for settings that are written from it: content types, locales and a page of each
//! type.

mod schema;

pub use schema::{FieldSchema, TypeSchema};

use serde_json::{Map, Value};

use super::Strapi;
use super::client::{Client, Reply};
use super::endpoint::{Endpoint, EndpointKind};
use super::endpoint_cache::ResolvedEndpoint;
use super::json::object;
use super::targets::{attributes, is_plain};
use crate::{ContentError, SetupProblem, Status};
use frontend_map_rules::{ContentTypeUid, Locale, encode};

/// The rows of a page: as many as Strapi returns by default limits.
const ROWS: usize = 100;

const SCHEMAS: &str = "content-type-builder/content-types";
const LOCALES: &str = "i18n/locales";

/// A locale of the CMS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CmsLocale {
    /// The code, which may be none that a site can have.
    pub code: String,
    /// Whether the CMS uses it where a request names none.
    pub is_default: bool,
}

/// The first documents of a content type.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The endpoint that returned them.
    pub endpoint: Endpoint,
    /// Whether the service finds the endpoint with a token that may not read the schema.
    pub is_guessable: bool,
    /// The documents, published ones if there are any.
    pub documents: Vec<Map<String, Value>>,
}

/// The content types of the project by their schemas, without Strapi's own; `None`: this CMS has
/// no schemas to read.
///
/// # Errors
/// [`ContentError`]; a 403 if the token may not read them.
pub async fn type_schemas(strapi: &Strapi) -> Result<Option<Vec<TypeSchema>>, ContentError> {
    match strapi.client.list_page(SCHEMAS, "").await? {
        Reply::Json(json) => {
            let types = schema::parse(&json)
                .ok_or(ContentError::Unusable("a response that is not a list of content types"))?;
            Ok(Some(types))
        }
        Reply::Refused(_) => Ok(None),
        Reply::Unauthorized => Err(SetupProblem::TokenRefused { endpoint: SCHEMAS.into() }.into()),
        Reply::Forbidden => {
            let has_token = strapi.client.has_token;
            Err(SetupProblem::NotPermitted { endpoint: SCHEMAS.into(), has_token }.into())
        }
    }
}

/// The fields of a component; `None`: the token may not read them.
///
/// # Errors
/// [`ContentError`]
pub async fn component_fields(
    strapi: &Strapi,
    component: &str,
) -> Result<Option<Vec<FieldSchema>>, ContentError> {
    if !is_plain(component) {
        return Ok(None);
    }
    let attributes = attributes(&strapi.client, &format!("components/{component}")).await?;
    Ok(attributes.map(|attributes| schema::fields(component, attributes)))
}

/// The UIDs of all content types; `None`: the token may not read them.
pub(super) async fn uids(client: &Client) -> Result<Option<Vec<String>>, ContentError> {
    match client.list_page(SCHEMAS, "").await {
        Ok(Reply::Json(json)) => Ok(schema::uids(&json)),
        Ok(_) | Err(ContentError::Unusable(_) | ContentError::Redirected(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The locales of the CMS; `None`: the token may not read them, or there are none to read.
///
/// # Errors
/// [`ContentError`]
pub async fn locales(strapi: &Strapi) -> Result<Option<Vec<CmsLocale>>, ContentError> {
    let Reply::Json(json) = strapi.client.list_page(LOCALES, "").await? else { return Ok(None) };
    let Ok(Value::Array(rows)) = serde_json::from_str(&json) else {
        return Err(ContentError::Unusable("a response that is not a list of locales"));
    };
    let is_strapi_4 = |row: &Value| row.get("code").is_some() && row.get("documentId").is_none();
    if rows.iter().any(is_strapi_4) {
        return Err(SetupProblem::Strapi4.into());
    }
    let locale = |row: &Value| {
        let is_default = row["isDefault"].as_bool().unwrap_or_default();
        Some(CmsLocale { code: row["code"].as_str()?.to_owned(), is_default })
    };
    Ok(Some(rows.iter().filter_map(locale).collect()))
}

/// The first documents of a content type, from the first of these endpoints that exists; without
/// endpoints, from those that its name suggests. `field` is one of the type or of a component
/// (`seo.slug`); `*` stands for all fields, relations and components, `None` for the fields alone.
///
/// # Errors
/// [`ContentError`]; that there is no endpoint if none of them exists.
///
/// # Panics
/// Never: there is at least one endpoint.
pub async fn sample(
    strapi: &Strapi,
    uid: &ContentTypeUid,
    endpoints: &[Endpoint],
    field: Option<&str>,
) -> Result<Sample, ContentError> {
    let guesses = [Endpoint::guess(uid), Endpoint::guess_single(uid)];
    let endpoints = if endpoints.is_empty() { &guesses[..] } else { endpoints };
    let mut missing = None;
    for endpoint in endpoints {
        let resolved = strapi.assume(uid, endpoint.clone());
        let found = match endpoint.kind() {
            EndpointKind::Collection => first_page(strapi, &resolved, field).await,
            EndpointKind::Single => single(strapi, &resolved, field).await,
        };
        match found {
            Err(error @ ContentError::Setup(SetupProblem::NoEndpoint { .. })) => {
                // The first guess is the one to talk about.
                missing.get_or_insert(error);
            }
            Err(error) => return Err(error),
            Ok(documents) => {
                if documents.iter().any(is_of_strapi_4) {
                    return Err(SetupProblem::Strapi4.into());
                }
                let is_guessable = guesses.contains(endpoint);
                return Ok(Sample { endpoint: endpoint.clone(), is_guessable, documents });
            }
        }
    }
    Err(missing.expect("there is at least one endpoint"))
}

fn is_of_strapi_4(document: &Map<String, Value>) -> bool {
    !document.contains_key("documentId") && document.contains_key("attributes")
}

/// The first page of a list in all locales; of drafts if nothing is published.
async fn first_page(
    strapi: &Strapi,
    resolved: &ResolvedEndpoint,
    field: Option<&str>,
) -> Result<Vec<Map<String, Value>>, ContentError> {
    for status in [Status::Published, Status::Draft] {
        // A type that is not localized ignores the locale.
        let query = format!("{}&locale=%2A{}", list_query(status, ROWS), fields(field));
        match data(&strapi.list(resolved, None, |_| query.clone()).await?.body)? {
            Data::List(documents) if documents.is_empty() => {}
            Data::List(documents) => return Ok(documents),
            Data::One(_) => return Err(no_endpoint(resolved)),
        }
    }
    Ok(Vec::new())
}

/// The document of a single type in the default locale.
async fn single(
    strapi: &Strapi,
    resolved: &ResolvedEndpoint,
    field: Option<&str>,
) -> Result<Vec<Map<String, Value>>, ContentError> {
    for status in [Status::Published, Status::Draft] {
        let query = format!("status={}{}", status.as_str(), fields(field));
        let reply = strapi.client.document(resolved.endpoint.path(), &query).await?;
        if let Some(body) = strapi.body(reply, resolved, &query)? {
            return match data(&body)? {
                Data::One(document) => Ok(vec![document]),
                Data::List(_) => Err(no_endpoint(resolved)),
            };
        }
    }
    Err(no_endpoint(resolved))
}

/// The locale that the CMS uses where a request names none, if a document of this type shows it.
///
/// # Errors
/// [`ContentError`]
pub async fn default_locale(
    strapi: &Strapi,
    uid: &ContentTypeUid,
) -> Result<Option<Locale>, ContentError> {
    let resolved = strapi.resolve(uid).await?;
    for status in [Status::Published, Status::Draft] {
        let query = list_query(status, 1) + "&fields[0]=locale";
        let found = data(&strapi.list(&resolved, None, |_| query.clone()).await?.body)?;
        let document = match &found {
            Data::List(documents) => documents.first(),
            Data::One(document) => Some(document),
        };
        let code = document.and_then(|document| document.get("locale")?.as_str());
        if let Some(locale) = code.and_then(|code| Locale::parse(code).ok()) {
            return Ok(Some(locale));
        }
    }
    Ok(None)
}

fn list_query(status: Status, size: usize) -> String {
    let status = status.as_str();
    format!("status={status}&sort=documentId:asc&pagination[page]=1&pagination[pageSize]={size}")
}

/// Without a field: all of them, the locale included, without relations and components. `*`: these too.
fn fields(field: Option<&str>) -> String {
    match field.map(|field| (field, field.split_once('.'))) {
        None => String::new(),
        Some(("*", _)) => "&populate=*".to_owned(),
        Some((field, None)) => format!("&fields[0]={}", encode(field)),
        Some((_, Some((component, field)))) => format!(
            "&fields[0]=documentId&populate[{}][fields][0]={}",
            encode(component),
            encode(field)
        ),
    }
}

/// What a response has.
enum Data {
    List(Vec<Map<String, Value>>),
    One(Map<String, Value>),
}

fn data(body: &str) -> Result<Data, ContentError> {
    let unusable = || ContentError::Unusable("a response that is not a list");
    let mut response: Map<String, Value> = object(body).ok_or_else(unusable)?;
    match response.remove("data") {
        Some(Value::Object(document)) => Ok(Data::One(document)),
        Some(Value::Array(rows)) => {
            let row = |row| match row {
                Value::Object(document) => Ok(document),
                _ => Err(unusable()),
            };
            Ok(Data::List(rows.into_iter().map(row).collect::<Result<_, _>>()?))
        }
        _ => Err(unusable()),
    }
}

fn no_endpoint(resolved: &ResolvedEndpoint) -> ContentError {
    let (endpoint, uid) = (resolved.endpoint.path().into(), resolved.uid.clone());
    SetupProblem::NoEndpoint { endpoint, uid, is_configured: false }.into()
}
