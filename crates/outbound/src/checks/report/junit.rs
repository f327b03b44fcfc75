//! A report as `JUnit` XML, for build servers: a suite for each content type, a case for each URL.

use std::io::{self, Write};

use super::csv::faults;
use super::visible::XmlText;
use super::{BrokenLinks, Class, Classes, SiteReport, TypeReport, UrlCheck};
use crate::checks::Finding;
use crate::checks::content::{Fault, FaultTally, UnreadableRobots};
use frontend_map_catalog::site::PAGES;

/// Writes the suites. A 4xx, a 5xx or a faulty page is a failure, any other dead URL is an error, and a
/// redirect or a hint passes, with its target or its text as output. Broken links are a suite of their own.
///
/// # Errors
/// The errors of `out`.
pub fn write(report: &SiteReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let (name, content) = (XmlText(report.site), report.content.as_ref());
    let robots = content.map_or(&[][..], |content| &content.robots);
    let tally = content.map(|content| &content.tally);
    let links = report.broken_links().len();
    let counts = counts(report.tally.by_class, tally, links, robots.len());
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"{name}\" {counts}>")?;
    for part in &report.content_types {
        write_suite(part, &report.checked_at, out)?;
    }
    if !robots.is_empty() {
        write_robots(robots, out)?;
    }
    if let Some(links) = &report.links {
        write_links(links, out)?;
    }
    writeln!(out, "</testsuites>")
}

/// Writes a suite with a case for each `robots.txt` that cannot be read.
fn write_robots(robots: &[UnreadableRobots], out: &mut impl Write) -> io::Result<()> {
    let counts = counts(Classes::default(), None, 0, robots.len());
    writeln!(out, "  <testsuite name=\"robots.txt\" {counts} skipped=\"0\">")?;
    for UnreadableRobots { url, reason } in robots {
        let (url, reason) = (XmlText(url), XmlText(reason));
        writeln!(out, "    <testcase classname=\"robots.txt\" name=\"{url}\">")?;
        writeln!(out, "      <error type=\"unreadable\" message=\"{reason}\"></error>")?;
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}

fn write_suite(part: &TypeReport<'_>, checked_at: &str, out: &mut impl Write) -> io::Result<()> {
    let counts = counts(part.tally.by_class, part.content.as_ref(), 0, 0);
    let name = XmlText(part.content_type);
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

/// The suite of broken links: what a link is in, and where it leads.
fn write_links(links: &BrokenLinks<'_>, out: &mut impl Write) -> io::Result<()> {
    let counts = counts(Classes::default(), None, links.figures.count, 0);
    let timestamp = XmlText(links.figures.read_at.trim_end_matches('Z'));
    writeln!(out, "  <testsuite name=\"links\" {counts} skipped=\"0\" timestamp=\"{timestamp}\">")?;
    for link in &links.links {
        let class_name = format!("{} {}", link.content_type, link.field);
        let locale = link.locale.as_deref().unwrap_or("none");
        let document = format!("documentId {}, locale {locale}", link.document_id);
        let outcome = format!("{}: {}", link.verdict, link.address);
        let [class_name, name, kind, outcome, document] =
            [&class_name, &*link.address, &link.verdict, &outcome, &document].map(XmlText);
        writeln!(
            out,
            "    <testcase classname=\"{class_name}\" name=\"{name}\">\n      <failure type=\"{kind}\" message=\"{outcome}\">{document}</failure>\n    </testcase>"
        )?;
    }
    writeln!(out, "  </testsuite>")
}

/// Each broken link is one more test that fails, each unreadable `robots.txt` one that ends with an error.
fn counts(classes: Classes, content: Option<&FaultTally>, links: usize, robots: usize) -> String {
    let Classes { success, redirect, client_error, server_error, error } = classes;
    let (links, error) = (links as u64, error + robots as u64);
    let tests = success + redirect + client_error + server_error + error + links;
    // A page is faulty or dead, not both.
    let failures = client_error + server_error + content.map_or(0, |tally| tally.faulty) + links;
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{error}\"")
}

fn write_case(finding: &Finding<'_>, out: &mut impl Write) -> io::Result<()> {
    let class_name = format!("{} {}", finding.content_type, finding.rule);
    let (class_name, name) = (XmlText(class_name.trim_end()), XmlText(&finding.entry.url));
    write!(out, "    <testcase classname=\"{class_name}\" name=\"{name}\"")?;
    let class = Class::of(finding.entry.status);
    let has_faults = finding.faults.iter().any(|fault| !fault.kind.is_hint());
    let tag = match class {
        Class::Success if finding.faults.is_empty() => return writeln!(out, "/>"),
        Class::Success | Class::Redirect if has_faults => "failure",
        Class::Success | Class::Redirect => "system-out",
        Class::ClientError | Class::ServerError => "failure",
        Class::Error => "error",
    };
    let outcome = match &*finding.faults {
        [] => outcome(&finding.entry),
        all => format!("{}, {}", outcome(&finding.entry), faults(all)),
    };
    let kind_of_id = if finding.content_type == PAGES { "page" } else { "documentId" };
    let text = format!("{kind_of_id} {}, locale {}", finding.document_id, finding.locale);
    let kind = finding.faults.first().filter(|_| !class.is_dead()).map(Fault::name);
    let kind = kind.unwrap_or(class.as_str());
    let (outcome, text) = (XmlText(&outcome), XmlText(&text));
    match tag {
        "system-out" => write!(out, ">\n      <{tag}>{outcome}, {text}")?,
        _ => write!(out, ">\n      <{tag} type=\"{kind}\" message=\"{outcome}\">{text}")?,
    }
    writeln!(out, "</{tag}>\n    </testcase>")
}

/// The result in one line.
fn outcome(entry: &UrlCheck) -> String {
    match (entry.status, &entry.location, &entry.reason) {
        (Some(status), Some(location), _) => format!("{status} to {location}"),
        (Some(status), None, _) => status.to_string(),
        (None, _, reason) => reason.clone().unwrap_or_default(),
    }
}
