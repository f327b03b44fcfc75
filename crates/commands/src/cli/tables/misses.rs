//! `frontend-map misses`: lists the paths that visitors of a site could not find.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::columns::{Line, add};
use crate::cli::output::destination::Output;
use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::{count, digits};
use crate::cli::selection;
use crate::cli::service::lines::{LastLine, ListArgs, read_list};
use crate::config::Config;
use frontend_map_outbound::checks::report::Visible;
use frontend_map_outbound::checks::report::csv::field;

const AFTER_HELP: &str = "\
The paths are those of /api/misses: published paths for which /api/resolve found nothing, those that are
requested most first. They are requested from a running service, with the token of
auth.validate_token_file or FRONTEND_MAP__AUTH__VALIDATE_TOKEN. A path that a CDN caches is counted once
for each time that it caches it. What only scanners request, such as /wp-login.php, is one row.

Formats:
  table   text for people
  csv     RFC 4180, without formulas that a spreadsheet would run

Exit status: 0 listed, 1 failed, 2 invalid arguments, 78 invalid settings.";

const CSV_HEADER: &str =
    "kind,host,path,count,error,firstAt,lastAt,reason,suggestedPath,suggestedUrl";

/// Which paths to list, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct MissesArgs {
    #[command(flatten)]
    list: ListArgs,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// The form of the list.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum Format {
    Table,
    Csv,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    kind: String,
    #[serde(default)]
    host: Option<String>,
    path: Option<String>,
    count: u64,
    error: u64,
    first_at: Option<String>,
    last_at: Option<String>,
    suggestion: Option<Suggestion>,
}

#[derive(Deserialize)]
struct Figures {
    /// The requests that no row counts.
    uncounted: u64,
}

#[derive(Deserialize)]
struct Suggestion {
    path: String,
    url: Option<String>,
    reason: String,
}

/// Requests the list from a service and writes it.
///
/// # Errors
/// When there is no such site, the list cannot be read completely, or the output cannot be written.
#[tokio::main(flavor = "current_thread")]
pub(in crate::cli) async fn run(config: &Config, args: &MissesArgs) -> Result<(), Box<dyn Error>> {
    let ListArgs { site, service, out } = &args.list;
    let site = selection::site(&config.sites, site)?;
    let output = Output::open(out.as_deref())?;
    let colours = output.colours();
    let (rows, last) = read_list(config, service.as_deref(), "/api/misses", &site.key, &[]).await?;
    Ok(output.write(|out| match args.format {
        Format::Table => out.write_all(table(&rows, &last, &site.key, colours).as_bytes()),
        Format::Csv => write_csv(&rows, out),
    })?)
}

impl Row {
    /// The path with its host, or what stands for it.
    fn shown(&self) -> String {
        let path = self.path.as_deref().unwrap_or("(requests of scanners)");
        format!("{}{path}", self.host.as_deref().unwrap_or_default())
    }
}

fn table(rows: &[Row], last: &LastLine<Figures>, site: &str, colours: Colours) -> String {
    let verdict = match last.count {
        0 => colours.apply(Style::Good, "no paths that were not found"),
        number => {
            let number = count(number, "row");
            colours.apply(Style::Bad, format!("{number} of paths that were not found"))
        }
    };
    let mut text = format!("site {site}: {verdict}\n");
    if !rows.is_empty() {
        let columns = ["requests", "error", "first", "last", "reason", "suggestion", "path"];
        let mut lines = vec![columns.map(str::to_owned).to_vec()];
        lines.extend(rows.iter().map(line));
        add(&mut text, "paths", &lines, colours);
    }
    if last.figures.uncounted > 0 {
        let uncounted = count(last.figures.uncounted, "more request");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{uncounted} not counted by path.");
    }
    text
}

/// The cells, without control sequences for the terminal. Only a path that is not found may have
/// characters that are not ASCII.
fn line(row: &Row) -> Line {
    let suggestion = row.suggestion.as_ref();
    let time = |time: &Option<String>| time.clone().unwrap_or_default();
    vec![
        digits(row.count),
        digits(row.error),
        time(&row.first_at),
        time(&row.last_at),
        suggestion.map(|own| own.reason.clone()).unwrap_or_default(),
        suggestion.map(|own| own.path.clone()).unwrap_or_default(),
        row.shown(),
    ]
    .into_iter()
    .map(|cell| Visible(&cell).to_string())
    .collect()
}

fn write_csv(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{CSV_HEADER}\r\n")?;
    for row in rows {
        let suggestion = row.suggestion.as_ref();
        let fields = [
            &*row.kind,
            row.host.as_deref().unwrap_or_default(),
            row.path.as_deref().unwrap_or_default(),
            &row.count.to_string(),
            &row.error.to_string(),
            row.first_at.as_deref().unwrap_or_default(),
            row.last_at.as_deref().unwrap_or_default(),
            suggestion.map(|own| &*own.reason).unwrap_or_default(),
            suggestion.map(|own| &*own.path).unwrap_or_default(),
            suggestion.and_then(|own| own.url.as_deref()).unwrap_or_default(),
        ];
        write!(out, "{}\r\n", fields.map(field).join(","))?;
    }
    Ok(())
}
