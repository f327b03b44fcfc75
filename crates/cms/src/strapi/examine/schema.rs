//! The kinds of fields, from Strapi's content-type builder.

use std::collections::{HashMap, HashSet};

use super::finding::{Fault, FieldUse, Finding, Purpose, fault_of_type};
use crate::ContentError;
use crate::strapi::client::{Client, Refusal, Reply};
use crate::strapi::endpoint::{other_numbers, with_singular_api};
use crate::strapi::query_string::MAX_IN_ZONE;
use crate::strapi::survey;
use crate::strapi::targets::{Attribute, Attributes, is_plain, parse_attributes};
use frontend_map_platform::spelling::closest;
use frontend_map_rules::ContentTypeUid;

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

/// The content types and components about which the CMS has responded.
#[derive(Debug, Default)]
pub struct Schemas {
    known: HashMap<String, Answer>,
    types: Types,
}

/// What is known about the content types that the CMS has.
#[derive(Debug, Default)]
enum Types {
    #[default]
    NotRequested,
    /// The token may not read them.
    Unreadable,
    /// The UIDs of all of them.
    All(Vec<String>),
}

/// What the CMS has responded about a schema.
#[derive(Debug)]
enum Answer {
    Attributes(Attributes),
    /// There is no such content type.
    Missing,
    /// The token may not read it.
    Unreadable,
}

/// The schema of a content type or of a component.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Schema {
    ContentType(String),
    Component(String),
}

/// The schema at fault, the path to its attribute, and what is wrong.
type FieldFault = (Schema, String, Fault);

impl Schemas {
    /// Whether the CMS has responded about no schema.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// That the CMS has no such content type; `None`: it has it, or the token may not read that.
    pub(super) async fn missing_type(
        &mut self,
        client: &Client,
        uid: &ContentTypeUid,
    ) -> Result<Option<Finding>, ContentError> {
        let own = Schema::ContentType(uid.to_string());
        let is_missing = match self.answer(client, &own).await? {
            Answer::Attributes(_) => return Ok(None),
            Answer::Missing => true,
            Answer::Unreadable => false,
        };
        if matches!(self.types, Types::NotRequested) {
            self.types = survey::uids(client).await?.map_or(Types::Unreadable, Types::All);
        }
        if let Types::All(uids) = &self.types {
            let is_known = uids.iter().any(|known| known == uid.as_str());
            // Types of Strapi's administration are not read.
            let similar = uids.iter().filter(|known| ContentTypeUid::parse(known).is_ok());
            let similar = closest(uid.as_str(), similar.map(String::as_str)).map(str::to_owned);
            return Ok((!is_known).then_some(Finding::NoContentType(similar)));
        }
        if !is_missing {
            return Ok(None);
        }
        for other in other_numbers(uid) {
            let schema = Schema::ContentType(other.to_string());
            if let Answer::Attributes(_) = self.answer(client, &schema).await? {
                return Ok(Some(Finding::NoContentType(Some(other.to_string()))));
            }
        }
        Ok(Some(Finding::NoContentType(None)))
    }

    /// The content type that is meant more likely, if the token may read neither the schema nor the
    /// list of types, so that nothing shows whether there is this one.
    pub(super) fn likelier_type(&self, uid: &ContentTypeUid) -> Option<String> {
        let is_known = matches!(self.known.get(uid.as_str()), Some(Answer::Attributes(_)))
            || matches!(self.types, Types::All(_));
        let likelier = with_singular_api(uid).filter(|_| !is_known)?;
        Some(likelier.to_string())
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
            let own = Schema::ContentType(uid.to_string());
            let Some((schema, path, fault)) = self.fault(client, own, field, 0).await? else {
                continue;
            };
            let name = path.rsplit('.').next().map(str::to_owned);
            if reported.insert((schema, name)) {
                findings.push(Finding::Field(path, fault));
            }
        }
        Ok(findings)
    }

    /// What is wrong with a field, whose names from this position on are in a schema.
    async fn fault(
        &mut self,
        client: &Client,
        mut schema: Schema,
        field: &FieldUse,
        from: usize,
    ) -> Result<Option<FieldFault>, ContentError> {
        let segments = field.path.segments();
        for (at, name) in segments.iter().enumerate().skip(from) {
            if SYSTEM_FIELDS.contains(&&**name) {
                return Ok(None);
            }
            let Some(attributes) = self.attributes(client, &schema).await? else {
                return Ok(None);
            };
            let is_last = at + 1 == segments.len();
            let found = attributes.get(&**name).cloned();
            let has_readable_parts = field.purpose == Purpose::Links
                && !is_last
                && segments.len() <= MAX_IN_ZONE
                && found.as_ref().is_some_and(|attribute| attribute.kind == "dynamiczone");
            if has_readable_parts {
                let components = found.map(|zone| zone.components).unwrap_or_default();
                return self.fault_in_parts(client, components, field, at + 1).await;
            }
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

    /// What is wrong with a field in all components of a dynamic zone; `None`: nothing in one of them.
    async fn fault_in_parts(
        &mut self,
        client: &Client,
        components: Vec<String>,
        field: &FieldUse,
        from: usize,
    ) -> Result<Option<FieldFault>, ContentError> {
        let mut worst: Option<FieldFault> = None;
        for component in components {
            let component = Schema::Component(component);
            let fault = Box::pin(self.fault(client, component, field, from)).await?;
            let Some(fault) = fault else { return Ok(None) };
            // The name may be right where the kind is not.
            if worst.as_ref().is_none_or(|(_, _, known)| *known == Fault::Missing) {
                worst = Some(fault);
            }
        }
        Ok(worst)
    }

    async fn attributes(
        &mut self,
        client: &Client,
        schema: &Schema,
    ) -> Result<Option<&Attributes>, ContentError> {
        Ok(match self.answer(client, schema).await? {
            Answer::Attributes(attributes) => Some(attributes),
            Answer::Missing | Answer::Unreadable => None,
        })
    }

    async fn answer(&mut self, client: &Client, schema: &Schema) -> Result<&Answer, ContentError> {
        let (path, key) = match schema {
            Schema::ContentType(uid) => (format!("content-types/{uid}"), uid),
            Schema::Component(uid) => (format!("components/{uid}"), uid),
        };
        if !self.known.contains_key(key) {
            // The name comes from the CMS and becomes part of a path.
            let answer =
                if is_plain(key) { request(client, &path).await? } else { Answer::Unreadable };
            self.known.insert(key.clone(), answer);
        }
        Ok(self.known.get(key).expect("the answer was inserted"))
    }
}

async fn request(client: &Client, path: &str) -> Result<Answer, ContentError> {
    match client.schema(path).await {
        Ok(Reply::Json(json)) => {
            Ok(parse_attributes(&json).map_or(Answer::Unreadable, Answer::Attributes))
        }
        Ok(Reply::Refused(Refusal::NoContentType)) => Ok(Answer::Missing),
        Ok(_) | Err(ContentError::Unusable(_) | ContentError::Redirected(_)) => {
            Ok(Answer::Unreadable)
        }
        Err(error) => Err(error),
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
    if has_fields && attribute.is_list() && !purpose.takes_lists() {
        return Some(Fault::ToMany);
    }
    if is_last {
        return fault_of_type(kind, purpose);
    }
    match kind {
        "dynamiczone" => Some(purpose.zone_fault()),
        // JSON has any shape.
        _ if has_fields || kind == "json" => None,
        _ => Some(Fault::NotARelation),
    }
}
