//! Which fields a content type has, from Strapi's content-type builder.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Client, Reply};
use super::json::object;
use crate::content::ContentError;
use crate::rules::{ContentTypeUid, FieldPath};

/// The fields that every document has and the schema does not list.
const SYSTEM_FIELDS: [&str; 8] = [
    "id",
    "documentId",
    "createdAt",
    "updatedAt",
    "publishedAt",
    "locale",
    "createdBy",
    "updatedBy",
];

/// Why the fields are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The request failed.
    #[error(transparent)]
    Cms(#[from] ContentError),
    /// The response has no schema.
    #[error("the token may not read the schema of {0}, or there is no such type")]
    NotReadable(String),
}

/// The attributes of the content types whose schemas were requested so far.
#[derive(Debug, Default)]
pub struct Schemas(HashMap<String, Attributes>);

type Attributes = HashMap<String, Attribute>;

#[derive(Debug, Deserialize)]
struct Attribute {
    /// The content type that a relation leads to.
    target: Option<String>,
}

impl Schemas {
    pub(super) async fn has_field(
        &mut self,
        client: &Client,
        uid: &ContentTypeUid,
        field: &FieldPath,
    ) -> Result<bool, SchemaError> {
        let mut uid = uid.to_string();
        for name in field.segments() {
            if SYSTEM_FIELDS.contains(&&**name) {
                return Ok(true);
            }
            if !self.0.contains_key(&uid) {
                let attributes = fetch_attributes(client, &uid).await?;
                self.0.insert(uid.clone(), attributes);
            }
            match self.0.get(&uid).and_then(|attributes| attributes.get(&**name)) {
                None => return Ok(false),
                Some(Attribute { target: Some(target) }) => uid.clone_from(target),
                Some(Attribute { target: None }) => return Ok(true),
            }
        }
        Ok(true)
    }
}

/// The content type that a relation leads to; `None`: it is no relation to a content type.
pub(super) async fn target(
    client: &Client,
    uid: &ContentTypeUid,
    relation: &FieldPath,
) -> Result<Option<ContentTypeUid>, SchemaError> {
    let mut uid = uid.clone();
    for name in relation.segments() {
        let attributes = fetch_attributes(client, uid.as_str()).await?;
        let target = attributes.get(&**name).and_then(|attribute| attribute.target.as_ref());
        match target.and_then(|target| ContentTypeUid::parse(target).ok()) {
            Some(target) => uid = target,
            None => return Ok(None),
        }
    }
    Ok(Some(uid))
}

async fn fetch_attributes(client: &Client, uid: &str) -> Result<Attributes, SchemaError> {
    let not_readable = || SchemaError::NotReadable(uid.to_owned());
    // The target of a relation comes from the CMS, and becomes part of a path.
    let uid = ContentTypeUid::parse(uid).map_err(|_| not_readable())?;
    match client.schema(&uid).await? {
        Reply::Json(json) => parse_attributes(&json).ok_or_else(not_readable),
        Reply::Refused(_) | Reply::Unauthorized | Reply::Forbidden => Err(not_readable()),
    }
}

fn parse_attributes(json: &str) -> Option<Attributes> {
    #[derive(Deserialize)]
    struct SchemaResponse<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        schema: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Schema {
        attributes: Attributes,
    }
    let response: SchemaResponse<'_> = object(json)?;
    let data: Data<'_> = object(response.data.get())?;
    let schema: Schema = object(data.schema.get())?;
    Some(schema.attributes)
}
