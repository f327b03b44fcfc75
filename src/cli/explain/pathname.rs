//! Explains a pathname. On a site where documents decide, they are read.

use std::error::Error;

use futures::future::try_join_all;

use super::{ExplainArgs, selection, site};
use crate::boot;
use crate::config::Config;
use frontend_map_catalog::explain::{PathnameExplanation, deciding_types, explain_pathname};
use frontend_map_catalog::path_index::{PathIndex, TypePaths};

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
    let documents =
        if is_decided_by_rules { None } else { Some(read(config, &site.key, pathname)?) };
    Ok(explain_pathname(site, pathname, name, host, documents))
}

/// The path index of the content types that decide, or why they could not be read.
#[tokio::main]
async fn read(
    config: Config,
    key: &str,
    pathname: &str,
) -> Result<Result<PathIndex, String>, Box<dyn Error>> {
    let app = boot::build_alone(config)?;
    let site = app.sites.get(key).expect("the same settings have the site");
    let types = deciding_types(site, pathname);
    let walks = types.iter().map(|uid| app.snapshots.refresh(site, uid.as_str()));
    let cached_snapshots = match try_join_all(walks).await {
        Ok(cached_snapshots) => cached_snapshots,
        Err(error) => return Ok(Err(app.snapshots.content().detail(&error))),
    };
    let paths = cached_snapshots.into_iter().map(|cached| TypePaths::Fresh(cached.snapshot));
    Ok(Ok(PathIndex::new(&site.rules, types.into_iter().zip(paths))))
}
