//! The part of the page that is text: how many URLs are fine, dead, new and gone.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{date, tone};
use crate::validator::report::markup::Markup;
use crate::validator::report::{Change, Class, Classes, PreviousReport, SiteReport};

const HINT: &str = "<p class=\"soft screen-only\">The list below shows the classes that are framed. Click one to change that.</p>\n";

/// So many URLs that are gone are listed.
const GONE_SHOWN: usize = 1000;

/// Counters by class and by content type.
pub(super) fn write_numbers(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let (site, date) = (Markup(report.site), date(&report.checked_at));
    let (count, types) = (report.tally.count, report.content_types.len());
    let base = Markup(report.base);
    let types =
        if types == 1 { "1 content type".to_owned() } else { format!("{types} content types") };
    write!(
        out,
        "<header>\n<h1>URL check of {site}</h1>\n<p class=\"soft\"><span data-number>{count}</span> \
         URLs of {types} at {base}, checked on {date}</p>\n</header>\n{}<div class=\"classes\">\n",
        verdict(&report.tally.by_class)
    )?;
    let classes = report.tally.by_class;
    let problems = classes.success < count;
    for class in Class::ALL {
        let (key, name, urls) = (class.as_str(), class.meaning(), classes.get(class));
        let first = urls > 0 && (class != Class::Success || !problems);
        let off = if urls == 0 { " disabled" } else { "" };
        writeln!(
            out,
            "<button type=\"button\" class=\"{}\" data-kind=\"{key}\" data-name=\"{name}\" data-first=\"{first}\" \
             aria-pressed=\"{first}\"{off}><b data-number>{urls}</b> <span class=\"name\">{key}</span> \
             <span class=\"soft\">{name}</span></button>",
            tone(class)
        )?;
    }
    write!(out, "</div>\n{}{HINT}", shares(&classes, count))?;
    write_types(report, out)
}

fn verdict(classes: &Classes) -> String {
    let (dead, redirects) = (classes.dead(), classes.redirect);
    let also = match redirects {
        0 => String::new(),
        1 => ", 1 redirect".to_owned(),
        _ => format!(", <span data-number>{redirects}</span> redirects"),
    };
    match dead {
        0 => format!("<p class=\"verdict fine\">No dead URL{also}</p>\n"),
        1 => format!("<p class=\"verdict dead\">1 dead URL{also}</p>\n"),
        _ => format!(
            "<p class=\"verdict dead\"><span data-number>{dead}</span> dead URLs{also}</p>\n"
        ),
    }
}

/// A bar whose parts are the classes. Widths as attributes, because the page allows no style of
/// elements.
fn shares(classes: &Classes, count: u64) -> String {
    let mut bar = String::new();
    let mut at = 0;
    for class in Class::ALL {
        let width = (classes.get(class) * 1000).checked_div(count).unwrap_or(0);
        // A few among thousands are what the bar is for.
        let width = if classes.get(class) > 0 { width.max(6) } else { 0 };
        let tone = tone(class);
        // Writing to a string cannot fail.
        let _ = write!(bar, "<rect class=\"{tone}\" x=\"{at}\" width=\"{width}\" height=\"8\"/>");
        at += width;
    }
    let view = format!("viewBox=\"0 0 {} 8\" preserveAspectRatio=\"none\"", at.max(1));
    format!("<svg class=\"shares\" {view} aria-hidden=\"true\">{bar}</svg>\n")
}

fn write_types(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "<h2>Content types</h2>\n<div class=\"card\"><table class=\"types\">\n<thead><tr>\
         <th scope=\"col\">Content type</th><th scope=\"col\">URLs</th>"
    )?;
    for class in Class::ALL {
        write!(out, "<th scope=\"col\">{}</th>", class.as_str())?;
    }
    write!(out, "</tr></thead>\n<tbody>\n")?;
    for part in &report.content_types {
        let (name, count) = (Markup(part.content_type), part.tally.count);
        write!(out, "<tr><td><code>{name}</code></td><td data-number>{count}</td>")?;
        for class in Class::ALL {
            let urls = part.tally.by_class.get(class);
            let look = if urls > 0 { format!("some {}", tone(class)) } else { "none".to_owned() };
            write!(out, "<td class=\"{look}\" data-number>{urls}</td>")?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table></div>")
}

/// What has changed, as numbers; the URLs that are gone are in no list of this run.
pub(super) fn write_since(
    report: &SiteReport<'_>,
    earlier: &PreviousReport,
    out: &mut impl Write,
) -> io::Result<()> {
    let when = earlier.checked_at.as_deref().map(date);
    let when = when.as_deref().unwrap_or("the earlier check");
    write!(out, "<h2>Since {when}</h2>\n<p>")?;
    for change in [Change::Broke, Change::Healed, Change::New] {
        let urls = report.findings().filter(|finding| earlier.change(finding) == Some(change));
        write!(out, "<span data-number>{}</span> {}, ", urls.count(), change.as_str())?;
    }
    let gone = earlier.removed_urls(report);
    writeln!(out, "<span data-number>{}</span> gone</p>", gone.len())?;
    if gone.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>What is gone</summary>\n<ul>")?;
    for gone in gone.iter().take(GONE_SHOWN) {
        writeln!(
            out,
            "<li>{} <span class=\"soft\">{}</span></li>",
            Markup(gone.url),
            gone.class.as_str()
        )?;
    }
    if gone.len() > GONE_SHOWN {
        writeln!(out, "<li>and <span data-number>{}</span> more</li>", gone.len() - GONE_SHOWN)?;
    }
    writeln!(out, "</ul></details>")
}
