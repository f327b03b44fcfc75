//! `frontend-map redirects`: writes the redirects of a site, for a static host or a proxy.

mod csv;
mod json;
mod left_out;
mod netlify;
mod next;
mod nginx;
mod row;

use std::error::Error;
use std::io::{self, Write};

use clap::{Args, ValueEnum};

use self::row::{Figures, FrontendPaths, Redirects, Row};
use crate::cli::output::destination::Output;
use crate::cli::output::logging;
use crate::cli::output::words::count;
use crate::cli::selection;
use crate::cli::service::lines::{LastLine, ListArgs, read_list};
use crate::cli::walk::print_line;
use crate::config::Config;

const AFTER_HELP: &str = "\
The redirects are those of /api/redirects: each path of a redirect of the CMS, and each path that a
document had and that none has now, with where it leads. They are requested from a running service, with
the token of auth.validate_token_file or FRONTEND_MAP__AUTH__VALIDATE_TOKEN. Nothing is written, and FILE
stays as it was, if the list is not complete. It is ordered by host and path.

Formats:
  json     the response of /api/redirects
  csv      RFC 4180; moved.import reads it
  next     a JSON array for redirects() of next.config.js; targets on the same host are paths
  netlify  the file _redirects; 308 becomes 301 and 307 becomes 302, the statuses that Netlify knows
  nginx    two map blocks, with the lines for their use in comments
Redirects of the CMS that a format cannot express are left out and counted: page gone (410) in next,
netlify and nginx; all paths below one in nginx, and in next without force, because it redirects before
it looks for a page; a fragment in netlify and nginx; a query, or another status than moved.status, in
nginx. In next and netlify, paths that differ from a target only in letter case are left out: they would loop.

Exit status: 0 written, 1 failed, 2 invalid arguments, 78 invalid settings.";

/// Which redirects to write, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct RedirectsArgs {
    #[command(flatten)]
    list: ListArgs,
    /// Write the rows of moved.import that lead nowhere instead, each with the reason, as CSV; the documents
    /// are read from the CMS
    #[arg(long, conflicts_with_all = ["service", "host", "format"])]
    left_out: bool,
    /// Only the paths of this host, with its port, on a site with several hosts
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
}

/// The form of the list.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum Format {
    Json,
    Csv,
    Next,
    Netlify,
    Nginx,
}

/// Requests the redirects from a service, and writes them.
///
/// # Errors
/// When the list cannot be read completely, or the output cannot be written.
#[tokio::main]
pub(in crate::cli) async fn run(
    config: Config,
    args: &RedirectsArgs,
    verbose: bool,
) -> Result<(), Box<dyn Error>> {
    logging::start_if(verbose, &config.log);
    let ListArgs { site, service, out } = &args.list;
    let site = selection::site(&config.sites, site)?.clone();
    let host = args.host.as_deref().map(|host| selection::host(&site, host)).transpose()?;
    let output = Output::open(out.as_deref())?;
    let config_status = config.moved.status;
    if args.left_out {
        return left_out::write(config, &site, output).await;
    }
    let (rows, last): (_, LastLine<Figures>) =
        read_list(&config, service.as_deref(), "/api/redirects", &site.key, &[]).await?;
    let mut redirects = Redirects { rows, gone: last.figures.gone };
    if let Some(host) = host.flatten() {
        redirects.keep_host(site.hosts.all()[host].base.host());
    }
    redirects.sort();
    match redirects.keep(|row| args.format.expresses(row, config_status)) {
        0 => {}
        number => print_line(&format!(
            "left out, because the format cannot express them: {}",
            count(number as u64, "redirect")
        )),
    }
    if matches!(args.format, Format::Next | Format::Netlify) {
        match redirects.drop_case_variants() {
            0 => {}
            number => print_line(&format!(
                "left out, because they differ from a target only in letter case: {}",
                count(number as u64, "redirect")
            )),
        }
    }
    Ok(output.write(|out| {
        args.format.write(&redirects, &FrontendPaths::new(&site, host.is_some()), out)
    })?)
}

impl Format {
    /// Whether it can express a row. `status` is that of former paths.
    fn expresses(self, row: &Row, status: u16) -> bool {
        match self {
            Self::Json | Self::Csv => true,
            // Next.js redirects before it looks for a page.
            Self::Next => {
                let is_before_pages = row.all_below().is_none() || row.is_forced();
                !row.is_gone() && is_before_pages && !row.leads_below_itself()
            }
            // A `#` begins a comment.
            Self::Netlify => {
                !row.is_gone() && !row.leads_below_itself() && !row.suffix().contains('#')
            }
            // The blocks have one status, add the query of the request, and no path stands for others.
            Self::Nginx => {
                row.status == status && row.all_below().is_none() && row.suffix().is_empty()
            }
        }
    }

    fn write(
        self,
        redirects: &Redirects,
        paths: &FrontendPaths<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Json => json::write(redirects, out),
            Self::Csv => csv::write(&redirects.rows, out),
            Self::Next => next::write(&redirects.rows, paths, out),
            Self::Netlify => netlify::write(&redirects.rows, paths, out),
            Self::Nginx => nginx::write(&redirects.rows, paths, out),
        }
    }
}
