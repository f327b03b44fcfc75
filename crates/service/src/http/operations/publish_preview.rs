//! `GET /api/publish-preview`: what publishing, unpublishing and deleting a version would do to the
//! public URLs of all sites. The draft, and which drafts read it, is read from the CMS; the rest comes
//! from the snapshots.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures::future::join_all;
use tokio::task::block_in_place;

use super::frontend_url::{self, draft_response, no_version};
use super::resolve::{DOCUMENT_ID, UID};
use crate::app::{App, log_unread_documents};
use crate::http::request::call::Call;
use crate::http::request::params::{LOCALE, SITE};
use crate::http::request::query::{Param, parse};
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use crate::http::responses::PublishPreview;
use frontend_map_cache::no_snapshot;
use frontend_map_catalog::preview::{
    Draft, DraftDependents, FirstDrafts, Related, SitePreview, Subject, World, fields, preview,
    unknown_related,
};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{NoSnapshot, Snapshot, timestamp_text};
use frontend_map_cms::{ContentError, Document, Status};
use frontend_map_platform::clock::unix_ms;
use frontend_map_rules::{ContentTypeUid, FieldPath, Locale, Rule};

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 4] = [UID, DOCUMENT_ID, LOCALE, SITE];

/// The most related documents that are read because no snapshot has their values.
const MAX_RELATED: usize = 4;

/// A draft, and the related documents that were read for it.
struct Read {
    draft: Document<'static>,
    related: Vec<(FieldPath, Option<Document<'static>>)>,
}

/// The response. Its errors have the order of D21: parameters, token, rule, document.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [uid, document_id, locale, site] = parse(query.as_deref(), &PARAMS)?;
    let params = frontend_url::Params::of_version(&app, [uid, document_id, locale, None, site])?;
    Ok(draft_response(&app, &headers, respond(&app, &params)).await)
}

async fn respond(app: &App, params: &frontend_url::Params<'_>) -> Result<Response, ApiError> {
    let (uid, document_id) = (&*params.uid, &*params.document_id);
    let Ok(content_type) = ContentTypeUid::parse(uid) else { return Err(params.no_rule()) };
    let (worlds, unknown) = worlds(app, params).await?;
    let Some(first) = worlds.first() else {
        // Whether a site has pages that read the document is not known.
        let error = unknown.into_iter().next().map(|(_, error)| error.into());
        return Err(error.unwrap_or_else(|| params.no_rule()));
    };
    let locale = params.locale_of(first.site)?;
    let wanted: BTreeSet<FieldPath> =
        worlds.iter().flat_map(|world| fields(world, uid, document_id)).collect();
    let draft = app.documents.version(&content_type, wanted, document_id, locale, Status::Draft);
    let draft = draft.await.inspect_err(|error| log_unread_documents(app, uid, error))?;
    let draft = draft.ok_or_else(|| no_version(Status::Draft, locale))?;
    let related = read_related(app, &content_type, &worlds, &draft, locale).await;
    let read = Read { draft, related };
    let mut sites = Vec::new();
    for world in &worlds {
        match block_in_place(|| read.preview(world, uid)) {
            None => {}
            Some(Ok(preview)) => sites.push(preview),
            Some(Err(why)) => {
                let error = no_snapshot(app.snapshots.content(), &content_type, why).await;
                return Err(error.into());
            }
        }
    }
    let locale = locale.as_str();
    let unknown = unknown.iter().map(|(site, _)| *site).collect();
    let data = PublishPreview { content_type: uid, document_id, locale, sites, unknown };
    Ok(success(data).map(Body::new))
}

/// What is known of each site that the document concerns, and that has the locale if one is named. If
/// none has it, of the first: its error names the locale. Then the keys of sites that it may concern, and
/// why that is not known.
async fn worlds<'a>(
    app: &'a App,
    params: &frontend_url::Params<'_>,
) -> Result<(Vec<World<'a>>, Vec<(&'a str, ContentError)>), ApiError> {
    let (mut concerned, mut unknown) = (Vec::new(), Vec::new());
    for site in app.sites.iter().filter(|site| params.is_for(site)) {
        let has_rule = site.has_rule(&params.uid);
        let types = site.rules.content_types();
        let has_relations =
            || types.iter().any(|own| !site.rules.relations(own.as_str()).is_empty());
        if !has_rule && !has_relations() {
            continue;
        }
        let world = match world(app, site, params).await {
            Err(_) if !has_rule && params.locale_of(site).is_err() => continue,
            // The rule of this site does not depend on it.
            Err(error) if !has_rule => {
                unknown.push((site.key.as_str(), error));
                continue;
            }
            world => world?,
        };
        if has_rule || !fields(&world, &params.uid, &params.document_id).is_empty() {
            concerned.push(world);
        }
    }
    let has_locale = |world: &World<'_>| params.locale_of(world.site).is_ok();
    if concerned.iter().any(has_locale) {
        concerned.retain(has_locale);
    }
    Ok((concerned, unknown))
}

/// What is known of a site, when all of its content types have been read.
async fn world<'a>(
    app: &'a App,
    site: &'a Site,
    params: &frontend_url::Params<'_>,
) -> Result<World<'a>, ContentError> {
    let snapshots = async |site: &'a Site| -> Result<Vec<_>, ContentError> {
        let served = app.snapshots.get_each(site, site.rules.content_types()).await?;
        let served = served.into_iter();
        Ok(served.map(|(uid, served)| (uid, served.cached.snapshot)).collect())
    };
    let redirects = match site.redirects.as_deref() {
        Some(redirects) => snapshots(redirects).await?,
        None => Vec::new(),
    };
    let (types, history) = (snapshots(site).await?, app.snapshots.history(site));
    let draft_dependents = draft_dependents(app, site, &types, params).await;
    let links = app.admin_links(site);
    Ok(World { site, types, redirects, history, links, draft_dependents })
}

/// The drafts of a site that read a document, through each relation that may lead to its content type.
async fn draft_dependents(
    app: &App,
    site: &Site,
    types: &[(&ContentTypeUid, Arc<Snapshot>)],
    params: &frontend_url::Params<'_>,
) -> Vec<DraftDependents> {
    // A file has no editors, and need not have a draft of each document.
    if !app.snapshots.content().may_change() {
        return Vec::new();
    }
    let mut relations = Vec::new();
    for (type_at, (uid, snapshot)) in types.iter().enumerate() {
        for relation in relations_of_paths(site, uid) {
            let may_lead = match app.snapshots.target(uid, &relation).await {
                Some(target) => target.as_str() == params.uid,
                // It may be a component, whose `documentId` is a 500 of Strapi.
                None => snapshot.related_example(&relation).is_some(),
            };
            if may_lead {
                relations.push((type_at, *uid, relation));
            }
        }
    }
    join_all(relations.into_iter().map(async |(type_at, uid, relation)| {
        let (id, locales) = (&params.document_id, site.rules.locales().codes());
        let drafts = app.documents.draft_dependents(uid, &relation, id, locales).await;
        let drafts = drafts.inspect_err(|error| log_unread_documents(app, uid.as_str(), error));
        let drafts = drafts.ok().map(|found| {
            let versions = found.documents.iter().filter_map(|draft| {
                let version = Subject::of(site, uid.as_str(), draft)?;
                Some((version.document_id.to_owned(), version.locale))
            });
            FirstDrafts { versions: versions.collect(), are_all: found.are_all }
        });
        DraftDependents { type_at, relation, drafts }
    }))
    .await
}

/// The relations through which paths of a content type depend on other documents. A page below a
/// descendant is found by the descendant, unless there may be no rule for that one.
fn relations_of_paths(site: &Site, uid: &ContentTypeUid) -> Vec<FieldPath> {
    let (rules, mut relations) = (&site.rules, site.rules.relations(uid.as_str()));
    let has_conditions = rules.of_type(uid.as_str()).any(|rule| !rule.conditions.is_empty());
    relations.retain(|relation| {
        let mut fields = rules.of_type(uid.as_str()).flat_map(Rule::fields);
        let is_read = fields.any(|field| field.is_behind(relation));
        is_read && (has_conditions || !is_chain(relation))
    });
    relations
}

/// Whether a relation leads through itself, as that to an ancestor of a page.
fn is_chain(relation: &FieldPath) -> bool {
    let segments = relation.segments();
    segments.len() > 1 && segments.iter().all(|own| *own == segments[0])
}

/// The published documents behind relations of a draft about which the snapshots say too little. Where
/// it is not known which content type a relation leads to, or the CMS does not tell, nothing is read.
async fn read_related(
    app: &App,
    uid: &ContentTypeUid,
    worlds: &[World<'_>],
    draft: &Document<'_>,
    locale: &Locale,
) -> Vec<(FieldPath, Option<Document<'static>>)> {
    let unknown: BTreeSet<(FieldPath, String)> = worlds
        .iter()
        .filter_map(|world| Some((world, Subject::of(world.site, uid.as_str(), draft)?)))
        .flat_map(|(world, subject)| unknown_related(world, subject, draft))
        .collect();
    let mut related = Vec::new();
    for (relation, id) in unknown.into_iter().take(MAX_RELATED) {
        let Some(target) = app.snapshots.target(uid, &relation).await else { continue };
        let wanted = draft.fields.iter().filter_map(|field| field.behind(&relation)).collect();
        let status = Status::Published;
        match app.documents.version(&target, wanted, &id, locale, status).await {
            Ok(document) => related.push((relation, document)),
            Err(error) => log_unread_documents(app, target.as_str(), &error),
        }
    }
    related
}

impl Read {
    /// `None`: the site does not have the locale of the draft.
    fn preview(&self, world: &World<'_>, uid: &str) -> Option<Result<SitePreview, NoSnapshot>> {
        let subject = Subject::of(world.site, uid, &self.draft)?;
        let related = self.related.iter();
        let related: Vec<Related<'_>> = related
            .map(|(relation, document)| Related { relation, document: document.as_ref() })
            .collect();
        let published_at = timestamp_text(unix_ms()).unwrap_or_default();
        let (document, published_at) = (&self.draft, &*published_at);
        Some(preview(world, subject, &Draft { document, published_at, related: &related }))
    }
}

impl frontend_url::Params<'_> {
    /// Whether no other site is named.
    fn is_for(&self, site: &Site) -> bool {
        self.site.is_none_or(|own| own.key == site.key)
    }
}
