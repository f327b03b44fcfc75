//! A run as one HTML page that stands alone: to open, to filter and to print.
//!
//! The numbers are in the page itself. The URLs are in a block of JSON, from which the page's
//! script makes rows as they are wanted: 50,000 of them at once would keep a browser busy for long.

mod data;
mod numbers;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use self::data::data;
use self::numbers::{write_numbers, write_since};
use super::compare::PreviousReport;
use super::markup::Markup;
use super::{Class, SiteReport};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

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
    earlier: Option<&PreviousReport>,
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
