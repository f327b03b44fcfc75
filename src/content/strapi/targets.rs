//! The content types that relations lead to, for messages about permissions.

mod attributes;

pub(super) use attributes::{Attribute, Attributes, fetch, is_plain};

use std::collections::HashMap;

use parking_lot::Mutex;

use super::client::Client;
use crate::rules::{ContentTypeUid, FieldPath};

/// What the schemas said so far. Each relation is looked up once: the same message may be needed
/// every few seconds.
#[derive(Debug, Default)]
pub(super) struct Targets(Mutex<HashMap<(ContentTypeUid, FieldPath), Option<ContentTypeUid>>>);

impl Targets {
    /// The type that a relation of a content type leads to, if the schema says it.
    pub(super) async fn get(
        &self,
        client: &Client,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> Option<ContentTypeUid> {
        let key = (uid.clone(), relation.clone());
        if let Some(known) = self.0.lock().get(&key) {
            return known.clone();
        }
        let target = attributes::target(client, uid, relation).await.ok()?;
        self.0.lock().insert(key, target.clone());
        target
    }
}
