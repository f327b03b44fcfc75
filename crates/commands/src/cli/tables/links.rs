//! `frontend-map links`: lists the links in the content of a site, with the verdict about each.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::columns::{Line, add};
use crate::cli::output::destination::Output;
use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::{count, digits};
use crate::cli::selection;
use crate::cli::service::lines::{LastLine, ListArgs, TOKEN_SETTING, read_list};
use crate::cli::service::{local_url, post, route_url};
use crate::config::Config;
use frontend_map_catalog::links::{ContentLink, Verdict};
use frontend_map_outbound::checks::report::Visible;
use frontend_map_outbound::checks::report::csv::field;

const AFTER_HELP: &str = "\
The links are those of /api/links: internal links in the fields that [[site.links]] names. They are
requested from a running service, with the token of auth.validate_token_file or
FRONTEND_MAP__AUTH__VALIDATE_TOKEN. No page of the site is requested.

Verdicts:
  ok             the page is there
  moved          another page: by a redirect, or because its document is there now
  gone           its document is not published any more, or a redirect says that it is gone
  no_such_page   no page has the path, or had it; or a redirect leads to such a path
  other_locale   a page in another locale than that of the document with the link
  not_canonical  a page whose URL differs in host, scheme, slash or letter case
  unknown        that is not known at present
Links with gone and no_such_page are broken.

Formats:
  table   text for people; without --verdict, links with `ok` are only counted
  csv     RFC 4180, without formulas that a spreadsheet would run
  json    the response of /api/links
  ndjson  a line of JSON for each link, and a last line with the counters

Exit status: 0 no link is broken, 1 some are, 2 could not run or invalid arguments, 78 invalid settings.";

const CSV_HEADER: &str =
    "verdict,contentType,documentId,locale,field,text,address,path,to,url,adminUrl";

/// Which links to list, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct LinksArgs {
    #[command(flatten)]
    list: ListArgs,
    /// Only links with one of these verdicts, separated by commas
    #[arg(long, value_name = "VERDICTS")]
    verdict: Option<String>,
    /// Only links in this document
    #[arg(long, value_name = "ID")]
    document: Option<String>,
    /// Only links that lead to this path: directly, in another spelling or by a redirect
    #[arg(long, value_name = "PATH")]
    to: Option<String>,
    /// Let the service read the content again, within its share of the CMS, and list nothing
    #[arg(long, conflicts_with_all = ["verdict", "document", "to", "format", "out"])]
    refresh: bool,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
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

/// What the last line of the list says.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    documents: u64,
    broken: u64,
    verdicts: BTreeMap<String, u64>,
    read_at: String,
    left_out: u64,
    unreadable: u64,
}

type Row = ContentLink<'static>;

/// The data of the response of `/api/links`.
#[derive(Serialize)]
struct Data<'r> {
    #[serde(flatten)]
    last: &'r LastLine<Figures>,
    links: &'r [Row],
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
    let ListArgs { site, service, out } = &args.list;
    let site = selection::site(&config.sites, site)?;
    if args.refresh {
        refresh(config, service.as_deref(), &site.key).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = Output::open(out.as_deref())?;
    let colours = output.colours();
    let filters = [("verdict", &args.verdict), ("documentId", &args.document), ("to", &args.to)];
    let filters: Vec<(&str, &str)> =
        filters.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
    let (rows, last): (Vec<Row>, LastLine<Figures>) =
        read_list(config, service.as_deref(), "/api/links", &site.key, &filters).await?;
    output.write(|out| match args.format {
        Format::Table => {
            let shows_all = args.verdict.is_some();
            out.write_all(table(&rows, &last.figures, &site.key, shows_all, colours).as_bytes())
        }
        Format::Csv => write_csv(&rows, out),
        Format::Json => {
            let data = serde_json::to_string(&Data { last: &last, links: &rows })?;
            writeln!(out, r#"{{"data":{data},"meta":{{}}}}"#)
        }
        Format::Ndjson => {
            rows.iter().try_for_each(|row| write_line(row, out))?;
            write_line(&last, out)
        }
    })?;
    Ok(if last.figures.broken > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Lets a service read the content again.
async fn refresh(config: &Config, service: Option<&str>, site: &str) -> Result<(), Box<dyn Error>> {
    let service = &service.map_or_else(|| local_url(config.server.listen), str::to_owned);
    let mut url = route_url(service, "/api/links")?;
    url.query_pairs_mut().append_pair("site", site);
    post(service, url, config.auth.validate.as_ref(), TOKEN_SETTING, Vec::new()).await?;
    let text = "the content will be read, as snapshots.cms_share permits\n";
    Ok(io::stdout().write_all(text.as_bytes())?)
}

fn write_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", serde_json::to_string(value)?)
}

fn table(rows: &[Row], figures: &Figures, site: &str, shows_all: bool, colours: Colours) -> String {
    let is_complete = figures.left_out == 0 && figures.unreadable == 0;
    let verdict = match figures.broken {
        0 if is_complete => colours.apply(Style::Good, "no broken links"),
        0 => "no broken links found".to_owned(),
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
        let why = "raise limits.links_bytes; addresses over 2,320 bytes are never listed";
        let _ = writeln!(text, "{number} left out: {why}");
    }
    if figures.unreadable > 0 {
        let _ = writeln!(text, "{} could not be read.", unreadable(figures.unreadable));
    }
    text
}

fn unreadable(number: u64) -> String {
    if number == 1 {
        "1 field or document".to_owned()
    } else {
        format!("{} fields or documents", digits(number))
    }
}

/// The cells, without control sequences for the terminal.
fn line(row: &Row) -> Line {
    [
        &row.verdict,
        &row.document_id,
        row.locale.as_deref().unwrap_or_default(),
        &row.field,
        &row.address,
        row.to.as_deref().unwrap_or_default(),
        &row.text,
    ]
    .map(|cell| Visible(cell).to_string())
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
