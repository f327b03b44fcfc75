//! Warns of webhooks about a content type without a rule, where a rule names a similar one.

use std::collections::HashSet;

use parking_lot::Mutex;

use super::App;
use frontend_map_fleet::cms_events::CmsEvent;
use frontend_map_rules::ContentTypeUid;

/// The content types of rules of which was warned.
#[derive(Debug, Default)]
pub struct SimilarTypes(Mutex<HashSet<ContentTypeUid>>);

/// Warns if the content type of an event has no rule and may be the one that a rule means: no
/// webhook would ever match that rule. Once for each content type of the rules.
pub(super) fn warn_of_similar_type(app: &App, event: &CmsEvent) {
    let Some(document) = event.document() else { return };
    let Ok(uid) = ContentTypeUid::parse(&document.uid) else { return };
    let of_rules = || app.sites.iter().flat_map(|site| site.rules.content_types());
    if of_rules().any(|known| *known == uid) {
        return;
    }
    let content = app.snapshots.content();
    let Some(known) = of_rules().find(|known| content.may_be_same_type(known, &uid)) else {
        return;
    };
    if app.similar_types.0.lock().insert(ContentTypeUid::clone(known)) {
        tracing::warn!(
            webhook = %uid,
            rule = %known,
            "a webhook names a content type that has no rule, and a rule names one with the same \
             endpoint: if both are the same, correct content_type"
        );
    }
}
