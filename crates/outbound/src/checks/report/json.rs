//! A report as JSON: one document, which a later run can be compared with, or a line for each URL.

use std::io::{self, Write};

use serde::Serialize;

use super::{BrokenLinkFigures, FoundInPages, SiteReport, Tally};

/// Writes one JSON document: the counters, and for each content type the data of `validate=true`, with
/// the source of each result.
///
/// # Errors
/// The errors of `out`.
pub fn write(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    write_line(report, out)
}

/// Writes a line for each URL and for each broken link, and a last line with the counters: a file without
/// it is incomplete.
///
/// # Errors
/// The errors of `out`.
pub fn write_lines(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    for finding in report.findings() {
        write_line(finding, out)?;
    }
    for link in report.broken_links() {
        write_line(link, out)?;
    }
    let SiteReport { site, checked_at, tally, content, links, .. } = report;
    let content = content.as_ref();
    let links = links.as_ref().map(|links| &links.figures);
    write_line(&LastLine { validated: true, site, checked_at, tally, content, links }, out)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LastLine<'r> {
    validated: bool,
    site: &'r str,
    checked_at: &'r str,
    #[serde(flatten)]
    tally: &'r Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'r FoundInPages>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<&'r BrokenLinkFigures>,
}

fn write_line(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
