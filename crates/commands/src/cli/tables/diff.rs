//! `frontend-map diff`: which paths change if these settings replace others, before they are in use.

mod both;
mod collisions;
mod json;
mod redirects;
mod site_diff;
mod text;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use self::both::BothSites;
use self::site_diff::SiteDiff;
use crate::boot;
use crate::cli::error::FAILED;
use crate::cli::output::destination::Output;
use crate::cli::output::logging;
use crate::cli::walk::walk_for_all_sites;
use crate::config::Config;

const AFTER_HELP: &str = "\
--config names the new settings, --against the old ones. The documents are read once, from the CMS of
the new settings, and both settings are applied to them. Only the sites of FILE are used: their rules,
locales and base URLs; the environment wins over both files. Sites are matched by their keys. A path
moves if its document has another one under the new settings, vanishes if the document has none, and
appears if it had none. A collision is a path that documents share under the new settings, although they
share none under the old ones. A redirect of the CMS changes if it has another target,
status or `force`; it ends if it no longer has an effect, and begins if it had none.

Formats:
  text  a table for each site, and the first changes of each kind
  json  one JSON document with all changes

Exit status: 0 equal or within the limit; 1 the number of paths that move, vanish or collide, and of
redirects that change or end, is more than --max-moved; 2 could not run; 78 invalid settings.";

/// Which settings to compare with, and how to report the result.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct DiffArgs {
    /// The old settings file, usually the one that is in use
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) against: PathBuf,
    /// Only the site with this key
    #[arg(long, value_name = "KEY")]
    site: Option<String>,
    /// Fail if the number of paths that move, vanish or collide, and of redirects that change or end, is
    /// more than N; without a limit by default
    #[arg(long, value_name = "N")]
    max_moved: Option<u64>,
    /// List all changes, not the first ones of each kind
    #[arg(long)]
    all: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The file for the result; by default, or for `-`, stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The form of the result.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum Format {
    Text,
    Json,
}

/// Walks the content types of both settings once, and reports what changes from `against` to
/// `config`.
///
/// # Errors
/// When a walk fails, or the output cannot be written.
#[tokio::main]
pub(in crate::cli) async fn run(
    config: Config,
    against: &Config,
    args: &DiffArgs,
    verbose: bool,
) -> Result<ExitCode, Box<dyn Error>> {
    logging::start_if(verbose, &config.log);
    let output = Output::open(args.out.as_deref())?;
    let colours = output.colours();
    let both = BothSites::new(&against.sites, &config.sites, args.site.as_deref())?;
    let status = config.moved.status;
    let app = boot::build_alone(Config { sites: both.all(), ..config })?;
    let cached_snapshots = walk_for_all_sites(&app).await?;
    let diffs: Vec<SiteDiff> =
        both.pairs.iter().map(|pair| SiteDiff::new(pair, &cached_snapshots, status)).collect();
    output.write(|out| match args.format {
        Format::Text => text::write(&diffs, args.all, colours, out),
        Format::Json => json::write(&diffs, out),
    })?;
    let affected: u64 = diffs.iter().map(SiteDiff::affected).sum();
    let is_over = args.max_moved.is_some_and(|most| affected > most);
    Ok(if is_over { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
