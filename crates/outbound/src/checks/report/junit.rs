//! A report as `JUnit` XML, for build servers: a suite for each content type, a case for each URL.

use std::io::{self, Write};

use super::xml_text::XmlText;
use super::{Class, Classes, Entry, SiteReport, TypeReport};
use crate::checks::Finding;
use frontend_map_catalog::site::PAGES;

/// Writes the suites. A 4xx or 5xx is a failure, any other dead URL is an error, and a redirect passes,
/// with its target as output.
///
/// # Errors
/// The errors of `out`.
pub fn write(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let (name, counts) = (XmlText(report.site), counts(report.tally.by_class));
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"{name}\" {counts}>")?;
    for part in &report.content_types {
        write_suite(part, &report.checked_at, out)?;
    }
    writeln!(out, "</testsuites>")
}

fn write_suite(part: &TypeReport<'_>, checked_at: &str, out: &mut impl Write) -> io::Result<()> {
    let (name, counts) = (XmlText(part.content_type), counts(part.tally.by_class));
    // The format has no time zone: the time is UTC.
    let timestamp = XmlText(checked_at.trim_end_matches('Z'));
    writeln!(
        out,
        "  <testsuite name=\"{name}\" {counts} skipped=\"0\" timestamp=\"{timestamp}\">"
    )?;
    for finding in &part.results {
        write_case(finding, out)?;
    }
    writeln!(out, "  </testsuite>")
}

fn counts(classes: Classes) -> String {
    let Classes { success, redirect, client_error, server_error, error } = classes;
    let failures = client_error + server_error;
    let tests = success + redirect + failures + error;
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{error}\"")
}

fn write_case(finding: &Finding<'_>, out: &mut impl Write) -> io::Result<()> {
    let class_name = format!("{} {}", finding.content_type, finding.rule);
    let (class_name, name) = (XmlText(class_name.trim_end()), XmlText(&finding.entry.url));
    write!(out, "    <testcase classname=\"{class_name}\" name=\"{name}\"")?;
    let class = Class::of(finding.entry.status);
    let tag = match class {
        Class::Success => return writeln!(out, "/>"),
        Class::Redirect => "system-out",
        Class::ClientError | Class::ServerError => "failure",
        Class::Error => "error",
    };
    let outcome = outcome(&finding.entry);
    let kind_of_id = if finding.content_type == PAGES { "page" } else { "documentId" };
    let text = format!("{kind_of_id} {}, locale {}", finding.document_id, finding.locale);
    let (kind, outcome, text) = (class.as_str(), XmlText(&outcome), XmlText(&text));
    match tag {
        "system-out" => write!(out, ">\n      <{tag}>{outcome}, {text}")?,
        _ => write!(out, ">\n      <{tag} type=\"{kind}\" message=\"{outcome}\">{text}")?,
    }
    writeln!(out, "</{tag}>\n    </testcase>")
}

/// The result in one line.
fn outcome(entry: &Entry) -> String {
    match (entry.status, &entry.location, &entry.reason) {
        (Some(status), Some(location), _) => format!("{status} to {location}"),
        (Some(status), None, _) => status.to_string(),
        (None, _, reason) => reason.clone().unwrap_or_default(),
    }
}
