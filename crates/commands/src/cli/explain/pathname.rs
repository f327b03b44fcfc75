//! Explains a pathname. On a site where documents decide, they are read, and the redirects of the CMS.

use std::error::Error;

use futures::future::try_join_all;

use super::{ExplainArgs, selection, site};
use crate::boot;
use crate::config::Config;
use frontend_map_catalog::explain::{
    PathnameExplanation, RedirectExplanation, deciding_types, explain_pathname, explain_redirect,
};
use frontend_map_catalog::moved::entries::{EntryLookup, RedirectEntries, RedirectWorld};
use frontend_map_catalog::path_index::PathIndex;
use frontend_map_catalog::site::Site;
use frontend_map_rules::{ContentTypeUid, Pathname};
use frontend_map_service::app::App;

/// What the CMS has about a pathname; each with the reason why it could not be read.
struct Content {
    /// `None`: no document decides.
    documents: Option<Result<PathIndex, String>>,
    redirect: Result<Option<RedirectExplanation>, String>,
}

pub(super) fn explain(
    config: Config,
    args: &ExplainArgs,
    pathname: &str,
) -> Result<PathnameExplanation, Box<dyn Error>> {
    let sites = config.sites.clone();
    let site = site(&sites, args)?;
    let name = args.host.as_deref();
    let host = name.map(|name| selection::host(site, name)).transpose()?.flatten();
    let is_decided_by_rules = deciding_types(site, pathname).is_empty();
    let Content { documents, redirect } = if is_decided_by_rules && site.redirects.is_none() {
        Content { documents: None, redirect: Ok(None) }
    } else {
        read(config, &site.key, pathname, host)?
    };
    Ok(explain_pathname(site, pathname, name, host, documents).with_redirect(redirect))
}

/// Reads the redirects, and the content types that decide: with a redirect for the pathname all of them, because
/// it may lead to each.
#[tokio::main]
async fn read(
    config: Config,
    key: &str,
    pathname: &str,
    host: Option<usize>,
) -> Result<Content, Box<dyn Error>> {
    let status = config.moved.status;
    let app = boot::build_alone(config)?;
    let site = app.sites.get(key).expect("the same settings have the site");
    let redirects = match &site.redirects {
        Some(redirects) => index(&app, redirects, redirects.rules.content_types()).await,
        None => Ok(PathIndex::default()),
    };
    let is_redirected = redirects.as_ref().is_ok_and(|index| {
        let found = RedirectEntries { index }.find(&Pathname::parse(pathname), host);
        matches!(found, EntryLookup::Found(_))
    });
    let types =
        if is_redirected { site.rules.content_types() } else { deciding_types(site, pathname) };
    let documents = if types.is_empty() { None } else { Some(index(&app, site, types).await) };
    let redirect = match (&redirects, &documents) {
        (Err(problem), _) => Err(problem.clone()),
        (Ok(redirects), Some(Ok(documents))) if is_redirected => {
            let entries = RedirectEntries { index: redirects };
            let world = RedirectWorld { site, index: documents, entries, history: None, status };
            Ok(explain_redirect(&world, pathname, host))
        }
        (Ok(_), Some(Err(problem))) if is_redirected => Err(problem.clone()),
        (Ok(_), _) => Ok(None),
    };
    Ok(Content { documents, redirect })
}

/// The path index of these content types, or why they could not be read.
async fn index(app: &App, site: &Site, types: Vec<&ContentTypeUid>) -> Result<PathIndex, String> {
    let walks = types.iter().map(|uid| app.snapshots.refresh(site, uid.as_str()));
    let walked = try_join_all(walks).await;
    let cached = walked.map_err(|error| app.snapshots.content().detail(&error))?.into_iter();
    let snapshots = cached.map(|cached| cached.snapshot);
    Ok(PathIndex::of_fresh(&site.rules, types.into_iter().zip(snapshots)))
}
