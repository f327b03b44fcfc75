//! Explains a pathname. Where documents decide between rules, they are read.

use std::error::Error;

use futures::future::try_join_all;

use super::{ExplainArgs, selection, site};
use crate::boot;
use crate::config::Config;
use crate::explain::{PathnameExplanation, TieDecision, deciding_types, explain_pathname, is_tied};
use crate::path_index::{PathIndex, TypePaths};
use crate::rules::Pathname;
use crate::snapshot::PublicUrl;

pub(super) fn explain(
    config: Config,
    args: &ExplainArgs,
    pathname: &str,
) -> Result<PathnameExplanation, Box<dyn Error>> {
    let sites = config.sites.clone();
    let site = site(&sites, args)?;
    let name = args.host.as_deref();
    let host = name.map(|name| selection::host(site, name)).transpose()?.flatten();
    let is_decided_by_rules = deciding_types(site, pathname, host).is_empty();
    let tie = if is_decided_by_rules { None } else { decide(config, &site.key, pathname, host)? };
    Ok(explain_pathname(site, pathname, (name, host), tie))
}

/// Builds the path index of the content types that decide, and looks the pathname up. `None`: no
/// rules are tied, and no document has a path of its own there.
#[tokio::main]
async fn decide(
    config: Config,
    key: &str,
    pathname: &str,
    host: Option<usize>,
) -> Result<Option<TieDecision>, Box<dyn Error>> {
    let app = boot::build_alone(config)?;
    let site = app.sites.get(key).expect("the same settings have the site");
    let types = deciding_types(site, pathname, host);
    let walks = types.iter().map(|uid| app.snapshots.refresh(site, uid.as_str()));
    let copies = match try_join_all(walks).await {
        Ok(copies) => copies,
        Err(error) => {
            let problem = app.snapshots.content().detail(&error);
            return Ok(Some(TieDecision::Unknown { problem }));
        }
    };
    let paths = copies.into_iter().map(|copy| TypePaths::Fresh(copy.snapshot));
    let index = PathIndex::new(&site.rules, types.into_iter().zip(paths));
    let parsed = Pathname::parse(pathname);
    let owner = index.decide(&site.rules, &parsed, host).and_then(|decision| decision.owner);
    let id = |owner: PublicUrl<'_>| owner.document_id().to_owned();
    Ok(match owner {
        Some(owner) if owner.has_own_path() => {
            let (rule, locale) = (owner.rule(), owner.locale());
            Some(TieDecision::OwnPath { rule, locale, document_id: id(owner) })
        }
        _ if !is_tied(site, pathname, host) => None,
        Some(owner) => Some(TieDecision::Documents {
            rule: owner.rule(),
            host: site.hosts.host_if_several(owner.locale()),
            document_id: id(owner),
        }),
        None => Some(TieDecision::Rules),
    })
}
