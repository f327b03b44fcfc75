//! The summary of the results as text: by class, dead URLs first, then by rule.

mod slash_hint;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use self::slash_hint::wanted_setting;
use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::{count, digits};
use frontend_map_outbound::checks::Finding;
use frontend_map_outbound::checks::content::FaultKind;
use frontend_map_outbound::checks::report::{
    BrokenLinkFigures, Class, FoundInPages, SiteReport, UrlCheck, Visible,
};

/// The most URLs that are listed for a rule: a frontend that is down would make thousands of lines.
const MAX_LISTED: usize = 20;

/// One line with the counters, then the URLs that are not 2xx, then the pages with faults.
pub(super) fn summary(report: &SiteReport<'_>, colours: Colours) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_summary(&mut text, report, colours);
    text
}

fn write_summary(out: &mut String, report: &SiteReport<'_>, colours: Colours) -> fmt::Result {
    let classes = report.tally.by_class;
    let verdict = match classes.dead() {
        0 => colours.apply(Style::Good, "none dead"),
        dead => colours.apply(Style::Bad, format!("{} dead", digits(dead))),
    };
    write!(out, "site {}: {}, {verdict}", report.site, count(report.tally.count, "URL"))?;
    let some = Class::ALL.into_iter().filter(|class| classes.get(*class) > 0);
    let counts: Vec<String> = some
        .map(|class| {
            let text = format!("{} {}", class.as_str(), digits(classes.get(class)));
            colours.apply(class.into(), text)
        })
        .collect();
    if !counts.is_empty() {
        write!(out, " ({})", counts.join(", "))?;
    }
    writeln!(out)?;
    if let Some(content) = &report.content {
        write_content(out, content, colours)?;
    }
    if let Some(problems) = report.problems.as_ref().filter(|problems| problems.count > 0) {
        let count = count(problems.count as u64, "problem");
        let command = format!("frontend-map problems --site {}", report.site);
        writeln!(out, "{} of the content: {command}", colours.apply(Style::Warning, count))?;
    }
    if let Some(links) = &report.links {
        let BrokenLinkFigures { count: broken, unknown, left_out, unreadable, .. } = links.figures;
        let missing = [(unknown, "not known"), (left_out, "left out"), (unreadable, "unreadable")];
        let missing = missing.into_iter().filter(|(number, _)| *number > 0);
        let missing = missing.map(|(number, what)| format!("{} {what}", digits(number)));
        let missing: Vec<String> = missing.collect();
        let verdict = match broken {
            0 if missing.is_empty() => colours.apply(Style::Good, "no broken links"),
            0 => "no broken links found".to_owned(),
            number => colours.apply(Style::Bad, count(number as u64, "broken link")),
        };
        let command = format!("frontend-map links --site {}", report.site);
        let all = [vec![format!("{verdict} in the content")], missing].concat().join(", ");
        writeln!(out, "{all}: {command}")?;
    }
    if let Some(setting) = wanted_setting(&report.bases, report.findings()) {
        let site = report.site;
        let form = if setting == "always" { "with a slash" } else { "without a slash" };
        let moved = format!("every page redirects to itself {form} at its end");
        let moved = colours.apply(Style::Warning, moved);
        writeln!(out, "{moved}: set trailing_slash = \"{setting}\" for site {site}")?;
    }
    let bad = Class::ALL.into_iter().filter(|class| *class != Class::Success);
    for class in bad.filter(|class| classes.get(*class) > 0) {
        write_class(out, report, class, colours)?;
    }
    for (kind, pages) in report.content.iter().flat_map(|content| &content.tally.kinds) {
        write_fault(out, report, *kind, *pages, colours)?;
    }
    Ok(())
}

/// One line with the counters of pages, and one for each `robots.txt` that cannot be read.
fn write_content(out: &mut String, content: &FoundInPages, colours: Colours) -> fmt::Result {
    let FoundInPages { tally, robots } = content;
    let verdict = match tally.faulty {
        0 if robots.is_empty() => colours.apply(Style::Good, "none faulty"),
        0 => "none faulty".to_owned(),
        faulty => colours.apply(Style::Bad, format!("{} faulty", digits(faulty))),
    };
    write!(out, "content: {} read, {verdict}", count(tally.read, "page"))?;
    let counts: Vec<String> = tally
        .kinds
        .iter()
        .map(|(kind, pages)| {
            let style = style(*kind);
            colours.apply(style, format!("{} {}", kind.as_str(), digits(*pages)))
        })
        .collect();
    if !counts.is_empty() {
        write!(out, " ({})", counts.join(", "))?;
    }
    writeln!(out)?;
    for file in robots {
        let text = format!("{} cannot be read", Visible(&file.url));
        writeln!(out, "{}: {}", colours.apply(Style::Bad, text), Visible(&file.reason))?;
    }
    Ok(())
}

fn write_fault(
    out: &mut String,
    report: &SiteReport<'_>,
    kind: FaultKind,
    pages: u64,
    colours: Colours,
) -> fmt::Result {
    let heading = format!("{}: {}", kind.as_str(), kind.meaning());
    writeln!(out, "\n{} ({})", colours.apply(style(kind), heading), count(pages, "page"))?;
    let detail = |finding: &Finding<'_>| {
        let fault = finding.faults.iter().find(|fault| fault.kind == kind);
        let detail = fault.map(|fault| Visible(&fault.detail).to_string());
        detail.filter(|detail| !detail.is_empty())
    };
    let has_fault = |finding: &Finding<'_>| finding.faults.iter().any(|fault| fault.kind == kind);
    for (rule, findings) in by_rule(report, has_fault) {
        write_rule(out, rule, &findings, |_| String::new(), detail, colours)?;
    }
    Ok(())
}

fn style(kind: FaultKind) -> Style {
    if kind.is_hint() { Style::Warning } else { Style::Bad }
}

fn write_class(
    out: &mut String,
    report: &SiteReport<'_>,
    class: Class,
    colours: Colours,
) -> fmt::Result {
    let heading = format!("{} {}", class.as_str(), class.meaning());
    let count = count(report.tally.by_class.get(class), "URL");
    writeln!(out, "\n{}: {count}", colours.apply(class.into(), heading))?;
    let is_of_class = |finding: &Finding<'_>| Class::of(finding.entry.status) == class;
    let target = |finding: &Finding<'_>| {
        let location = finding.entry.location.as_deref()?;
        Some(format!("{} {}", colours.apply(Style::Dim, "->"), Visible(location)))
    };
    for (rule, findings) in by_rule(report, is_of_class) {
        write_rule(out, rule, &findings, outcome, target, colours)?;
    }
    Ok(())
}

/// Content type and template.
type Rule<'r> = (&'r str, &'r str);

fn by_rule<'r>(
    report: &'r SiteReport<'_>,
    is_wanted: impl Fn(&Finding<'_>) -> bool,
) -> impl Iterator<Item = (Rule<'r>, Vec<&'r Finding<'r>>)> {
    let mut places = BTreeMap::new();
    let mut rules: Vec<(Rule<'r>, Vec<&'r Finding<'r>>)> = Vec::new();
    for finding in report.findings().filter(|finding| is_wanted(finding)) {
        let rule = (finding.content_type, finding.rule);
        let place = *places.entry(rule).or_insert_with(|| {
            rules.push((rule, Vec::new()));
            rules.len() - 1
        });
        rules[place].1.push(finding);
    }
    rules.into_iter()
}

/// The findings of a rule: a line for each, and a line below it if there is more to say.
fn write_rule(
    out: &mut String,
    (content_type, template): Rule<'_>,
    findings: &[&Finding<'_>],
    outcome: impl Fn(&Finding<'_>) -> String,
    below: impl Fn(&Finding<'_>) -> Option<String>,
    colours: Colours,
) -> fmt::Result {
    let count = digits(findings.len() as u64);
    let heading =
        colours.apply(Style::Heading, format!("{content_type} {template}").trim_end().to_owned());
    writeln!(out, "  {heading}: {count}")?;
    let shown = &findings[..findings.len().min(MAX_LISTED)];
    let width = |column: &dyn Fn(&Finding<'_>) -> String| {
        shown.iter().map(|finding| column(finding).chars().count()).max().unwrap_or(0)
    };
    let (ids, locales, outcomes) = (width(&document_id), width(&locale), width(&outcome));
    let gap = if outcomes == 0 { "" } else { "  " };
    for finding in shown {
        let (outcome, url) = (outcome(finding), Visible(&finding.entry.url));
        let (id, locale) = (document_id(finding), locale(finding));
        let title = finding.title.map(|title| format!("  {}", Visible(title)));
        let title = title.map(|title| colours.apply(Style::Dim, title)).unwrap_or_default();
        writeln!(out, "    {outcome:outcomes$}{gap}{id:ids$}  {locale:locales$}  {url}{title}")?;
        if let Some(below) = below(finding) {
            writeln!(out, "    {}  {below}", " ".repeat(outcomes))?;
        }
    }
    match findings.len() - shown.len() {
        0 => Ok(()),
        more => writeln!(out, "    and {} more: --format lists all", digits(more as u64)),
    }
}

fn document_id(finding: &Finding<'_>) -> String {
    Visible(finding.document_id).to_string()
}

fn locale(finding: &Finding<'_>) -> String {
    Visible(finding.locale).to_string()
}

/// The status, or why there is no response.
fn outcome(finding: &Finding<'_>) -> String {
    let UrlCheck { status, reason, .. } = &finding.entry;
    match status {
        Some(status) => status.to_string(),
        None => reason.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_outbound::checks::report::{Tally, TypeReport};
    use frontend_map_outbound::checks::{CheckResult, Failure};

    fn report<'t>(text: &'t str, checked: &[CheckResult]) -> SiteReport<'t> {
        let mut tally = Tally::default();
        for checked in checked {
            tally.add(checked);
        }
        let finding = |checked: &CheckResult| Finding {
            entry: UrlCheck::new("http://h/x".to_owned(), checked.clone()),
            content_type: "api::post.post",
            document_id: text,
            locale: "en",
            rule: "/{slug}",
            title: Some(text),
            admin_url: None,
            faults: Vec::new(),
        };
        let results = checked.iter().map(finding).collect();
        let (site, content_type) = ("main", "api::post.post");
        let part =
            TypeReport { validated: true, site, content_type, tally, content: None, results };
        SiteReport::new("main", vec!["http://h"], String::new(), vec![part])
    }

    fn moved(location: &str) -> CheckResult {
        let location = Some(location.to_owned());
        CheckResult::Response { status: 301, location, retry_after: None }
    }

    #[test]
    fn summary_escapes_control_characters_of_urls_and_documents() {
        let hostile = "\u{1b}]0;x\u{7}\r\u{202e}\u{9b}2J\n";
        let report = report(hostile, &[moved(hostile), CheckResult::Failed(Failure::Refused)]);
        let text = summary(&report, Colours::PLAIN);
        assert!(text.chars().all(|c| c == '\n' || frontend_map_rules::is_visible(c)), "{text:?}");
        let shown = r"\u{1b}]0;x\u{7}\u{d}\u{202e}\u{9b}2J\u{a}";
        assert_eq!(text.matches(shown).count(), 5, "{text}");
    }

    #[test]
    fn summary_has_the_same_text_with_colours() {
        let report = report("a", &[moved("/y"), CheckResult::Failed(Failure::Dns)]);
        let (plain, coloured) =
            (summary(&report, Colours::PLAIN), summary(&report, Colours::COLOURED));
        assert!(
            coloured.contains("\u{1b}[33m3xx leads elsewhere\u{1b}[0m: 1 URL\n"),
            "{coloured:?}"
        );
        let parts = coloured
            .split("\u{1b}[")
            .map(|part| part.split_once('m').map_or(part, |(_, text)| text));
        let first = coloured.split("\u{1b}[").next().unwrap();
        assert_eq!(first.to_owned() + &parts.skip(1).collect::<String>(), plain);
    }

    #[test]
    fn summary_lists_the_first_urls_of_thousands() {
        let report = report("a", &vec![CheckResult::Failed(Failure::Refused); 1234]);
        let text = summary(&report, Colours::PLAIN);
        assert_eq!(text.lines().count(), 4 + MAX_LISTED + 1);
        assert!(text.ends_with("    and 1,214 more: --format lists all\n"), "{text}");
    }
}
