//! `frontend-map validate`: asks every public URL of a site once, and tells which are dead and
//! which documents they belong to.

mod check;
mod diff;
mod output;
mod progress;
mod retry;
mod summary;

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio::sync::oneshot;
use tokio::time::sleep;

use self::output::{Output, unfinished};
use self::summary::{Paint, summary};
use super::shutdown::{Stop, stop_signal};
use super::{logging, walk};
use crate::boot;
use crate::config::Config;
use crate::validator::Targets;
use crate::validator::report::{PreviousReport, SiteReport, TypeReport, csv, html, json, junit};

/// There are dead URLs.
const DEAD: u8 = 1;

/// How long what is under way has to end by itself at a signal.
const GRACE: Duration = Duration::from_secs(1);

const AFTER_HELP: &str = "\
Every URL gets one GET, ten at a time, with 10 seconds for its answer. Redirects are not followed.
A URL is dead if its status is neither 2xx nor 3xx, or if nothing answers; a redirect is not dead.

The summary goes to stdout, or to stderr where a report does; progress goes to stderr. A report
is written when the run is over: FILE is then there as a whole, or is what it was.

Formats:
  json    one document, for --compare and for programs
  ndjson  a line for each URL, the counters as the last line
  csv     RFC 4180, safe to open in a spreadsheet
  junit   XML for build servers: a suite for each content type, a case for each URL
  html    one page that stands alone, to open, filter and print

Exit status: 0 no dead URL, 1 dead URLs, 2 could not run, 78 wrong settings,
130 or 143 stopped by a signal.";

/// What to check, and how to tell of it.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Order {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    site: String,
    /// Only the URLs of this content type; may be given more than once
    #[arg(long = "content-type", value_name = "UID")]
    content_types: Vec<String>,
    /// Write a report as well
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file for the report; without it, or for `-`, stdout
    #[arg(long, value_name = "FILE", requires = "format")]
    out: Option<PathBuf>,
    /// Tell what has changed since an earlier result: what --format json wrote, or an answer of
    /// the service to validate=true
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Ask so many times more where nothing answers or the status is 429 or 5xx, with growing
    /// pauses, or when Retry-After says (after a minute at the latest)
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

/// Checks, tells and writes.
///
/// # Errors
/// When the content cannot be read, a file cannot be read or written, or nobody reads stdout.
pub(super) fn run(config: Config, order: &Order) -> Result<ExitCode, Box<dyn Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(until_stopped(config, order));
    // A look-up of a name that is under way has a thread that nothing ends.
    runtime.shutdown_background();
    ended
}

/// What is under way ends with the first signal, and leaves nothing behind.
async fn until_stopped(config: Config, order: &Order) -> Result<ExitCode, Box<dyn Error>> {
    let stop = stop_signal()?;
    let leftover = order.out.as_deref().and_then(unfinished);
    let (tell, stopped) = oneshot::channel();
    // A task of its own: a pipe that nobody reads or writes blocks this one.
    tokio::spawn(async move {
        let stop = stop.await;
        let _ = tell.send(stop);
        sleep(GRACE).await;
        let _ = leftover.map(std::fs::remove_file);
        std::process::exit(told(stop).into());
    });
    tokio::select! {
        ended = validate(config, order) => ended,
        Ok(stop) = stopped => Ok(ExitCode::from(told(stop))),
    }
}

/// Says that there is no result, and gives the exit status.
fn told(stop: Stop) -> u8 {
    let _ = writeln!(io::stderr(), "frontend-map: stopped before the end");
    stop.status()
}

async fn validate(mut config: Config, order: &Order) -> Result<ExitCode, Box<dyn Error>> {
    "warn".clone_into(&mut config.log.level);
    logging::start(&config.log);
    let app = boot::build_alone(config)?;
    let site = walk::site(&app.sites, &order.site)?;
    let base = walk::base(site)?;
    let uids = walk::chosen(site, &order.content_types)?;
    // Both before the long part: a path that is wrong is known at once.
    let earlier = order.compare.as_deref().map(|path| read_earlier(path, &site.key)).transpose()?;
    let output = order.format.map(|_| Output::open(order.out.as_deref())).transpose()?;
    let on_stdout = output.as_ref().is_some_and(Output::is_stdout);
    let copies = walk::walk(&app.snapshots, site, &uids, walk::listed).await?;
    let targets = copies
        .into_iter()
        .filter_map(|(uid, copy)| Targets::new(site, uid.as_str(), copy.snapshot));
    let targets: Vec<Targets> = targets.collect();
    let checked_at = jiff::Timestamp::now().round(jiff::Unit::Second)?.to_string();
    let checked = check::check(&app.shared.validator, base, &targets, order.retries).await;
    let parts = targets.iter().zip(checked);
    let parts = parts.map(|(targets, checked)| TypeReport::new(targets, checked)).collect();
    let report = SiteReport::new((&site.key, base.as_str()), checked_at, parts);
    if let (Some(output), Some(format)) = (output, order.format) {
        output.write(|out| format.write(&report, earlier.as_ref(), out))?;
    }
    tell(&report, earlier.as_ref(), on_stdout)?;
    let dead = report.tally.by_class.dead() > 0;
    Ok(if dead { ExitCode::from(DEAD) } else { ExitCode::SUCCESS })
}

fn read_earlier(path: &Path, site: &str) -> Result<PreviousReport, String> {
    let failed = |error: &dyn Error| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    let earlier = PreviousReport::parse(&text).map_err(|error| failed(&error))?;
    if earlier.site == site {
        return Ok(earlier);
    }
    Err(format!("{}: a check of the site {:?}, not of {site:?}", path.display(), earlier.site))
}

/// Prints the summary where no report stands.
fn tell(
    report: &SiteReport<'_>,
    earlier: Option<&PreviousReport>,
    to_stderr: bool,
) -> io::Result<()> {
    let terminal = if to_stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let paint = Paint::new(terminal);
    let mut text = summary(report, paint);
    if let Some(earlier) = earlier {
        text += &diff::diff(report, earlier, paint);
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
        earlier: Option<&PreviousReport>,
        mut out: &mut dyn Write,
    ) -> io::Result<()> {
        let out = &mut out;
        match self {
            Self::Json => json::write(report, out),
            Self::Ndjson => json::write_lines(report, out),
            Self::Csv => csv::write(report, out),
            Self::Junit => junit::write(report, out),
            Self::Html => html::write(report, earlier, out),
        }
    }
}
