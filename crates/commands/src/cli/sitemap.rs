//! `frontend-map sitemap`: writes the sitemap files to a folder, for static hosting.

mod folder;

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

use self::folder::Folder;
use super::output::logging;
use super::output::words::count;
use super::selection;
use super::walk::{listed_urls, walk_lists};
use crate::boot;
use crate::config::Config;
use frontend_map_cache::CachedSnapshot;
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::sitemap::files::{INDEX, ROBOTS, SITEMAP, file_name, index, robots};
use frontend_map_service::app::App;

const AFTER_HELP: &str = "\
Files of earlier runs that are not written again are deleted from DIR, or from DIR/HOST for each host
of a site with several: files of content types of the site, such as api.article.article-2.xml, and
pages-N.xml, each also with .gz; and index.xml.gz, sitemap.xml.gz and robots.txt.gz. Other files stay.
With --content-type, no file is deleted.";

/// Which files to write, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SitemapArgs {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    site: String,
    /// Only the files of this content type, without the index; may be given more than once
    #[arg(long = "content-type", value_name = "UID")]
    content_types: Vec<String>,
    /// The folder for the files; it is created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write a compressed copy of each file as well, for servers that send `x.xml.gz` for `x.xml`
    #[arg(long)]
    gzip: bool,
}

/// Walks the content types and writes their sitemap files.
///
/// # Errors
/// When a walk fails, or a file cannot be written. The index is written last, under both of its
/// names, and only if all files of the site have been written.
#[tokio::main]
pub(super) async fn run(
    config: Config,
    args: &SitemapArgs,
    verbose: bool,
) -> Result<(), Box<dyn Error>> {
    logging::start(verbose, &config.log);
    let app = boot::build_alone(config)?;
    let site = selection::site(&app.sites, &args.site)?;
    let uids = selection::content_types(site, &args.content_types)?;
    let pages = selection::has_pages(site, &args.content_types);
    selection::check_base_urls(site, &uids, pages)?;
    let pages = pages && site.pages.are_listed();
    let cached_snapshots = walk_lists(&app.snapshots, site, &uids, pages, summary).await?;
    for (at, host) in site.hosts.all().iter().enumerate() {
        let path = match site.hosts.all() {
            [_] => args.out.clone(),
            // Not every file system has names with a colon.
            _ => args.out.join(host.base.host().replace(':', "%3A")),
        };
        let mut folder = Folder::open(&path, args.gzip)?;
        for (uid, cached) in &cached_snapshots {
            write_files(&app, site, at, uid, cached, &mut folder).await?;
        }
        if args.content_types.is_empty() {
            let url = host.base.join(&site.sitemap_path);
            finish(&cached_snapshots, &url, at, &mut folder)?;
        }
    }
    Ok(())
}

/// Writes the index and `robots.txt` of a host, whose files are published at a URL, and removes the
/// files that the index does not list.
fn finish(
    cached_snapshots: &[(&str, CachedSnapshot)],
    url: &str,
    host: usize,
    folder: &mut Folder,
) -> Result<(), String> {
    let files =
        cached_snapshots.iter().filter_map(|(uid, cached)| Some((*uid, cached.files.get(host)?)));
    let text = index(url, files.map(|(uid, files)| (uid, &files.layout)));
    folder.write(ROBOTS, robots(url).as_bytes())?;
    for name in [INDEX, SITEMAP] {
        folder.write(name, text.as_bytes())?;
    }
    // Last: until the new index is written, the old one may list them.
    let groups: Vec<&str> =
        cached_snapshots.iter().map(|(group, _)| *group).chain([PAGES]).collect();
    folder.remove_leftovers(&groups)
}

fn summary(cached: &CachedSnapshot) -> String {
    let files: usize = cached.files.iter().map(|files| files.layout.files.len()).sum();
    format!("{} in {}", listed_urls(cached), count(files as u64, "file"))
}

async fn write_files(
    app: &App,
    site: &Site,
    host: usize,
    group: &str,
    cached: &CachedSnapshot,
    folder: &mut Folder,
) -> Result<(), Box<dyn Error>> {
    for file in cached.files.get(host).iter().flat_map(|files| &files.layout.files) {
        let name = file_name(group, file.number);
        let text = app.files.text(site, cached, host, file, false).await;
        folder.write(&name, &text.ok_or("a file could not be written")?)?;
    }
    Ok(())
}
