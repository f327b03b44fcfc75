//! `frontend-map problems`: lists the documents of a site without a URL, and the paths that several
//! documents have.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::{csv, text, write_chunks, write_table};
use crate::boot;
use crate::cli::output::logging;
use crate::cli::output::terminal::Colours;
use crate::cli::selection;
use crate::config::Config;
use frontend_map_catalog::tables::{Form, Problems, SharedPaths};

const AFTER_HELP: &str = "\
The problems are those of `/api/problems`: published versions without a URL, and paths that several
documents have. At most 10,000 of each kind are listed for a content type; all are counted.

Formats:
  table   text for people
  csv     RFC 4180, without formulas that a spreadsheet would run; a shared path has a line for each
          of its documents, the owner first
  json    one JSON document
  ndjson  a line of JSON for each problem, and a last line with their number

Exit status: 0 listed, 1 failed, 2 invalid arguments, 78 invalid settings.";

/// Which problems to list, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct ProblemsArgs {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    site: String,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The file for the list; by default, or for `-`, stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The form of the list.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum Format {
    Table,
    Csv,
    Json,
    Ndjson,
}

/// Walks the content types of the site and lists their problems.
///
/// # Errors
/// When a walk fails, or the output cannot be written.
#[tokio::main]
pub(in crate::cli) async fn run(
    config: Config,
    args: &ProblemsArgs,
    verbose: bool,
) -> Result<(), Box<dyn Error>> {
    logging::start(verbose, &config.log);
    let app = boot::build_alone(config)?;
    let site = selection::site(&app.sites, &args.site)?;
    let uids = site.rules.content_types();
    write_table(&app, site, &uids, args.out.as_deref(), |snapshots, colours, out| {
        let shared = Arc::new(SharedPaths::find(site, &snapshots));
        let problems = Problems::new(Arc::clone(site), snapshots, shared, app.admin_links(site));
        args.format.write(problems, &site.key, colours, out)
    })
    .await
}

impl Format {
    fn write(
        self,
        problems: Problems,
        site: &str,
        colours: Colours,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Table => out.write_all(text::table(&problems, site, colours).as_bytes()),
            Self::Csv => csv::write(&problems, out),
            Self::Json => write_chunks(problems.chunks(Form::Json), out),
            Self::Ndjson => write_chunks(problems.chunks(Form::Lines), out),
        }
    }
}
