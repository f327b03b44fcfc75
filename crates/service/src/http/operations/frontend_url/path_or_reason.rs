//! The path of a version, or the 404 that says why it has none: from its fields, or while the CMS fails
//! from the snapshot.

use std::time::Duration;

use super::{Params, PathOfVersion};
use crate::app::App;
use crate::http::response::error::ApiError;
use crate::http::responses::Details;
use frontend_map_cache::KnownSnapshot;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::Version;
use frontend_map_cms::{Document, Status};
use frontend_map_rules::frontend_url::{NullLink, frontend_path, in_words};
use frontend_map_rules::{FieldPath, Locale, Template};

/// The path of a version, from its fields.
pub(in crate::http::operations) fn path(
    app: &App,
    site: &Site,
    params: &Params<'_>,
    document: &Document<'_>,
) -> PathOfVersion {
    let drafts = params.status == Status::Draft;
    let found = frontend_path(&site.rules, &site.hosts, &params.uid, document, drafts);
    match found.expect("the site was chosen because it has a rule for the content type") {
        Ok(found) => {
            let locale = site.rules.locales().position(found.locale.as_str());
            Ok((found.path, locale.expect("it is one of the site's")))
        }
        Err(no_url) => {
            let reason = no_url.reason.to_string();
            let null = null_link(app, site, params);
            let why = in_words(&reason, no_url.template, Some(document), null);
            Err(without_url(reason, no_url.template, why))
        }
    }
}

/// The 404 of a version without a URL.
fn without_url(reason: String, template: &Template, why: Option<String>) -> ApiError {
    let details = Details::NoUrl { reason: reason.into(), rule: Some(template.to_string()) };
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    ApiError::not_found(format!("this document has no frontend URL{why}")).with(details)
}

/// What null means at a path that leads on. A document of the snapshot that has a document behind
/// the path shows that it is a relation.
fn null_link(app: &App, site: &Site, params: &Params<'_>) -> impl Fn(&FieldPath) -> NullLink {
    let may_be_unpublished =
        app.snapshots.content().may_change() && params.status == Status::Published;
    let cached = app.snapshots.present_snapshot(site, &params.uid);
    move |path| {
        let is_relation = || {
            cached.as_ref().is_some_and(|cached| cached.snapshot.related_example(path).is_some())
        };
        match may_be_unpublished {
            false => NullLink::Empty,
            true if is_relation() => NullLink::Relation,
            true => NullLink::Unknown,
        }
    }
}

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
