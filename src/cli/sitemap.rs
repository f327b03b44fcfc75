//! `frontend-map sitemap`: the crawlers' files as files, for who publishes statically.

mod folder;

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

use self::folder::Folder;
use super::{logging, walk};
use crate::app::App;
use crate::boot;
use crate::config::Config;
use crate::rules::ContentTypeUid;
use crate::site::Site;
use crate::sitemap::files::{INDEX, ROBOTS, file_name, index, robots};
use crate::snapshot_cache::CachedCopy;

/// What to write, and where.
#[derive(Debug, Args)]
pub(super) struct Order {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    site: String,
    /// Only the files of this content type, without the index; may be given more than once
    #[arg(long = "content-type", value_name = "UID")]
    content_types: Vec<String>,
    /// The folder for the files; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write each file compressed as well, for servers that send `x.xml.gz` for `x.xml`
    #[arg(long)]
    gzip: bool,
}

/// Walks the content types and writes their files.
///
/// # Errors
/// When a walk fails, or a file cannot be written. The index is written last, and only if all of
/// the site's files are there.
#[tokio::main]
pub(super) async fn run(mut config: Config, order: &Order) -> Result<(), Box<dyn Error>> {
    "warn".clone_into(&mut config.log.level);
    logging::start(&config.log);
    let app = boot::build_alone(config)?;
    let site = walk::site(&app.sites, &order.site)?;
    let base = walk::base(site)?;
    let uids = walk::chosen(site, &order.content_types)?;
    let copies = walk::walk(&app.snapshots, site, &uids, told).await?;
    let mut folder = Folder::open(&order.out, order.gzip)?;
    for (uid, copy) in &copies {
        write_files(&app, site, uid, copy, &mut folder).await?;
    }
    if order.content_types.is_empty() {
        let url = base.join(&site.sitemap_path);
        let files = copies.iter().filter_map(|(uid, copy)| Some((*uid, copy.files.as_deref()?)));
        let text = index(&url, files.map(|(uid, files)| (uid.as_str(), &files.layout)));
        folder.write(ROBOTS, robots(&url).as_bytes())?;
        folder.write(INDEX, text.as_bytes())?;
        // Only now: without a new index, the old one may still name them.
        let uids: Vec<&str> = copies.iter().map(|(uid, _)| uid.as_str()).collect();
        folder.remove_leftovers(&uids)?;
    }
    Ok(())
}

fn told(copy: &CachedCopy) -> String {
    let files = copy.files.as_ref().map_or(0, |files| files.layout.files.len());
    format!("{} in {files} files", walk::listed(copy))
}

async fn write_files(
    app: &App,
    site: &Site,
    uid: &ContentTypeUid,
    copy: &CachedCopy,
    folder: &mut Folder,
) -> Result<(), Box<dyn Error>> {
    for file in copy.files.iter().flat_map(|files| &files.layout.files) {
        let name = file_name(uid.as_str(), file.number);
        let text = app.files.text(site, copy, file, false).await;
        folder.write(&name, &text.ok_or("a file could not be made")?)?;
    }
    Ok(())
}
