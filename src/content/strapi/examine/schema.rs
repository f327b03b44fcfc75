//! The kinds of fields, from Strapi's content-type builder.

use std::collections::{HashMap, HashSet};

use super::finding::{Fault, FieldUse, Finding, Purpose};
use super::kind::fault_of_type;
use crate::content::ContentError;
use crate::content::strapi::client::Client;
use crate::content::strapi::targets::{Attribute, Attributes, fetch, is_plain};
use crate::rules::ContentTypeUid;

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

/// The attributes of the content types and components about which the CMS has responded; `None`:
/// the token may not read the schema.
#[derive(Debug, Default)]
pub struct Schemas(HashMap<String, Option<Attributes>>);

/// The schema of a content type or of a component.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Schema {
    ContentType(String),
    Component(String),
}

impl Schemas {
    /// Whether the CMS has responded about no schema.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the schemas say about the fields of a content type. Each attribute is reported once.
    pub(super) async fn examine(
        &mut self,
        client: &Client,
        uid: &ContentTypeUid,
        fields: &[FieldUse],
    ) -> Result<Vec<Finding>, ContentError> {
        let (mut findings, mut reported) = (Vec::new(), HashSet::new());
        for field in fields {
            let Some((schema, path, fault)) = self.fault(client, uid, field).await? else {
                continue;
            };
            let name = path.rsplit('.').next().map(str::to_owned);
            if reported.insert((schema, name)) {
                findings.push(Finding::Field(path, fault));
            }
        }
        Ok(findings)
    }

    /// The schema at fault, the path to its attribute, and what is wrong.
    async fn fault(
        &mut self,
        client: &Client,
        uid: &ContentTypeUid,
        field: &FieldUse,
    ) -> Result<Option<(Schema, String, Fault)>, ContentError> {
        let mut schema = Schema::ContentType(uid.to_string());
        let segments = field.path.segments();
        for (at, name) in segments.iter().enumerate() {
            if SYSTEM_FIELDS.contains(&&**name) {
                return Ok(None);
            }
            let Some(attributes) = self.attributes(client, &schema).await? else {
                return Ok(None);
            };
            let is_last = at + 1 == segments.len();
            let found = attributes.get(&**name).cloned();
            let fault = match &found {
                None => Some(Fault::Missing),
                Some(attribute) => fault(attribute, is_last, field.purpose),
            };
            if let Some(fault) = fault {
                return Ok(Some((schema, segments[..=at].join("."), fault)));
            }
            match found.as_ref().and_then(leads_to) {
                Some(next) => schema = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    async fn attributes(
        &mut self,
        client: &Client,
        schema: &Schema,
    ) -> Result<Option<&Attributes>, ContentError> {
        let (path, key) = match schema {
            Schema::ContentType(uid) => (format!("content-types/{uid}"), uid),
            Schema::Component(uid) => (format!("components/{uid}"), uid),
        };
        if !self.0.contains_key(key) {
            // The name comes from the CMS and becomes part of a path.
            let attributes = if is_plain(key) { fetch(client, &path).await? } else { None };
            self.0.insert(key.clone(), attributes);
        }
        Ok(self.0.get(key).and_then(Option::as_ref))
    }
}

fn leads_to(attribute: &Attribute) -> Option<Schema> {
    let (target, component) = attribute.leads_to();
    let target = target.cloned().map(Schema::ContentType);
    target.or_else(|| component.cloned().map(Schema::Component))
}

fn fault(attribute: &Attribute, is_last: bool, purpose: Purpose) -> Option<Fault> {
    let kind = attribute.kind.as_str();
    if attribute.private {
        return Some(Fault::Private);
    }
    let has_fields = matches!(kind, "relation" | "component" | "media");
    if has_fields && attribute.is_list() && purpose != Purpose::Condition {
        return Some(Fault::ToMany);
    }
    if is_last {
        return fault_of_type(kind, purpose);
    }
    match kind {
        "dynamiczone" => Some(Fault::DynamicZone),
        // JSON has any shape.
        _ if has_fields || kind == "json" => None,
        _ => Some(Fault::NotARelation),
    }
}
