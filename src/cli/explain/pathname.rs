//! Explains a pathname. Where documents decide between rules, they are read.

use std::error::Error;

use futures::future::try_join_all;

use super::{ExplainArgs, selection, site};
use crate::boot;
use crate::config::Config;
use crate::explain::{PathnameExplanation, TieDecision, explain_pathname, tied_types};
use crate::path_index::{PathIndex, TypePaths};
use crate::rules::Pathname;

pub(super) fn explain(
    config: Config,
    args: &ExplainArgs,
    pathname: &str,
) -> Result<PathnameExplanation, Box<dyn Error>> {
    let sites = config.sites.clone();
    let site = site(&sites, args)?;
    let name = args.host.as_deref();
    let host = name.map(|name| selection::host(site, name)).transpose()?.flatten();
    let tied = tied_types(site, pathname, host);
    let tie = if tied.is_empty() { None } else { Some(decide(config, &site.key, pathname, host)?) };
    Ok(explain_pathname(site, pathname, (name, host), tie))
}

/// Builds the path index of the tied content types, and looks the pathname up.
#[tokio::main]
async fn decide(
    config: Config,
    key: &str,
    pathname: &str,
    host: Option<usize>,
) -> Result<TieDecision, Box<dyn Error>> {
    let app = boot::build_alone(config)?;
    let site = app.sites.get(key).expect("the same settings have the site");
    let tied = tied_types(site, pathname, host);
    let walks = tied.iter().map(|uid| app.snapshots.refresh(site, uid.as_str()));
    let copies = match try_join_all(walks).await {
        Ok(copies) => copies,
        Err(error) => {
            return Ok(TieDecision::Unknown { problem: app.snapshots.content().detail(&error) });
        }
    };
    let paths = copies.into_iter().map(|copy| TypePaths::Fresh(copy.snapshot));
    let index = PathIndex::new(&site.rules, tied.into_iter().zip(paths));
    let parsed = Pathname::parse(pathname);
    let owner = index.decide(&site.rules, &parsed, host).and_then(|decision| decision.owner);
    Ok(match owner {
        Some(owner) => TieDecision::Documents {
            rule: owner.rule(),
            host: site.hosts.host_if_several(owner.locale()),
            document_id: owner.document_id().to_owned(),
        },
        None => TieDecision::Rules,
    })
}
