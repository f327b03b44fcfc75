//! A run as JSON: one document, which later runs can be compared with, or one line for each URL.

use std::io::{self, Write};

use serde::Serialize;

use super::{SiteReport, Tally};

/// Writes one JSON document: the counters, and for each content type the payload of
/// `validate=true`, whose entries also say where they come from.
///
/// # Errors
/// Those of `out`.
pub fn write(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    write_line(report, out)
}

/// Writes a line for each URL, and the counters over all of them as the last one: a file without
/// that line is not whole.
///
/// # Errors
/// Those of `out`.
pub fn write_lines(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    for finding in report.findings() {
        write_line(finding, out)?;
    }
    let SiteReport { site, checked_at, tally, .. } = report;
    write_line(&Last { validated: true, site, checked_at, tally }, out)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Last<'r> {
    validated: bool,
    site: &'r str,
    checked_at: &'r str,
    #[serde(flatten)]
    tally: &'r Tally,
}

fn write_line(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
