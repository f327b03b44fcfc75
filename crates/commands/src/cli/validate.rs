//! `frontend-map validate`: requests every public URL of a site, and lists the dead ones with their
//! documents.

mod check;
mod diff;
mod progress;
mod retry;
mod summary;

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use tokio::sync::oneshot;
use tokio::time::sleep;

use self::summary::summary;
use super::output::destination::{Output, unfinished_path};
use super::output::logging;
use super::output::terminal::Colours;
use super::selection;
use super::service::lines::{LastLine, read_list};
use super::shutdown::{Stop, stop_signal};
use super::walk::{listed_urls, walk_lists};
use crate::boot;
use crate::config::Config;
use frontend_map_catalog::links::{ContentLink, Verdict};
use frontend_map_catalog::site::PAGES;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_catalog::tables::{Problems, SharedPaths};
use frontend_map_outbound::checks::Targets;
use frontend_map_outbound::checks::content::PageJudge;
use frontend_map_outbound::checks::report::{
    BrokenLinkFigures, BrokenLinks, FoundInPages, PreviousReport, ProblemList, SiteReport,
    TypeReport, csv, html, json, junit,
};

/// The exit status for dead URLs, faulty pages, a `robots.txt` that cannot be read, and broken links.
const FOUND_PROBLEMS: u8 = 1;

/// How long the command may take to end by itself after a signal.
const EXIT_DELAY: Duration = Duration::from_secs(1);

const AFTER_HELP: &str = "\
Every URL is requested once with GET, ten at a time, with a timeout of 10 seconds. Redirects are not
followed. A URL is dead if its status is neither 2xx nor 3xx, or if there is no response.

With --content, at most 128 KiB of each page that answers 200 are read and compared with what the
sitemap says of it. Before, robots.txt of each host is read, and a few paths that cannot exist are
requested.

With --links, /api/links of a running service is requested first, with the token of
auth.validate_token_file or FRONTEND_MAP__AUTH__VALIDATE_TOKEN: former paths are known to a service
alone. Links with gone and no_such_page are reported.

The summary goes to stdout, or to stderr if the report goes to stdout; progress goes to stderr. The
report is written at the end, and FILE is replaced only by a complete report.

Formats:
  json    one JSON document, for --compare and for programs
  ndjson  a line of JSON for each URL, and a last line with the counters
  csv     RFC 4180, without formulas that a spreadsheet would run
  junit   XML for build servers: a test suite for each content type, a test case for each URL
  html    one page without other files, to filter and to print

Exit status: 0 no dead URL, 1 dead URLs, faulty pages or robots.txt, or broken links, 2 could not run,
78 invalid settings, 130 or 143 stopped by a signal.";

/// Which URLs to check, and how to report the results.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ValidateArgs {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    site: String,
    /// Only the URLs of this content type; may be given more than once
    #[arg(long = "content-type", value_name = "UID")]
    content_types: Vec<String>,
    /// Write a report as well
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file for the report; by default, or for `-`, stdout
    #[arg(long, value_name = "FILE", requires = "format")]
    out: Option<PathBuf>,
    /// List what has changed since an earlier result: a report of --format json, or a response to
    /// validate=true
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Judge the content of pages that answer 200, too: canonical and hreflang links, noindex,
    /// robots.txt, language, soft 404s
    #[arg(long)]
    content: bool,
    /// Report the links in the content that lead to no page, too, as a running service judges them
    #[arg(long)]
    links: bool,
    /// The URL of the service of --links; by default the address in the settings
    #[arg(long, value_name = "URL", requires = "links")]
    service: Option<String>,
    /// Retry up to N times if there is no response or the status is 429 or 5xx, with exponential
    /// backoff or after Retry-After (a minute at most)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=10))]
    retries: u32,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum Format {
    Json,
    Ndjson,
    Csv,
    Junit,
    Html,
}

/// Checks the URLs, prints the summary and writes the report.
///
/// # Errors
/// When the content cannot be read, a file cannot be read or written, or stdout is closed.
pub(super) fn run(
    config: Config,
    args: &ValidateArgs,
    verbose: bool,
) -> Result<ExitCode, Box<dyn Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(until_stopped(config, args, verbose));
    // A name look-up in progress blocks a thread that cannot be cancelled.
    runtime.shutdown_background();
    ended
}

/// Ends the command at the first signal, without an unfinished report.
async fn until_stopped(
    config: Config,
    args: &ValidateArgs,
    verbose: bool,
) -> Result<ExitCode, Box<dyn Error>> {
    let stop = stop_signal()?;
    let unfinished = args.out.as_deref().and_then(unfinished_path);
    let (sender, stopped) = oneshot::channel();
    // In a task of its own: a pipe without a reader or writer blocks this one.
    tokio::spawn(async move {
        let stop = stop.await;
        let _ = sender.send(stop);
        sleep(EXIT_DELAY).await;
        let _ = unfinished.map(std::fs::remove_file);
        std::process::exit(interrupted(stop).into());
    });
    tokio::select! {
        ended = validate(config, args, verbose) => ended,
        Ok(stop) = stopped => Ok(ExitCode::from(interrupted(stop))),
    }
}

/// Reports that there is no result, and returns the exit status.
fn interrupted(stop: Stop) -> u8 {
    let _ = writeln!(io::stderr(), "frontend-map: stopped before the end");
    stop.status()
}

async fn validate(
    config: Config,
    args: &ValidateArgs,
    verbose: bool,
) -> Result<ExitCode, Box<dyn Error>> {
    logging::start(verbose, &config.log);
    let broken_links = if args.links { Some(broken_links(&config, args).await?) } else { None };
    let app = boot::build_alone(config)?;
    let site = selection::site(&app.sites, &args.site)?;
    let uids = selection::content_types(site, &args.content_types)?;
    let pages = selection::has_pages(site, &args.content_types);
    selection::check_base_urls(site, &uids, pages)?;
    // The files are opened first, so that a wrong path fails before the long part.
    let previous =
        args.compare.as_deref().map(|path| read_previous(path, &site.key)).transpose()?;
    let output = args.format.map(|_| Output::open(args.out.as_deref())).transpose()?;
    let on_stdout = output.as_ref().is_some_and(Output::is_stdout);
    let lists = walk_lists(&app.snapshots, site, &uids, pages, listed_urls).await?;
    let of_types = lists.iter().filter(|(group, _)| *group != PAGES);
    let snapshots: Vec<Arc<Snapshot>> =
        of_types.map(|(_, cached)| Arc::clone(&cached.snapshot)).collect();
    let shared = Arc::new(SharedPaths::find(site, &snapshots));
    let links = app.admin_links(site);
    let problems = Problems::new(Arc::clone(site), snapshots, shared, links.clone());
    let targets = lists
        .into_iter()
        .map(|(group, list)| Targets::new(site, group, list.snapshot).without(list.hidden));
    let targets: Vec<Targets> = targets.collect();
    let checked_at = jiff::Timestamp::now().round(jiff::Unit::Second)?.to_string();
    let validator = &app.shared.validator;
    let judge =
        if args.content { Some(PageJudge::prepare(validator, &targets).await) } else { None };
    let checked = check::check(validator, &targets, judge.as_ref(), args.retries).await;
    let parts = targets.iter().zip(checked);
    let parts = parts.map(|(targets, checked)| TypeReport::new(targets, checked, links.as_deref()));
    let bases = site.hosts.all().iter().map(|host| host.base.as_str());
    let mut report = SiteReport {
        problems: Some(ProblemList::new(&problems)),
        links: broken_links,
        ..SiteReport::new(&site.key, bases.collect(), checked_at, parts.collect())
    };
    if let Some(judge) = &judge {
        let robots = judge.unreadable_robots().to_vec();
        report.content.get_or_insert_default().robots = robots;
    }
    if let (Some(output), Some(format)) = (output, args.format) {
        output.write(|out| format.write(&report, previous.as_ref(), out))?;
    }
    print_summary(&report, previous.as_ref(), on_stdout)?;
    let dead = report.tally.by_class.dead() > 0;
    let faulty = report.content.as_ref().is_some_and(FoundInPages::has_faults);
    let broken = !report.broken_links().is_empty();
    Ok(if dead || faulty || broken { ExitCode::from(FOUND_PROBLEMS) } else { ExitCode::SUCCESS })
}

/// The links that lead to no page, as a service judges them; of the selected content types.
async fn broken_links(
    config: &Config,
    args: &ValidateArgs,
) -> Result<BrokenLinks<'static>, Box<dyn Error>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Figures {
        read_at: String,
        left_out: u64,
        unreadable: u64,
    }
    let site = selection::site(&config.sites, &args.site)?;
    let unknown = Verdict::Unknown.as_str();
    let broken = Verdict::ALL.into_iter().filter(|verdict| verdict.is_broken());
    let listed = broken.map(Verdict::as_str).chain([unknown]).collect::<Vec<_>>().join(",");
    let parameters = [("verdict", &*listed)];
    let service = args.service.as_deref();
    let (mut links, last): (Vec<ContentLink<'_>>, LastLine<Figures>) =
        read_list(config, service, "/api/links", &site.key, &parameters).await?;
    let is_selected = |uid: &str| args.content_types.iter().any(|own| own == uid);
    links.retain(|link| args.content_types.is_empty() || is_selected(&link.content_type));
    let selected = links.len();
    links.retain(|link| link.verdict != unknown);
    let unknown = (selected - links.len()) as u64;
    let Figures { read_at, left_out, unreadable } = last.figures;
    let figures = BrokenLinkFigures { count: links.len(), read_at, unknown, left_out, unreadable };
    Ok(BrokenLinks { figures, links })
}

fn read_previous(path: &Path, site: &str) -> Result<PreviousReport, String> {
    let failed = |error: &dyn Error| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    let previous = PreviousReport::parse(&text).map_err(|error| failed(&error))?;
    if previous.site == site {
        return Ok(previous);
    }
    Err(format!("{}: a report about the site {:?}, not {site:?}", path.display(), previous.site))
}

/// Prints the summary to the stream that does not have the report.
fn print_summary(
    report: &SiteReport<'_>,
    previous: Option<&PreviousReport>,
    to_stderr: bool,
) -> io::Result<()> {
    let terminal = if to_stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let colours = Colours::new(terminal);
    let mut text = summary(report, colours);
    if let Some(previous) = previous {
        text += &diff::diff(report, previous, colours);
    }
    if to_stderr {
        io::stderr().write_all(text.as_bytes())
    } else {
        io::stdout().write_all(text.as_bytes())
    }
}

impl Format {
    fn write(
        self,
        report: &SiteReport<'_>,
        previous: Option<&PreviousReport>,
        mut out: &mut dyn Write,
    ) -> io::Result<()> {
        let out = &mut out;
        match self {
            Self::Json => json::write(report, out),
            Self::Ndjson => json::write_lines(report, out),
            Self::Csv => csv::write(report, out),
            Self::Junit => junit::write(report, out),
            Self::Html => html::write(report, previous, out),
        }
    }
}
