//! `frontend-map pages`: writes all public pages of a site, for a static build.

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{write_chunks, write_table};
use crate::boot;
use crate::cli::output::logging;
use crate::cli::selection;
use crate::config::Config;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::read_rfc3339;
use frontend_map_catalog::tables::{Form, PageFilter, Pages, Rows as _};
use frontend_map_rules::ContentTypeUid;

const AFTER_HELP: &str = "\
The pages are those of `/api/pages`, in the order of the sitemap. Nothing is written, and FILE stays
as it was, if a content type cannot be read completely.

Formats:
  json    one JSON document
  ndjson  a line of JSON for each page, and a last line with their number

Exit status: 0 written, 1 failed, 2 invalid arguments, 78 invalid settings.";

/// Which pages to write, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct PagesArgs {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    site: String,
    /// Only the pages of this content type; may be given more than once
    #[arg(long = "content-type", value_name = "UID")]
    content_types: Vec<String>,
    /// Only the pages in this locale
    #[arg(long, value_name = "CODE")]
    locale: Option<String>,
    /// Without the pages that were last modified before, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<i64>,
    /// With the pages that sitemaps leave out
    #[arg(long)]
    unlisted: bool,
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// The file for the pages; by default, or for `-`, stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The form of the table.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum Format {
    Json,
    Ndjson,
}

fn time(text: &str) -> Result<i64, String> {
    read_rfc3339(text).ok_or_else(|| "write a time like 2026-01-31T12:00:00Z".to_owned())
}

/// Walks the content types and writes their pages.
///
/// # Errors
/// When a walk fails, or the output cannot be written.
#[tokio::main]
pub(in crate::cli) async fn run(
    config: Config,
    args: &PagesArgs,
    verbose: bool,
) -> Result<(), Box<dyn Error>> {
    logging::start(verbose, &config.log);
    let app = boot::build_alone(config)?;
    let site = selection::site(&app.sites, &args.site)?;
    let filter = PageFilter {
        locale: args.locale.as_deref().map(|code| selection::locale(site, code)).transpose()?,
        since: args.since,
        unlisted: args.unlisted,
    };
    let uids = content_types(site, args)?;
    let form = match args.format {
        Format::Json => Form::Json,
        Format::Ndjson => Form::Lines,
    };
    write_table(&app, site, &uids, args.out.as_deref(), |snapshots, _, out| {
        let pages = selection::has_pages(site, &args.content_types);
        write_chunks(Pages::new(site.clone(), snapshots, pages, filter).chunks(form), out)
    })
    .await
}

/// The content types that have such pages.
fn content_types<'s>(site: &'s Site, args: &PagesArgs) -> Result<Vec<&'s ContentTypeUid>, String> {
    let mut uids = selection::content_types(site, &args.content_types)?;
    uids.retain(|uid| args.unlisted || site.rules.lists(uid.as_str()));
    Ok(uids)
}
