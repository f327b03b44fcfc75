//! The content types that relations lead to, for messages about permissions.

mod attributes;

pub(super) use attributes::{Attribute, Attributes, is_plain, parse_attributes};

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::client::Client;
use crate::rules::{ContentTypeUid, FieldPath};

/// How long it is remembered that the schema does not say where a relation leads: the token may be
/// permitted to read it later.
const UNKNOWN: Duration = Duration::from_mins(10);

/// A relation of a content type.
type Relation = (ContentTypeUid, FieldPath);

/// What the schemas said so far, and when. Each relation is looked up once: the same message may be
/// needed every few seconds.
#[derive(Debug, Default)]
pub(super) struct Targets(Mutex<HashMap<Relation, (Option<ContentTypeUid>, Instant)>>);

impl Targets {
    /// The type that a relation of a content type leads to, if the schema says it.
    pub(super) async fn get(
        &self,
        client: &Client,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> Option<ContentTypeUid> {
        let key = (uid.clone(), relation.clone());
        if let Some((known, at)) = self.0.lock().get(&key)
            && (known.is_some() || at.elapsed() < UNKNOWN)
        {
            return known.clone();
        }
        let target = attributes::target(client, uid, relation).await.ok()?;
        self.0.lock().insert(key, (target.clone(), Instant::now()));
        target
    }
}
