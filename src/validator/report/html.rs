//! A run as one HTML page that stands alone: to open, to filter and to print.
//!
//! The numbers are in the page itself. The URLs are in a block of JSON, from which the page's
//! script makes rows as they are wanted: 50,000 of them at once would keep a browser busy for long.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::compare::{Change, Earlier};
use super::markup::Markup;
use super::{Class, Classes, SiteReport, Visible};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

const HINT: &str = "<p class=\"soft screen-only\">The list below shows the classes that are framed. Click one to change that.</p>\n";

/// So many URLs that are gone are listed.
const GONE_SHOWN: usize = 1000;

const TAIL: &str = "\
<footer>\
<p><strong>Dead</strong> is what a visitor cannot read: a status other than 2xx and 3xx, or no answer at all. \
Redirects were not followed; where one leads is shown beside it.</p>\
<p>To repair a page, look up its <code>documentId</code> in the CMS, in the locale that stands with it.</p>\
</footer>\n";

/// Writes the page. With an earlier result, URLs that broke, healed or are new say so.
///
/// # Errors
/// Those of `out`.
pub fn write(
    report: &SiteReport<'_>,
    earlier: Option<&Earlier>,
    out: &mut impl Write,
) -> io::Result<()> {
    write_head(report, out)?;
    write_numbers(report, out)?;
    if let Some(earlier) = earlier {
        write_since(report, earlier, out)?;
    }
    write_list(earlier.is_some(), out)?;
    out.write_all(TAIL.as_bytes())?;
    let data = serde_json::to_string(&data(report, earlier))?;
    // The one thing that could end the block early, or begin a comment in it.
    let data = data.replace('<', "\\u003c");
    writeln!(out, "<script type=\"application/json\" id=\"report\">{data}</script>")?;
    writeln!(out, "<script>{SCRIPT}</script>\n</body>\n</html>")
}

fn write_head(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let (site, date) = (Markup(report.site), date(&report.checked_at));
    let (style, script) = (hash(STYLE), hash(SCRIPT));
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" content=\"noindex\">\n\
         <title>URL check of {site}, {date}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    )
}

fn write_numbers(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
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
fn write_since(report: &SiteReport<'_>, earlier: &Earlier, out: &mut impl Write) -> io::Result<()> {
    let when = earlier.checked_at.as_deref().map(date);
    let when = when.as_deref().unwrap_or("the earlier check");
    write!(out, "<h2>Since {when}</h2>\n<p>")?;
    for change in [Change::Broke, Change::Healed, Change::New] {
        let urls = report.findings().filter(|finding| earlier.change(finding) == Some(change));
        write!(out, "<span data-number>{}</span> {}, ", urls.count(), change.as_str())?;
    }
    let gone = earlier.gone(report);
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

fn write_list(compared: bool, out: &mut impl Write) -> io::Result<()> {
    let changes = if compared {
        "<label>Since the earlier check<select id=\"change\"><option value=\"\">all</option>\
         <option value=\"broke\">broke</option><option value=\"healed\">healed</option>\
         <option value=\"new\">new</option></select></label>"
    } else {
        ""
    };
    write!(
        out,
        "<noscript><p>The list of URLs needs JavaScript. The same run as CSV or JSON does not.</p></noscript>\n\
         <section id=\"list\" hidden>\n<h2>URLs</h2>\n<div class=\"filters\">\
         <label>Content type and rule<select id=\"rule\"><option value=\"\">all</option></select></label>\
         {changes}\
         <label class=\"text\">Text<input id=\"text\" type=\"search\" autocomplete=\"off\" \
         placeholder=\"part of a URL, documentId, locale, status or target\"></label>\
         <button type=\"button\" class=\"reset\">Reset</button></div>\n\
         <p class=\"shown soft\" role=\"status\"></p>\n<p class=\"told print-only\"></p>\n\
         <div class=\"card found\"><table class=\"list\">\n<thead><tr><th scope=\"col\" class=\"status\">Answer</th>\
         <th scope=\"col\">URL</th><th scope=\"col\" class=\"document\">Document</th></tr></thead>\n\
         <tbody></tbody>\n</table></div>\n<p class=\"empty\" hidden>No URL is like this.</p>\n\
         <button type=\"button\" class=\"more\">Show more</button>\n<p class=\"rest print-only\"></p>\n</section>\n"
    )
}

/// What the page's script makes its rows from.
#[derive(Serialize)]
struct Data<'r> {
    base: &'r str,
    /// Content type and template.
    rules: Vec<(&'r str, &'r str)>,
    locales: Vec<&'r str>,
    rows: Vec<DataRow<'r>>,
}

/// Positions of rule and locale, documentId, path, status or 0, target or reason, and what has
/// changed.
type DataRow<'r> = (usize, usize, String, &'r str, u16, String, &'r str);

fn data<'r>(report: &'r SiteReport<'_>, earlier: Option<&Earlier>) -> Data<'r> {
    let mut rules = Positions::default();
    let mut locales = Positions::default();
    let mut rows: Vec<(Class, DataRow<'r>)> = Vec::new();
    for finding in report.findings() {
        let entry = &finding.entry;
        let detail = entry.location.as_deref().or(entry.reason.as_deref()).unwrap_or_default();
        let row = (
            rules.of((finding.content_type, finding.rule)),
            locales.of(finding.locale),
            Visible(finding.document_id).to_string(),
            entry.url.strip_prefix(report.base).unwrap_or(&entry.url),
            entry.status.unwrap_or(0),
            Visible(detail).to_string(),
            earlier.and_then(|earlier| earlier.change(finding)).map_or("", Change::as_str),
        );
        rows.push((Class::of(entry.status), row));
    }
    rows.sort_by_key(|(class, row)| (*class, row.0));
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    Data { base: report.base, rules: rules.all, locales: locales.all, rows }
}

/// Numbers things in the order in which they come.
struct Positions<T> {
    all: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T> Default for Positions<T> {
    fn default() -> Self {
        Self { all: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Copy + Eq + Hash> Positions<T> {
    fn of(&mut self, thing: T) -> usize {
        *self.known.entry(thing).or_insert_with(|| {
            self.all.push(thing);
            self.all.len() - 1
        })
    }
}

/// A day and a minute, as people read them.
fn date(rfc3339: &str) -> String {
    let minute = rfc3339.get(..16).unwrap_or(rfc3339).replace('T', " ");
    format!("{} UTC", Markup(&minute))
}

fn tone(class: Class) -> &'static str {
    match class {
        Class::Success => "c2xx",
        Class::Redirect => "c3xx",
        Class::ClientError => "c4xx",
        Class::ServerError => "c5xx",
        Class::Error => "error",
    }
}

/// The source of a script or style in a content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}
