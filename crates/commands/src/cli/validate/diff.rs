//! The difference from an earlier report as text.

use std::fmt::{self, Write as _};

use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::{count, digits};
use frontend_map_outbound::checks::report::{Change, Class, PreviousReport, SiteReport, Visible};

/// The most URLs that are listed for one kind of change.
const MAX_LISTED: usize = 20;

/// One URL, its class and its documentId, if it still has one.
type Line<'r> = (Class, &'r str, &'r str);

/// The URLs that broke, recovered, are new or were removed.
pub(super) fn diff(report: &SiteReport<'_>, previous: &PreviousReport, colours: Colours) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_diff(&mut text, report, previous, colours);
    text
}

fn write_diff(
    out: &mut String,
    report: &SiteReport<'_>,
    previous: &PreviousReport,
    colours: Colours,
) -> fmt::Result {
    let when = previous.checked_at.as_deref().unwrap_or("the earlier check");
    writeln!(out, "\n{}", colours.apply(Style::Heading, format!("since {}", Visible(when))))?;
    let gone = previous.removed_urls(report);
    let [broke, healed, new] = [Change::Broke, Change::Healed, Change::New].map(|change| {
        let findings = report.findings().filter(|f| previous.change(f) == Some(change));
        let line = findings.map(|f| (Class::of(f.entry.status), &*f.entry.url, f.document_id));
        line.collect::<Vec<Line<'_>>>()
    });
    let gone: Vec<Line<'_>> = gone.iter().map(|gone| (gone.class, gone.url, "")).collect();
    if broke.is_empty() && healed.is_empty() && new.is_empty() && gone.is_empty() {
        writeln!(out, "  nothing has changed")?;
    }
    let kinds = [("broke", broke), ("healed", healed), ("new", new), ("gone", gone)];
    for (name, lines) in kinds.iter().filter(|(_, lines)| !lines.is_empty()) {
        write_lines(out, name, lines, colours)?;
    }
    for part in report.content_types.iter().filter(|part| !previous.has(part.content_type)) {
        writeln!(out, "  {} was not checked then", part.content_type)?;
    }
    Ok(())
}

fn write_lines(out: &mut String, name: &str, lines: &[Line<'_>], colours: Colours) -> fmt::Result {
    writeln!(out, "  {name}: {}", count(lines.len() as u64, "URL"))?;
    let mut lines = lines.to_vec();
    // Dead URLs first, then in the order of the sitemap.
    lines.sort_by_key(|(class, ..)| *class);
    for (class, url, id) in lines.iter().take(MAX_LISTED) {
        let class = colours.apply((*class).into(), format!("{:5}", class.as_str()));
        let id = if id.is_empty() { String::new() } else { format!("  {}", Visible(id)) };
        writeln!(out, "    {class}  {}{id}", Visible(url))?;
    }
    match lines.len().saturating_sub(MAX_LISTED) {
        0 => Ok(()),
        more => writeln!(out, "    and {} more", digits(more as u64)),
    }
}
