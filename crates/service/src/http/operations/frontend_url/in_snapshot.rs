//! What the snapshot has of a document, for a response while the CMS fails.

use std::time::Duration;

use super::path_or_reason::{null_link, without_url};
use super::{Params, PathOfVersion};
use crate::app::App;
use frontend_map_cache::KnownSnapshot;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::Version;
use frontend_map_cms::Status;
use frontend_map_rules::Locale;
use frontend_map_rules::frontend_url::in_words;

/// What the snapshot has of a version, with its age.
pub(super) struct InSnapshot {
    /// `None`: the snapshot has neither a URL nor a reason. The version may be newer.
    path: Option<PathOfVersion>,
    age: Duration,
}

/// What the snapshot says. `None`: there is none, the document may have been withdrawn since, or a
/// draft is requested.
pub(super) fn in_snapshot(
    app: &App,
    site: &Site,
    params: &Params<'_>,
    locale: &Locale,
) -> Option<InSnapshot> {
    let (uid, id) = (&*params.uid, &*params.document_id);
    if params.status == Status::Draft {
        return None;
    }
    let KnownSnapshot { cached, age, .. } = app.snapshots.known(site, uid)?;
    if app.shared.last_good.may_be_withdrawn_since(&cached, uid, id) {
        return None;
    }
    let at = site.rules.locales().position(locale.as_str())?;
    let path = match cached.snapshot.version(id, at) {
        Version::Url(url) => Some(Ok((url.path().to_owned(), url.locale()))),
        Version::NoUrl(row) => {
            let code = &site.rules.locales().codes()[row.locale.unwrap_or(at)];
            let rule = &site.rules.rules()[row.rule];
            let template = rule.template(code).unwrap_or(rule.first_template());
            let why = in_words(row.reason, template, None, null_link(app, site, params));
            Some(Err(without_url(row.reason.to_owned(), template, why)))
        }
        Version::None => None,
    };
    Some(InSnapshot { path, age })
}

/// The newer one of the last good response and the snapshot, with its age. `None`: nothing is known.
pub(super) fn newest(
    last_good: Option<(PathOfVersion, Duration)>,
    snapshot: Option<InSnapshot>,
) -> Option<(PathOfVersion, Duration)> {
    match (last_good, snapshot) {
        (Some((path, age)), Some(snapshot)) if age <= snapshot.age => Some((path, age)),
        (_, Some(InSnapshot { path, age })) => Some((path?, age)),
        (last_good, None) => last_good,
    }
}
