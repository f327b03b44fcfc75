//! `frontend-map sitemap`: the crawlers' files as files, for who publishes statically.

mod folder;
mod progress;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use futures::future::join_all;

use self::folder::Folder;
use self::progress::Progress;
use super::log;
use crate::app::{App, Kept};
use crate::config::Config;
use crate::rules::ContentTypeUid;
use crate::site::Site;
use crate::sitemap::files::{INDEX, ROBOTS, file_name, index, robots};

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
    log::start(&config.log);
    let app = Arc::new(App::build(config)?);
    let site = app.sites.get(&order.site).ok_or_else(|| {
        let keys: Vec<&str> = app.sites.iter().map(|site| site.key.as_str()).collect();
        format!("there is no site \"{}\"; there are: {}", order.site, keys.join(", "))
    })?;
    let base = site
        .base
        .as_ref()
        .ok_or_else(|| format!("{} is not configured", Site::base_url_variable(&site.key)))?;
    let kept = walk(&app, site, &chosen(site, &order.content_types)?).await?;
    let mut folder = Folder::open(&order.out, order.gzip)?;
    for (uid, kept) in &kept {
        write_files(&app, site, uid, kept, &mut folder).await?;
    }
    if order.content_types.is_empty() {
        let url = base.join(&site.sitemap_path);
        let files = kept.iter().filter_map(|(uid, kept)| Some((*uid, kept.files.as_deref()?)));
        let text = index(&url, files.map(|(uid, files)| (uid.as_str(), &files.layout)));
        folder.write(ROBOTS, robots(&url).as_bytes())?;
        folder.write(INDEX, text.as_bytes())?;
        // Only now: without a new index, the old one may still name them.
        let uids: Vec<&str> = kept.iter().map(|(uid, _)| uid.as_str()).collect();
        folder.remove_leftovers(&uids)?;
    }
    Ok(())
}

/// The content types that are wanted: all, or those that are named.
fn chosen<'s>(site: &'s Site, named: &[String]) -> Result<Vec<&'s ContentTypeUid>, Box<dyn Error>> {
    let all = site.rules.content_types();
    for name in named {
        if !site.has_rule(name) {
            return Err(format!("site \"{}\" has no rule for `{name}`", site.key).into());
        }
    }
    let wanted =
        |uid: &&ContentTypeUid| named.is_empty() || named.iter().any(|name| name == uid.as_str());
    Ok(all.into_iter().filter(wanted).collect())
}

/// All of them side by side, or the first failure.
async fn walk<'s>(
    app: &Arc<App>,
    site: &'s Site,
    uids: &[&'s ContentTypeUid],
) -> Result<Vec<(&'s ContentTypeUid, Kept)>, Box<dyn Error>> {
    let progress = Progress::new();
    let walks = uids.iter().map(|uid| {
        let progress = &progress;
        async move {
            let line = progress.line(uid.as_str());
            let walk = app.walk(site, uid.as_str());
            let kept = line.follow(walk, || app.documents_seen(site, uid.as_str())).await;
            let kept = kept.map_err(|error| format!("{uid}: {error}"))?;
            line.end(&kept);
            Ok::<_, String>((*uid, kept))
        }
    });
    let walked = join_all(walks).await;
    Ok(walked.into_iter().collect::<Result<_, String>>()?)
}

async fn write_files(
    app: &Arc<App>,
    site: &Site,
    uid: &ContentTypeUid,
    kept: &Kept,
    folder: &mut Folder,
) -> Result<(), Box<dyn Error>> {
    for file in kept.files.iter().flat_map(|files| &files.layout.files) {
        let name = file_name(uid.as_str(), file.number);
        let text = app.file_text(site, kept, file, false).await;
        folder.write(&name, &text.ok_or("a file could not be made")?)?;
    }
    Ok(())
}
