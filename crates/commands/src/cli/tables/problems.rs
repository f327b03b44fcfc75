//! `frontend-map problems`: lists the documents of a site without a URL, and the paths that several
//! documents have.

mod csv;
mod text;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::{write_chunks, write_table};
use crate::boot;
use crate::cli::output::logging;
use crate::cli::output::sarif::{self, Annotation, Kind};
use crate::cli::selection;
use crate::cli::walk::{listed_urls, walk};
use crate::config::{Config, Lines};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::tables::{
    Form, Problem, Problems, RedirectProblems, Rows as _, SharedPaths, VersionRow,
};

const AFTER_HELP: &str = "\
The problems are those of `/api/problems`: published versions without a URL, paths that several
documents have, and redirects of the CMS that do not do what they say. At most 10,000 of each kind are
listed for a content type; all are counted.

Formats:
  table   text for people
  csv     RFC 4180, without formulas that a spreadsheet would run; a shared path has a line for each
          of its documents, the owner first
  json    one JSON document
  ndjson  a line of JSON for each problem, and a last line with their number
  sarif   annotations of the settings file, each at the rule of the document

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
    Sarif,
}

/// Walks the content types of the site and lists their problems.
///
/// # Errors
/// When a walk fails, or the output cannot be written.
#[tokio::main]
pub(in crate::cli) async fn run(
    config: Config,
    file: &Path,
    args: &ProblemsArgs,
    verbose: bool,
) -> Result<(), Box<dyn Error>> {
    logging::start(verbose, &config.log);
    let lines = config.lines.clone();
    let app = boot::build_alone(config)?;
    let site = selection::site(&app.sites, &args.site)?;
    let uids = site.rules.content_types();
    let redirects = match &site.redirects {
        Some(redirects) => {
            let types = redirects.rules.content_types();
            walk(&app.snapshots, redirects, &types, listed_urls).await?
        }
        None => Vec::new(),
    };
    let redirects: Vec<_> =
        redirects.into_iter().map(|(uid, cached)| (uid, cached.snapshot)).collect();
    write_table(&app, site, &uids, args.out.as_deref(), |snapshots, colours, out| {
        let shared = Arc::new(SharedPaths::find(site, &snapshots));
        let admin = app.admin_links(site);
        let documents: Vec<_> = uids.iter().copied().zip(snapshots.iter().cloned()).collect();
        let redirects = RedirectProblems::find(site, &documents, &redirects, None, admin.clone());
        let problems =
            Problems::new(Arc::clone(site), snapshots, shared, admin).with_redirects(redirects);
        match args.format {
            Format::Table => out.write_all(text::table(&problems, &site.key, colours).as_bytes()),
            Format::Csv => csv::write(&problems, out),
            Format::Json => write_chunks(problems.chunks(Form::Json), out),
            Format::Ndjson => write_chunks(problems.chunks(Form::Lines), out),
            Format::Sarif => sarif::write(file, &annotations(&problems, site, &lines), out),
        }
    })
    .await
}

const NO_URL: Kind = Kind { id: "no-url", description: "A document has no URL" };
const REDIRECT: Kind =
    Kind { id: "redirect", description: "A redirect of the CMS does not do what it says" };
const SHARED_PATH: Kind =
    Kind { id: "shared-path", description: "Several documents have the same path" };

/// The problems at the lines of the rules that build the paths of their documents.
fn annotations(problems: &Problems, site: &Site, lines: &Lines) -> Vec<Annotation> {
    let line = |version: &VersionRow<'_>| lines.rule(&site.key, version.rule);
    let annotation = |problem| match problem {
        Problem::NoUrl { version, reason, .. } => Annotation {
            kind: NO_URL,
            level: sarif::Level::Warning,
            text: format!("{} has no URL: {reason}", shown(&version)),
            line: line(&version),
        },
        Problem::SharedPath { path, owner, others } => {
            let others: Vec<String> = others.iter().map(shown).collect();
            let have = if others.len() == 1 { "has" } else { "have" };
            let (owner_shown, others) = (shown(&owner), others.join(", "));
            Annotation {
                kind: SHARED_PATH,
                level: sarif::Level::Warning,
                text: format!("{path} is the page of {owner_shown}; {others} {have} the same path"),
                line: line(&owner),
            }
        }
        Problem::Redirect(problem) => Annotation {
            kind: REDIRECT,
            level: sarif::Level::Warning,
            text: format!("redirect {}: {}", shown(&problem.version), problem.in_words()),
            line: lines.site(&site.key),
        },
    };
    problems.rows().map(annotation).collect()
}

fn shown(version: &VersionRow<'_>) -> String {
    let VersionRow { content_type, document_id, locale, title, .. } = version;
    let title = title.map(|title| format!("\"{title}\" ")).unwrap_or_default();
    let locale = locale.map(|locale| format!(", {locale}")).unwrap_or_default();
    format!("{title}({content_type} {document_id}{locale})")
}
