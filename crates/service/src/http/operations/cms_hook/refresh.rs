//! The event `frontend-map.refresh`: the lists of content types are walked again.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::app::App;
use crate::http::request::params::known_site;
use crate::http::request::query::echo;
use crate::http::response::error::ApiError;
use frontend_map_fleet::cms_events::{CmsChange, CmsEvent};
use frontend_map_rules::ContentTypeUid;

const MALFORMED: &str = "an event of a refresh has the texts `event`, `site` and `uid`, of which the last two \
                         may be left out, and nothing else";

/// The event as it is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refresh {
    #[serde(rename = "event")]
    _event: IgnoredAny,
    /// The key of the site whose content types are meant; by default all sites.
    site: Option<String>,
    /// The content type; by default all of them.
    uid: Option<String>,
}

/// What is refreshed.
pub(super) struct Selected {
    pub(super) event: CmsEvent,
    /// The number of content types.
    pub(super) number: usize,
}

/// The content types that the event of a body selects.
///
/// # Errors
/// If it has other members, if no rule is for what it names, or if no list can be walked.
pub(super) fn select(app: &App, body: &[u8]) -> Result<Selected, ApiError> {
    let Refresh { site, uid, .. } =
        serde_json::from_slice(body).map_err(|_| ApiError::validation(MALFORMED))?;
    let is_all = site.is_none() && uid.is_none();
    let sites = match &site {
        Some(key) => vec![known_site(app, key)?],
        None => app.sites.iter().collect(),
    };
    let types = sites.iter().flat_map(|site| site.all_content_types());
    let is_selected = |known: &&str| uid.as_ref().is_none_or(|uid| uid == known);
    let types: BTreeSet<&str> = types.map(ContentTypeUid::as_str).filter(is_selected).collect();
    if let Some(uid) = uid.as_ref().filter(|_| types.is_empty()) {
        let message = format!("no rule is for this `uid`: {}", echo(uid));
        return Err(ApiError::validation(message));
    }
    if !app.snapshots.content().may_change() {
        let message = "the content comes from a file: a reload of the service reads it (SIGHUP)";
        return Err(ApiError::not_configured(message));
    }
    let number = types.len();
    let change = if is_all {
        CmsChange::Anything
    } else {
        CmsChange::ContentTypes(types.into_iter().map(str::to_owned).collect())
    };
    Ok(Selected { event: CmsEvent { withdraws: false, change, is_found: true }, number })
}
