//! `frontend-map check`: checks the settings, compares them with the CMS, and lists rules that
//! overlap or never match.

mod ambiguous_rules;
mod cms;
mod constant_rules;
mod findings;
mod indexnow;
mod overlaps;
mod page_paths;
mod redis;
mod type_uses;

pub(super) use ambiguous_rules::log_ambiguous_rules;

use std::error::Error;
use std::io::{self, Write as _};
use std::path::Path;

use clap::{Args, ValueEnum};

use self::findings::{Check, Finding, Level, Place, failures};
use super::output::sarif::{self, Annotation, Kind};
use super::output::terminal::{Colours, Style};
use super::output::words::count;
use super::selection;
use crate::config::{Config, Problem, Problems};
use frontend_map_catalog::site::Site;

/// The checks that compare the settings with another program or file.
const PEERS: [Check; 4] = [Check::Cms, Check::ContentFile, Check::Redis, Check::IndexNow];

/// What to check, and how to report it.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Fail if only the order of the settings decides between rules, if a rule never matches, if a site or one of its locales has no base URL, or if there is a problem with the CMS or with Redis
    #[arg(long)]
    strict: bool,
    /// Check the settings alone, without a request to the CMS or to Redis
    #[arg(long)]
    offline: bool,
    /// The form of the report; with `sarif`, a code host shows each finding at its line of the settings
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum Format {
    Text,
    Sarif,
}

/// Prints the report about the settings in `file`.
///
/// # Errors
/// With `--strict`, when there are findings; and when stdout is closed.
pub(super) fn run(config: &Config, file: &Path, args: &CheckArgs) -> Result<(), Box<dyn Error>> {
    let findings = find(config, args.offline)?;
    let mut out = io::stdout();
    match args.format {
        Format::Text => {
            out.write_all(report(config, &findings, Colours::of_stdout()).as_bytes())?;
        }
        Format::Sarif => {
            let annotations: Vec<Annotation> =
                findings.iter().filter_map(|finding| finding.annotation(config)).collect();
            sarif::write(file, &annotations, &mut out)?;
        }
    }
    match failures(&findings) {
        Some(counts) if args.strict => Err(counts.into()),
        _ => Ok(()),
    }
}

/// Prints the problems of settings that cannot be used, for a program: stderr has them for people.
///
/// # Errors
/// When stdout is closed.
pub(super) fn refuse(problems: &Problems, file: &Path, args: &CheckArgs) -> io::Result<()> {
    if matches!(args.format, Format::Text) {
        return Ok(());
    }
    let kind = Kind { id: "invalid-setting", description: "The settings cannot be used" };
    let annotation = |Problem { line, text }: &Problem| Annotation {
        kind,
        level: sarif::Level::Error,
        text: text.clone(),
        line: *line,
    };
    let annotations: Vec<Annotation> = problems.iter().map(annotation).collect();
    sarif::write(file, &annotations, &mut io::stdout())
}

/// All findings: warnings about the settings, what the CMS, or the content file, and Redis showed, then the
/// rules of each site.
fn find(config: &Config, offline: bool) -> Result<Vec<Finding>, Box<dyn Error>> {
    let cms = cms::examine(config, offline)?;
    let warning = |Problem { line, text }: &Problem| {
        let place = line.map_or(Place::File, Place::Line);
        Finding::new(Check::Setting, Level::Warning, place, text)
    };
    let mut findings: Vec<Finding> = config.warnings.iter().map(warning).collect();
    findings.extend(cms.findings);
    findings.extend(redis::examine(config, offline));
    findings.extend(indexnow::examine(config, offline));
    for site in config.sites.iter() {
        findings.extend(missing_base_url(site));
        findings.extend(overlaps::find(site));
        findings.extend(page_paths::find(site));
    }
    findings.extend(constant_rules::find(config, &cms.single_types));
    Ok(findings)
}

/// The report for people: a summary, and a block for each finding.
fn report(config: &Config, findings: &[Finding], colours: Colours) -> String {
    let rules = config.sites.iter().map(|site| site.rules.rules().len() as u64).sum();
    let sites = config.sites.iter().count() as u64;
    let (sites, rules) = (count(sites, "site"), count(rules, "rule"));
    let with_peers = findings.iter().filter(|finding| PEERS.contains(&finding.check));
    let (style, verdict) = match failures(with_peers) {
        None => (Style::Good, "the settings are fine".to_owned()),
        Some(counts) => {
            let are = if counts.starts_with("1 ") { "is" } else { "are" };
            (Style::Heading, format!("the settings are valid, but there {are} {counts}"))
        }
    };
    let mut out = colours.apply(style, format_args!("{verdict}: {sites}, {rules}")) + "\n";
    for finding in findings {
        finding.write(&mut out, colours);
    }
    out
}

/// The warning about locales without a base URL.
fn missing_base_url(site: &Site) -> Option<Finding> {
    let first = site.hosts.first_locale_without_base()?;
    let (missing, remedy) = selection::missing_base_url(site, first);
    let effect = match site.hosts.all() {
        [] => "so it has no URLs",
        _ => "so each list and sitemap file with URLs of this locale is a 501",
    };
    let key = &site.key;
    let (place, text) =
        (Place::Site(key.clone()), format!("site {key}: {missing}, {effect}; {remedy}"));
    let finding = Finding::new(Check::BaseUrl, Level::Warning, place, text);
    Some(Finding { is_failure: true, ..finding })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, parse};

    #[test]
    fn first_line_of_the_report_is_good_unless_there_are_problems() {
        let text = "[[site]]\nkey = \"a\"\nlocales = [\"en\"]\n\
            [[site.rule]]\ncontent_type = \"api::x.x\"\ntemplate = \"/x/{slug}\"\n";
        let config = parse(Some(text), Path::new("settings.toml"), &Environment::new()).unwrap();
        let first_line = |findings: &[Finding]| {
            let report = report(&config, findings, Colours::COLOURED);
            report.lines().next().unwrap().to_owned()
        };
        let expected = "\u{1b}[32mthe settings are fine: 1 site, 1 rule\u{1b}[0m";
        assert_eq!(first_line(&[]), expected);
        let problem = Finding::problem(Check::Redis, Place::File, "");
        let expected = "\u{1b}[1mthe settings are valid, but there is 1 problem with Redis: \
            1 site, 1 rule\u{1b}[0m";
        assert_eq!(first_line(&[problem]), expected);
    }
}
