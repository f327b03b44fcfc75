//! The owner of the path of a document, if it is another one.

use std::sync::Arc;

use futures::future::try_join_all;

use frontend_map_catalog::explain::{DocumentExplanation, deciding_types};
use frontend_map_catalog::path_index::{PathIndex, PathOwner, SharedPath, TypePaths, other_owner};
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_rules::ContentTypeUid;
use frontend_map_service::app::App;

/// Adds the owner, or why it is not known. The documents of each content type that may have the path
/// are read.
pub(super) async fn add(app: &App, site: &Site, explanation: &mut DocumentExplanation) {
    let Some(path) = explanation.path.clone() else { return };
    let (uid, id) = (&*explanation.uid, &*explanation.document_id);
    match find(app, site, uid, id, &path, &explanation.locale).await {
        Ok(owner) => explanation.shared_path = owner.map(|owner| SharedPath { owner }),
        Err(problem) => explanation.problem = Some(problem),
    }
}

async fn find(
    app: &App,
    site: &Site,
    uid: &str,
    id: &str,
    path: &str,
    locale: &str,
) -> Result<Option<PathOwner>, String> {
    let rules = &site.rules;
    let deciding = deciding_types(site, path);
    let may_have_it = |other: &&ContentTypeUid| other.as_str() == uid || deciding.contains(other);
    let types: Vec<&ContentTypeUid> =
        rules.content_types().into_iter().filter(may_have_it).collect();
    let walks = types.iter().map(|uid| app.snapshots.refresh(site, uid.as_str()));
    let cached_snapshots =
        try_join_all(walks).await.map_err(|error| app.snapshots.content().detail(&error))?;
    let snapshots: Vec<_> =
        types.into_iter().zip(cached_snapshots.into_iter().map(|cached| cached.snapshot)).collect();
    let own = snapshots.iter().find(|(own, _)| own.as_str() == uid);
    let own = Arc::clone(&own.expect("the site has a rule for the content type").1);
    let index = (site.resolve == ResolveBy::Documents).then(|| {
        let paths = snapshots.into_iter().map(|(uid, all)| (uid, TypePaths::Fresh(all)));
        PathIndex::new(rules, paths)
    });
    let host = rules.locales().position(locale).and_then(|at| site.hosts.host_if_several(at));
    let owner = other_owner(rules, index.as_ref(), &own, uid, id, path, host);
    Ok(owner.map(|owner| {
        let mut shown = PathOwner::new(rules, owner);
        let PathOwner { content_type, document_id, locale, .. } = &shown;
        let locale = owner.is_localized().then_some(locale.as_str());
        let links = app.admin_links(site);
        shown.admin_url = links.map(|links| links.link(content_type, document_id, locale));
        shown
    }))
}
