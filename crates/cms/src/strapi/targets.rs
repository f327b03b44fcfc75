//! What the schemas say about content types: where relations lead, and whether there are drafts.

mod attributes;

pub(super) use attributes::{
    Attribute, Attributes, attributes, is_plain, parse_attributes, schema,
};

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::client::Client;
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
        ask(&self.relations, key, attributes::target(client, uid, relation)).await
    }

    /// Whether a content type has Draft & Publish, if the schema says it.
    pub(super) async fn has_drafts(&self, client: &Client, uid: &ContentTypeUid) -> Option<bool> {
        ask(&self.drafts, uid.clone(), attributes::has_drafts(client, uid)).await
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
