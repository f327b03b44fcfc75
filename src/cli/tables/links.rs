//! `frontend-map links`: lists the links in the content of a site, with what is at each.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use reqwest::StatusCode;
use reqwest::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::text::{Line, add};
use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::{count, digits};
use crate::cli::selection;
use crate::cli::service::lines::{TOKEN, read_lines};
use crate::cli::service::{local_url, refusal, route_url};
use crate::cli::validate::Output;
use crate::config::Config;
use frontend_map_catalog::links::Verdict;
use frontend_map_outbound::checks::report::Visible;
use frontend_map_outbound::checks::report::csv::field;
use frontend_map_platform::http_client::{cause, client_builder};

const AFTER_HELP: &str = "\
The links are those of /api/links: internal links in the fields that [[site.links]] names. They are
requested from a running service, with the token of auth.validate_token_file or
FRONTEND_MAP__AUTH__VALIDATE_TOKEN. No page of the site is requested.

Verdicts:
  ok             the page is there
  moved          another page: by a redirect, or because its document is there now
  gone           its document is not published any more, or a redirect says that it is gone
  no_such_page   no page has the path, or had it
  other_locale   a page in another locale than that of the document with the link
  not_canonical  a page whose URL differs in host, scheme, slash or letter case
  unknown        that is not known at present
Links with gone and no_such_page are broken.

Formats:
  table   text for people; without --verdict, links with `ok` are only counted
  csv     RFC 4180, without formulas that a spreadsheet would run
  json    the response of /api/links
  ndjson  a line of JSON for each link, and a last line with their number

Exit status: 0 no link is broken, 1 some are, 2 could not run or invalid arguments, 78 invalid settings.";

const CSV_HEADER: &str =
    "verdict,contentType,documentId,locale,field,text,address,path,to,url,adminUrl";

/// How long the service may take to respond to --refresh.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Which links to list, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct LinksArgs {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    site: String,
    /// The URL of the running service; by default the address in the settings
    #[arg(long, value_name = "URL")]
    service: Option<String>,
    /// Only links with this verdict, or with one of several with commas between them
    #[arg(long, value_name = "VERDICTS")]
    verdict: Option<String>,
    /// Only links in this document
    #[arg(long, value_name = "ID")]
    document: Option<String>,
    /// Only links that lead to this path, directly or by a redirect
    #[arg(long, value_name = "PATH")]
    to: Option<String>,
    /// Let the service read the content again, within its share of the CMS, and list nothing
    #[arg(long, conflicts_with_all = ["verdict", "document", "to", "format", "out"])]
    refresh: bool,
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

/// The list.
#[derive(Default)]
struct Links {
    rows: Vec<Row>,
    /// Each line as the service sent it.
    lines: Vec<String>,
    figures: Option<Figures>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Received {
    Row(Box<Row>),
    Figures(Figures),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    content_type: String,
    document_id: String,
    locale: Option<String>,
    url: Option<String>,
    admin_url: Option<String>,
    field: String,
    text: String,
    address: String,
    path: Option<String>,
    verdict: String,
    to: Option<String>,
}

/// The last line.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    count: u64,
    broken: u64,
    verdicts: BTreeMap<String, u64>,
    read_at: String,
    left_out: u64,
    unreadable: u64,
}

/// Requests the list from a service and writes it; the exit status says whether a link is broken.
///
/// # Errors
/// When there is no such site, the list cannot be read completely, or the output cannot be written.
#[tokio::main(flavor = "current_thread")]
pub(in crate::cli) async fn run(
    config: &Config,
    args: &LinksArgs,
) -> Result<ExitCode, Box<dyn Error>> {
    let site = selection::site(&config.sites, &args.site)?;
    let service = args.service.clone().unwrap_or_else(|| local_url(config.server.listen));
    let token = config.auth.validate.as_ref();
    if args.refresh {
        refresh(&service, token, &site.key).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = Output::open(args.out.as_deref())?;
    let colours = if output.is_stdout() { Colours::of_stdout() } else { Colours::new(false) };
    let filters = [("verdict", &args.verdict), ("documentId", &args.document), ("to", &args.to)];
    let filters: Vec<(&str, &str)> =
        filters.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
    let mut links = Links::default();
    let pairs: Vec<(&str, &str)> = [("site", &*site.key)].into_iter().chain(filters).collect();
    read_lines(&service, token, "/api/links", &pairs, |line| links.take(line)).await?;
    let figures = links.end().map_err(|error| format!("{service}: {error}"))?;
    let is_broken = figures.broken > 0;
    output.write(|out| match args.format {
        Format::Table => {
            let shows_all = args.verdict.is_some();
            out.write_all(table(&links.rows, &figures, &site.key, shows_all, colours).as_bytes())
        }
        Format::Csv => write_csv(&links.rows, out),
        Format::Json => {
            // The last line has the figures.
            let (rows, last) = links.lines.split_at(links.rows.len());
            let figures = last.first().and_then(|last| last.strip_prefix('{'));
            let figures = figures.and_then(|figures| figures.strip_suffix('}')).unwrap_or_default();
            let rows = rows.join(",");
            writeln!(out, r#"{{"data":{{{figures},"links":[{rows}]}},"meta":{{}}}}"#)
        }
        Format::Ndjson => links.lines.iter().try_for_each(|line| writeln!(out, "{line}")),
    })?;
    Ok(if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Lets a service read the content again.
async fn refresh(
    service: &str,
    token: Option<&SecretString>,
    site: &str,
) -> Result<(), Box<dyn Error>> {
    let mut url = route_url(service, "/api/links")?;
    url.query_pairs_mut().append_pair("site", site);
    let mut request = client_builder()?.timeout(TIMEOUT).build()?.post(url);
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose_secret()));
    }
    let failed = |error: reqwest::Error| format!("{service}: {:?}", cause(&error));
    let response = request.send().await.map_err(failed)?;
    let status = response.status();
    if status != StatusCode::ACCEPTED {
        let body = response.bytes().await.map_err(failed)?;
        return Err(refusal(service, status.as_u16(), &body, TOKEN).into());
    }
    let text = "the content will be read, as snapshots.cms_share permits\n";
    Ok(io::stdout().write_all(text.as_bytes())?)
}

impl Links {
    /// Takes the next line.
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if self.figures.is_some() {
            return Err("the list continues after its end".to_owned());
        }
        let unreadable = || "a line of the list cannot be read".to_owned();
        match serde_json::from_slice(line).map_err(|_| unreadable())? {
            Received::Row(row) => self.rows.push(*row),
            Received::Figures(figures) => self.figures = Some(figures),
        }
        self.lines.push(String::from_utf8(line.to_vec()).map_err(|_| unreadable())?);
        Ok(())
    }

    /// The figures of a complete list.
    fn end(&self) -> Result<Figures, String> {
        let figures =
            self.figures.clone().filter(|figures| figures.count == self.rows.len() as u64);
        figures.ok_or_else(|| "the list is not complete".to_owned())
    }
}

fn table(rows: &[Row], figures: &Figures, site: &str, shows_all: bool, colours: Colours) -> String {
    let verdict = match figures.broken {
        0 => colours.apply(Style::Good, "no broken links"),
        number => colours.apply(Style::Bad, count(number, "broken link")),
    };
    let mut text = format!("site {site}: {verdict}\n");
    // Writing to a string cannot fail.
    for verdict in Verdict::ALL.map(Verdict::as_str) {
        if let Some(number) = figures.verdicts.get(verdict).filter(|number| **number > 0) {
            let _ = writeln!(text, "  {verdict}: {}", digits(*number));
        }
    }
    let shown = rows.iter().filter(|row| shows_all || row.verdict != "ok");
    let mut lines: Vec<Line> = shown.map(line).collect();
    if !lines.is_empty() {
        let columns = ["verdict", "document", "locale", "field", "address", "to", "text"];
        lines.insert(0, columns.map(str::to_owned).to_vec());
        add(&mut text, "links", &lines, colours);
    }
    let _ = writeln!(text, "\nThe content was read at {}.", figures.read_at);
    if figures.left_out > 0 {
        let number = count(figures.left_out, "more link");
        let _ = writeln!(text, "{number} left out: limits.links_bytes, or too long an address.");
    }
    if figures.unreadable > 0 {
        let number = count(figures.unreadable, "field or document");
        let _ = writeln!(text, "{number} could not be read.");
    }
    text
}

/// The cells, without control sequences for the terminal.
fn line(row: &Row) -> Line {
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    [
        row.verdict.clone(),
        row.document_id.clone(),
        optional(&row.locale),
        row.field.clone(),
        row.address.clone(),
        optional(&row.to),
        row.text.clone(),
    ]
    .map(|cell| Visible(&cell).to_string())
    .to_vec()
}

fn write_csv(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{CSV_HEADER}\r\n")?;
    for row in rows {
        let fields = [
            &*row.verdict,
            &row.content_type,
            &row.document_id,
            row.locale.as_deref().unwrap_or_default(),
            &row.field,
            &row.text,
            &row.address,
            row.path.as_deref().unwrap_or_default(),
            row.to.as_deref().unwrap_or_default(),
            row.url.as_deref().unwrap_or_default(),
            row.admin_url.as_deref().unwrap_or_default(),
        ];
        write!(out, "{}\r\n", fields.map(field).join(","))?;
    }
    Ok(())
}
