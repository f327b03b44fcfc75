//! `[[content_type]]`: the endpoint of a content type in the CMS's API.

use std::collections::HashMap;

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::{Table, Value};
use frontend_map_cms::{Endpoint, EndpointKind};
use frontend_map_rules::ContentTypeUid;

#[derive(Debug, Deserialize)]
struct ContentTypeToml {
    uid: String,
    endpoint: String,
    #[serde(default)]
    kind: KindToml,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindToml {
    #[default]
    Collection,
    Single,
}

/// The endpoints of the content types in the settings.
pub(super) fn read(
    table: &mut Table,
    problems: &mut Problems,
) -> HashMap<ContentTypeUid, Endpoint> {
    let mut endpoints = HashMap::new();
    let entries = table::list(table, "content_type", "content_type", "content_type", problems);
    for (at, value) in entries.into_iter().enumerate() {
        let place = format!("content_type {}", at + 1);
        let Some((uid, endpoint)) = one(value, &place, problems) else {
            continue;
        };
        if endpoints.insert(uid.clone(), endpoint).is_some() {
            problems.add(&place, format_args!("{uid} is listed twice"));
        }
    }
    endpoints
}

fn one(value: Value, place: &str, problems: &mut Problems) -> Option<(ContentTypeUid, Endpoint)> {
    let toml: ContentTypeToml = table::one(value, "content_type", place, problems)?;
    let place = format!("{place} ({})", toml.uid);
    let kind = match toml.kind {
        KindToml::Collection => EndpointKind::Collection,
        KindToml::Single => EndpointKind::Single,
    };
    let uid = problems.take(&place, ContentTypeUid::parse(&toml.uid));
    let endpoint = problems.take(&place, Endpoint::new(&toml.endpoint, kind));
    uid.zip(endpoint)
}
