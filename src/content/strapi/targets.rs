//! The content types that relations lead to, by the schemas.

mod attributes;

pub(super) use attributes::{Attribute, Attributes, attributes, is_plain, parse_attributes};

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::client::Client;
use crate::rules::{ContentTypeUid, FieldPath};

/// How long it is remembered that the schema does not say where a relation leads: the token may be
/// permitted to read it later.
const UNKNOWN: Duration = Duration::from_mins(10);
/// How long it is remembered that the schema could not be requested.
const FAILED: Duration = Duration::from_mins(1);

/// A relation of a content type.
type Relation = (ContentTypeUid, FieldPath);

/// What the schemas said so far. Each relation is looked up once: where it leads may be needed every
/// second.
#[derive(Debug, Default)]
pub(super) struct Targets(Mutex<HashMap<Relation, Target>>);

/// Where a relation leads.
#[derive(Clone, Debug)]
enum Target {
    Known(ContentTypeUid),
    /// Not known until then.
    Unknown(Instant),
}

impl Targets {
    /// The type that a relation of a content type leads to, if the schema says it.
    pub(super) async fn get(
        &self,
        client: &Client,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> Option<ContentTypeUid> {
        let key = (uid.clone(), relation.clone());
        match self.0.lock().get(&key) {
            Some(Target::Known(target)) => return Some(target.clone()),
            Some(Target::Unknown(until)) if Instant::now() < *until => return None,
            Some(Target::Unknown(_)) | None => {}
        }
        let (target, unknown) = match attributes::target(client, uid, relation).await {
            Ok(target) => (target, UNKNOWN),
            Err(_) => (None, FAILED),
        };
        let found = target.clone().map_or(Target::Unknown(Instant::now() + unknown), Target::Known);
        self.0.lock().insert(key, found);
        target
    }
}
