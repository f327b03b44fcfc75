//! `[[content_type]]`: the endpoint of a content type in the CMS's API.

use std::collections::HashMap;

use crate::config::section::Section;
use crate::config::value::{text, word};
use frontend_map_cms::{Endpoint, EndpointKind};
use frontend_map_rules::ContentTypeUid;

/// The endpoints of the content types in the settings.
pub(in crate::config) fn read(root: &mut Section<'_>) -> HashMap<ContentTypeUid, Endpoint> {
    let mut endpoints = HashMap::new();
    root.entries("content_type", |entry| {
        let (uid, path) = (entry.required("uid", text), entry.required("endpoint", text));
        let kinds = [("collection", EndpointKind::Collection), ("single", EndpointKind::Single)];
        let kind = entry.get("kind", word(kinds));
        let uid = uid.and_then(|uid| {
            entry.title(&uid);
            entry.check("", ContentTypeUid::parse(&uid))
        });
        let endpoint = path.and_then(|path| entry.check("", Endpoint::new(&path, kind)));
        let (uid, endpoint) = (uid?, endpoint?);
        if endpoints.insert(uid.clone(), endpoint).is_some() {
            entry.problem("", "it is listed twice");
        }
        Some(())
    });
    endpoints
}
