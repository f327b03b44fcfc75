//! What the schemas say about content types: where relations lead, and whether there are drafts.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Deserialize;

use super::client::{Client, Reply};
use super::json::schema;
use crate::ContentError;
use frontend_map_rules::{ContentTypeUid, FieldPath};

/// How long it is remembered that the schema does not say something: the token may be permitted to read
/// it later.
const UNKNOWN: Duration = Duration::from_mins(10);
/// How long it is remembered that the schema could not be requested.
const FAILED: Duration = Duration::from_mins(1);

/// A relation of a content type.
type Relation = (ContentTypeUid, FieldPath);

/// What the schemas said so far. Each question is asked once: the answer may be needed every second.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    relations: Mutex<HashMap<Relation, Answer<ContentTypeUid>>>,
    drafts: Mutex<HashMap<ContentTypeUid, Answer<bool>>>,
}

/// What a schema says.
#[derive(Clone, Debug)]
enum Answer<T> {
    Known(T),
    /// Not known until then.
    Unknown(Instant),
}

impl Targets {
    /// The type that a relation of a content type leads to, if the schema says it.
    pub(crate) async fn get(
        &self,
        client: &Client,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> Option<ContentTypeUid> {
        let key = (uid.clone(), relation.clone());
        ask(&self.relations, key, target(client, uid, relation)).await
    }

    /// Whether a content type has Draft & Publish, if the schema says it.
    pub(super) async fn has_drafts(&self, client: &Client, uid: &ContentTypeUid) -> Option<bool> {
        ask(&self.drafts, uid.clone(), has_drafts(client, uid)).await
    }
}

/// The known answer, or else the one that this request brings.
async fn ask<K: Eq + Hash, T: Clone>(
    answers: &Mutex<HashMap<K, Answer<T>>>,
    key: K,
    request: impl Future<Output = Result<Option<T>, ContentError>>,
) -> Option<T> {
    match answers.lock().get(&key) {
        Some(Answer::Known(known)) => return Some(known.clone()),
        Some(Answer::Unknown(until)) if Instant::now() < *until => return None,
        Some(Answer::Unknown(_)) | None => {}
    }
    let (found, unknown) = match request.await {
        Ok(found) => (found, UNKNOWN),
        Err(_) => (None, FAILED),
    };
    let answer = found.clone().map_or(Answer::Unknown(Instant::now() + unknown), Answer::Known);
    answers.lock().insert(key, answer);
    found
}

/// The attributes of a content type or component, by name.
pub(super) type Attributes = HashMap<String, Attribute>;

/// An attribute of a content type or component.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Attribute {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) private: bool,
    pub(super) unique: Option<bool>,
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
    pub(super) components: Vec<String>,
}

impl Attribute {
    pub(super) fn is_list(&self) -> bool {
        let to_many = self.relation.ends_with("ToMany") || self.relation.ends_with("Many");
        to_many || self.repeatable || self.multiple
    }

    /// The type of related documents, or else the component.
    pub(super) fn leads_to(&self) -> (Option<&String>, Option<&String>) {
        (self.target.as_ref(), self.component.as_ref())
    }
}

/// The content type that a relation leads to, also through components; `None`: it is no relation to
/// a content type, or the token may not read the schema.
async fn target(
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
pub(super) fn is_plain(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
}

/// Whether a content type has Draft & Publish; `None`: the token may not read the schema, or it does not
/// say so.
async fn has_drafts(client: &Client, uid: &ContentTypeUid) -> Result<Option<bool>, ContentError> {
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
pub(super) async fn attributes(
    client: &Client,
    path: &str,
) -> Result<Option<Attributes>, ContentError> {
    match client.schema(path).await {
        Ok(Reply::Json(json)) => Ok(parse_attributes(&json)),
        Ok(_) | Err(ContentError::Unusable(_) | ContentError::Redirected(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn parse_attributes(json: &str) -> Option<Attributes> {
    #[derive(Deserialize)]
    struct Schema {
        attributes: Attributes,
    }
    schema::<Schema>(json).map(|(_, schema)| schema.attributes)
}
