//! The attributes of content types and components, from Strapi's content-type builder.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::ContentError;
use crate::strapi::client::{Client, Reply};
use crate::strapi::json::object;
use frontend_map_rules::{ContentTypeUid, FieldPath};

/// The attributes of a content type or component, by name.
pub(in crate::strapi) type Attributes = HashMap<String, Attribute>;

/// An attribute of a content type or component.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::strapi) struct Attribute {
    #[serde(rename = "type", default)]
    pub(in crate::strapi) kind: String,
    #[serde(default)]
    pub(in crate::strapi) private: bool,
    pub(in crate::strapi) unique: Option<bool>,
    #[serde(default)]
    relation: String,
    #[serde(default)]
    repeatable: bool,
    #[serde(default)]
    multiple: bool,
    /// The content type that a relation leads to.
    target: Option<String>,
    component: Option<String>,
    /// The components of a dynamic zone.
    #[serde(default)]
    pub(in crate::strapi) components: Vec<String>,
}

impl Attribute {
    pub(in crate::strapi) fn is_list(&self) -> bool {
        let to_many = self.relation.ends_with("ToMany") || self.relation.ends_with("Many");
        to_many || self.repeatable || self.multiple
    }

    /// The type of related documents, or else the component.
    pub(in crate::strapi) fn leads_to(&self) -> (Option<&String>, Option<&String>) {
        (self.target.as_ref(), self.component.as_ref())
    }
}

/// The content type that a relation leads to, also through components; `None`: it is no relation to
/// a content type, or the token may not read the schema.
pub(super) async fn target(
    client: &Client,
    uid: &ContentTypeUid,
    relation: &FieldPath,
) -> Result<Option<ContentTypeUid>, ContentError> {
    let (mut schema, mut target) = (format!("content-types/{uid}"), None);
    for name in relation.segments() {
        let Some(mut attributes) = attributes(client, &schema).await? else { return Ok(None) };
        let Some(attribute) = attributes.remove(&**name) else { return Ok(None) };
        target = attribute.target.and_then(|target| ContentTypeUid::parse(&target).ok());
        schema = match (&target, attribute.component) {
            (Some(target), _) => format!("content-types/{target}"),
            (None, Some(component)) if is_plain(&component) => format!("components/{component}"),
            (None, _) => return Ok(None),
        };
    }
    Ok(target)
}

/// Whether a name of the CMS can stand in a path.
pub(in crate::strapi) fn is_plain(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
}

/// Whether a content type has Draft & Publish; `None`: the token may not read the schema, or it does not
/// say so.
pub(super) async fn has_drafts(
    client: &Client,
    uid: &ContentTypeUid,
) -> Result<Option<bool>, ContentError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Schema {
        draft_and_publish: Option<bool>,
    }
    match client.schema(&format!("content-types/{uid}")).await {
        Ok(Reply::Json(json)) => {
            Ok(schema::<Schema>(&json).and_then(|(_, schema)| schema.draft_and_publish))
        }
        Ok(_) | Err(ContentError::Unusable(_) | ContentError::Redirected(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `None`: the token may not read the schema, or there is none.
pub(in crate::strapi) async fn attributes(
    client: &Client,
    path: &str,
) -> Result<Option<Attributes>, ContentError> {
    match client.schema(path).await {
        Ok(Reply::Json(json)) => Ok(parse_attributes(&json)),
        Ok(_) | Err(ContentError::Unusable(_) | ContentError::Redirected(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(in crate::strapi) fn parse_attributes(json: &str) -> Option<Attributes> {
    #[derive(Deserialize)]
    struct Schema {
        attributes: Attributes,
    }
    schema::<Schema>(json).map(|(_, schema)| schema.attributes)
}

/// What a response says about a schema, and the UID of its content type or component.
pub(in crate::strapi) fn schema<T: DeserializeOwned>(json: &str) -> Option<(Option<String>, T)> {
    #[derive(Deserialize)]
    struct SchemaResponse<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Data<'a> {
        uid: Option<String>,
        #[serde(borrow)]
        schema: &'a RawValue,
    }
    let response: SchemaResponse<'_> = object(json)?;
    let data: Data<'_> = object(response.data.get())?;
    Some((data.uid, object(data.schema.get())?))
}
