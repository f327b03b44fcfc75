//! Which fields a content type has, as far as the content-type builder tells.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Reply;
use super::{Strapi, object};
use crate::content::ContentError;
use crate::rules::{ContentTypeUid, FieldPath};

/// What every document has without an attribute of its own.
const OWN: [&str; 8] = [
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
    /// The CMS did not answer as it should.
    #[error(transparent)]
    Cms(#[from] ContentError),
    /// It answered, but not with the schema.
    #[error("the token may not read the schema of {0}, or there is no such type")]
    NotTold(String),
}

/// The attributes of content types that were asked for.
#[derive(Debug, Default)]
pub struct Schemas(HashMap<String, Attributes>);

type Attributes = HashMap<String, Attribute>;

#[derive(Debug, Deserialize)]
struct Attribute {
    /// The content type that a relation leads to.
    target: Option<String>,
}

impl Strapi {
    /// Whether a content type has this field; behind anything but a relation, everything counts as
    /// there. Each type is asked for once for these `schemas`.
    ///
    /// # Errors
    /// [`SchemaError`] when that cannot be known.
    pub async fn has_field(
        &self,
        schemas: &mut Schemas,
        uid: &ContentTypeUid,
        field: &FieldPath,
    ) -> Result<bool, SchemaError> {
        let mut uid = uid.to_string();
        for name in field.segments() {
            if OWN.contains(&&**name) {
                return Ok(true);
            }
            if !schemas.0.contains_key(&uid) {
                let told = self.attributes(&uid).await?;
                schemas.0.insert(uid.clone(), told);
            }
            match schemas.0.get(&uid).and_then(|attributes| attributes.get(&**name)) {
                None => return Ok(false),
                Some(Attribute { target: Some(target) }) => uid.clone_from(target),
                Some(Attribute { target: None }) => return Ok(true),
            }
        }
        Ok(true)
    }

    async fn attributes(&self, uid: &str) -> Result<Attributes, SchemaError> {
        let not_told = || SchemaError::NotTold(uid.to_owned());
        // A relation's target comes from the CMS, and goes into a path.
        let uid = ContentTypeUid::parse(uid).map_err(|_| not_told())?;
        let path = format!("content-type-builder/content-types/{uid}");
        match self.client.once(&path).await? {
            Reply::Json(json) => attributes(&json).ok_or_else(not_told),
            Reply::Refused(_) | Reply::Denied => Err(not_told()),
        }
    }
}

fn attributes(json: &str) -> Option<Attributes> {
    #[derive(Deserialize)]
    struct Answer<'a> {
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
    let answer: Answer<'_> = object(json)?;
    let data: Data<'_> = object(answer.data.get())?;
    let schema: Schema = object(data.schema.get())?;
    Some(schema.attributes)
}
