//! The redirects of a store, without a service.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use super::row::{Reader, Redirects};
use crate::boot;
use crate::cli::walk::{listed_urls, print_line, walk};
use crate::config::{Cms, Config};
use frontend_map_cache::SnapshotCache;
use frontend_map_catalog::moved::redirects::{self, OwnedSiteHistory};
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_catalog::snapshot::{Builder, Listing, Snapshot};
use frontend_map_catalog::tables::Form;
use frontend_map_platform::clock::unix_ms;
use frontend_map_rules::ContentTypeUid;
use frontend_map_store::{SnapshotKey, StoreReadError, StoreReader};

/// What to do if the store cannot be used.
const REMEDY: &str = "name a running service with --service URL";

/// The snapshots of a site, by content type.
type Snapshots<'s> = Vec<(&'s ContentTypeUid, Arc<Snapshot>)>;

/// Reads the history and the snapshots of a site; content from a file is read from that.
///
/// # Errors
/// If the store cannot be read, or has no usable snapshot of a content type.
pub(super) async fn read(config: Config, site: &Arc<Site>) -> Result<Redirects, Box<dyn Error>> {
    if site.resolve != ResolveBy::Documents {
        let key = &site.key;
        return Err(format!("site \"{key}\" does not have resolve = \"documents\"").into());
    }
    let Some(path) = config.store.clone() else {
        return Err(format!("the settings have no store.path: {REMEDY}").into());
    };
    let store = StoreReader::open(&path).map_err(|error| failed(&path, &error))?;
    let history = store.history(config.moved.limits).map_err(|error| failed(&path, &error))?;
    let id = history.site(site.source, &site.key).ok_or("there are too many sites")?;
    let status = config.moved.status;
    let of_redirects = site.redirects.as_deref();
    let (snapshots, entries) = if matches!(config.cms, Cms::Files { .. }) {
        walked(config, site).await?
    } else {
        let read = |site| stored(&store, &config, site);
        let all = read(site).and_then(|own| Ok((own, of_redirects.map(read).transpose()?)));
        all.map_err(|error| format!("{}: {error}", path.display()))?
    };
    let history =
        OwnedSiteHistory { site: Arc::clone(site), history: Arc::new(history), id, now: unix_ms() };
    let entries = entries.unwrap_or_default();
    lines(redirects::Redirects::new(history, &snapshots, &entries, status))
}

/// The snapshots that the present settings have built, within the hard limit of their age.
fn stored<'s>(
    store: &StoreReader,
    config: &Config,
    site: &'s Site,
) -> Result<Snapshots<'s>, Box<dyn Error>> {
    let of_type = |uid: &'s ContentTypeUid| {
        let key = SnapshotKey::of(site, uid.as_str());
        let listing = Listing { rules: &site.rules, hosts: &site.hosts, uid: uid.as_str() };
        let found = store.snapshots(&site.key, uid.as_str(), Builder { path_table: true })?;
        let mut own = found.into_iter().filter(|one| one.key == key && one.snapshot.fits(listing));
        let hard = config.freshness.hard;
        match own.next() {
            Some(one) if one.begun.elapsed() < hard => {
                let (urls, age) = (one.snapshot.len(), one.begun.elapsed().as_secs());
                print_line(&format!("{uid}: {urls} paths, {age} seconds old"));
                Ok((uid, Arc::new(one.snapshot)))
            }
            Some(_) => {
                Err(format!("the snapshot of {uid} is older than snapshots.hard_seconds: {REMEDY}")
                    .into())
            }
            None => {
                Err(format!("no snapshot of {uid} was built by these settings: {REMEDY}").into())
            }
        }
    };
    site.rules.content_types().into_iter().map(of_type).collect()
}

/// The snapshots of a content file, and those of the redirects.
async fn walked(
    config: Config,
    site: &Site,
) -> Result<(Snapshots<'_>, Option<Snapshots<'_>>), Box<dyn Error>> {
    let app = boot::build_alone(config)?;
    let own = walked_of(&app.snapshots, site).await?;
    Ok(match &site.redirects {
        Some(redirects) => (own, Some(walked_of(&app.snapshots, redirects).await?)),
        None => (own, None),
    })
}

async fn walked_of<'s>(
    snapshots: &SnapshotCache,
    site: &'s Site,
) -> Result<Snapshots<'s>, Box<dyn Error>> {
    let cached = walk(snapshots, site, &site.rules.content_types(), listed_urls).await?;
    Ok(cached.into_iter().map(|(uid, cached)| (uid, cached.snapshot)).collect())
}

/// The rows of the table, as a client of the service gets them.
fn lines(table: redirects::Redirects) -> Result<Redirects, Box<dyn Error>> {
    let mut reader = Reader::default();
    for chunk in table.chunks(Form::Lines) {
        chunk.lines().try_for_each(|line| reader.take(line.as_bytes()))?;
    }
    Ok(reader.end()?)
}

fn failed(path: &Path, error: &StoreReadError) -> String {
    format!("{}: {error}: {REMEDY}", path.display())
}
