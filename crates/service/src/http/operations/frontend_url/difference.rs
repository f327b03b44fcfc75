//! Whether a published version that was read from the CMS differs from what the snapshot has of it:
//! then the webhook about a change was lost, or is late.

use crate::app::{App, update_different_document};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{Snapshot, Version};
use frontend_map_cms::Document;
use frontend_map_rules::Locale;
use frontend_map_rules::frontend_url::{FrontendPath, NoUrl, NoUrlReason, frontend_path};

/// Lets a document be read again for the snapshot if that has something else of the version in a
/// locale; `document`: what the CMS has now. The longer they differ, the more rarely.
pub(in crate::http::operations) async fn update_if_different(
    app: &App,
    site: &Site,
    uid: &str,
    document_id: &str,
    locale: &Locale,
    document: Option<&Document<'_>>,
) {
    let cached =
        app.snapshots.present_snapshot(site, uid).filter(|_| app.snapshots.content().may_change());
    let (Some(cached), Some(at)) = (cached, site.rules.locales().position(locale.as_str())) else {
        return;
    };
    let path = |document| frontend_path(&site.rules, &site.hosts, uid, document, false);
    let now = document.and_then(path);
    if is_different(&cached.snapshot, document_id, at, now) {
        update_different_document(app, site, uid, document_id, locale).await;
    } else {
        app.documents.record_agreement(site, uid, document_id, locale);
    }
}

/// Whether the snapshot has something else of a version than the CMS has now. `None`: the CMS has no
/// such version.
fn is_different(
    snapshot: &Snapshot,
    document_id: &str,
    locale: usize,
    now: Option<Result<FrontendPath<'_>, NoUrl<'_>>>,
) -> bool {
    // Lists do not have the documents that the conditions leave out.
    let now = now.filter(|now| {
        let reason = now.as_ref().err().map(|no_url| &no_url.reason);
        !matches!(reason, Some(NoUrlReason::ConditionsNotMet))
    });
    match (snapshot.version(document_id, locale), now) {
        (Version::Url(url), Some(Ok(now))) => url.path() != now.path,
        (Version::NoUrl(row), Some(Err(now))) => row.reason != now.reason.to_string(),
        (Version::None, None) => false,
        _ => true,
    }
}
