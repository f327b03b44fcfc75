//! A report as CSV (RFC 4180), for spreadsheets.

use std::io::{self, Write};

use super::{Class, SiteReport, Visible};
use crate::checks::Finding;
use crate::checks::content::{Fault, UnreadableRobots};
use frontend_map_catalog::links::ContentLink;

const HEADER: &str =
    "contentType,documentId,locale,rule,url,status,class,ok,location,reason,title,adminUrl";

/// Writes a record for each URL, in the order of the sitemaps; if pages were judged, with a column for
/// their faults, and a record for each `robots.txt` that cannot be read; then one for each broken link, with
/// the verdict as its class.
///
/// # Errors
/// The errors of `out`.
pub fn write(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let with_faults = report.content.is_some();
    write!(out, "{HEADER}{}\r\n", if with_faults { ",faults" } else { "" })?;
    for part in &report.content_types {
        for finding in &part.results {
            write!(out, "{}", record(finding))?;
            if with_faults {
                write!(out, ",{}", field(&faults(&finding.faults)))?;
            }
            write!(out, "\r\n")?;
        }
    }
    for UnreadableRobots { url, reason } in
        report.content.iter().flat_map(|content| &content.robots)
    {
        write!(out, ",,,,{},,error,false,,{},,,\r\n", field(url), field(reason))?;
    }
    for link in report.broken_links() {
        write!(out, "{}{}\r\n", record_of_link(link), if with_faults { "," } else { "" })?;
    }
    Ok(())
}

fn record_of_link(link: &ContentLink<'_>) -> String {
    let fields = [
        &*link.content_type,
        &link.document_id,
        link.locale.as_deref().unwrap_or_default(),
        "",
        link.url.as_deref().unwrap_or_default(),
        "",
        &link.verdict,
        "false",
        &link.address,
        &format!("link in {}", link.field),
        "",
        link.admin_url.as_deref().unwrap_or_default(),
    ];
    fields.map(field).join(",")
}

fn record(finding: &Finding<'_>) -> String {
    let entry = &finding.entry;
    let status = entry.status.map(|status| status.to_string()).unwrap_or_default();
    let fields = [
        finding.content_type,
        finding.document_id,
        finding.locale,
        finding.rule,
        &entry.url,
        &status,
        Class::of(entry.status).as_str(),
        if entry.ok { "true" } else { "false" },
        entry.location.as_deref().unwrap_or_default(),
        entry.reason.as_deref().unwrap_or_default(),
        finding.title.unwrap_or_default(),
        finding.admin_url.as_deref().unwrap_or_default(),
    ];
    fields.map(field).join(",")
}

/// Faults in one line.
pub(super) fn faults(faults: &[Fault]) -> String {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    faults.join("; ")
}

/// A field, quoted unless its characters are harmless: some spreadsheets split at `;` or at tabs. An
/// apostrophe before a formula makes spreadsheets read it as text.
pub fn field(text: &str) -> String {
    let text = Visible(text).to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~%:/?#{}*".contains(c);
    if is_formula(&text) {
        format!("\"'{}\"", text.replace('"', "\"\""))
    } else if text.chars().all(plain) {
        text
    } else {
        format!("\"{}\"", text.replace('"', "\"\""))
    }
}

/// Also with full-width characters, which East Asian versions of spreadsheets accept.
fn is_formula(text: &str) -> bool {
    text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_is_one_text_and_no_formula_in_any_spreadsheet() {
        for (text, expected) in [
            ("", ""),
            ("https://www.example.com/en/a%20b", "https://www.example.com/en/a%20b"),
            ("/{locale}/{*path}", "/{locale}/{*path}"),
            ("a,b", "\"a,b\""),
            ("a;=cmd()", "\"a;=cmd()\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            (" +1", "\"' +1\""),
            ("\t+1", "\"\\u{9}+1\""),
            ("-abc", "\"'-abc\""),
            ("＝1", "\"'＝1\""),
            ("\"=1", "\"\"\"=1\""),
            ("a\r\n=1", "\"a\\u{d}\\u{a}=1\""),
            ("a\u{202e}b", "\"a\\u{202e}b\""),
        ] {
            assert_eq!(field(text), expected, "{text:?}");
        }
    }
}
