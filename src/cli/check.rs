//! `frontend-map check`: checks the settings, and lists rules that overlap or never match.

mod fields;

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::Write as _;

use self::fields::fields;
use crate::config::Config;
use crate::rules::{Incomplete, Overlap, Overlaps, ShadowedRule};
use crate::site::{Site, Sites};

/// The most overlaps that the service logs at its start.
const MAX_WARNINGS: usize = 20;

/// The report about the rules.
struct Report {
    /// As it is printed.
    text: String,
    overlaps: usize,
    never: usize,
}

/// Prints the report.
///
/// # Errors
/// With `strict`, when the report lists anything; and when stdout is closed.
pub(super) fn run(config: &Config, strict: bool) -> Result<(), Box<dyn Error>> {
    let Report { text, overlaps, never } = report(config);
    let (more, fields) = fields(config)?;
    std::io::stdout().write_all((text + &more).as_bytes())?;
    let mut found = format!("{overlaps} overlap(s), {never} rule(s) that never match");
    if fields > 0 {
        let _ = write!(found, ", {fields} field(s) that the CMS does not have");
    }
    if strict && overlaps + never + fields > 0 { Err(found.into()) } else { Ok(()) }
}

/// The summary, then a block for every overlap and every rule that never matches.
fn report(config: &Config) -> Report {
    let rules: usize = config.sites.iter().map(|site| site.rules.rules().len()).sum();
    let sites = config.sites.iter().count();
    let mut report = Report {
        text: format!("the settings are fine: {sites} site(s), {rules} rule(s)\n"),
        overlaps: 0,
        never: 0,
    };
    for site in config.sites.iter() {
        let overlaps = site.rules.overlaps();
        report.overlaps += overlaps.pairs.len();
        report.never += overlaps.shadowed.len();
        // Writing to a string cannot fail.
        let _ = write_site(&mut report.text, site, &overlaps);
    }
    report
}

fn write_site(out: &mut String, site: &Site, overlaps: &Overlaps<'_>) -> fmt::Result {
    for pair in &overlaps.pairs {
        write_pair(out, &site.key, pair)?;
    }
    for never in &overlaps.shadowed {
        write_never(out, &site.key, never)?;
    }
    let key = &site.key;
    match overlaps.incomplete {
        Some(Incomplete::PairLimit) => {
            writeln!(out, "\nsite {key}: there are more overlaps than these")
        }
        Some(Incomplete::Budget) => writeln!(
            out,
            "\nsite {key}: the search for overlaps reached its bound; one path of each remaining rule was tried"
        ),
        None => Ok(()),
    }
}

fn write_pair(out: &mut String, site: &str, pair: &Overlap<'_>) -> fmt::Result {
    let within = std::ptr::eq(pair.winner.rule, pair.loser.rule);
    let what = if within { "two templates of a rule match" } else { "two rules match" };
    writeln!(out, "\nsite {site}: {what} {}", pair.example)?;
    writeln!(out, "  wins   {}", pair.winner)?;
    writeln!(out, "  loses  {}", pair.loser)?;
    writeln!(out, "  why    {}", pair.why)?;
    match &pair.taken_by {
        Some(third) => writeln!(out, "  note   a third rule wins over both there: {third}"),
        None => Ok(()),
    }
}

fn write_never(out: &mut String, site: &str, never: &ShadowedRule<'_>) -> fmt::Result {
    let (rule, template) = (never.rule, never.rule.first_template());
    writeln!(out, "\nsite {site}: a rule never matches")?;
    writeln!(out, "  rule   {} {template}", rule.content_type)?;
    if never.hidden_by.is_empty() {
        writeln!(out, "  why    no path matches it")?;
    }
    for earlier in &never.hidden_by {
        writeln!(out, "  why    {earlier} matches its paths first")?;
    }
    Ok(())
}

/// Logs overlaps that only the order of the rules in the settings decides (D16).
pub(super) fn log_ambiguous_rules(sites: &Sites) {
    let mut logged = 0;
    let mut more = 0;
    for site in sites.iter() {
        let key = &site.key;
        let Overlaps { pairs, incomplete, .. } = site.rules.equal_shape_overlaps();
        if incomplete == Some(Incomplete::Budget) {
            tracing::info!(
                site = key,
                "the search for content types that share a path reached its bound"
            );
        }
        for pair in pairs {
            if logged == MAX_WARNINGS {
                more += 1;
                continue;
            }
            logged += 1;
            let (winner, loser, example) = (pair.winner, pair.loser, &pair.example);
            tracing::warn!(
                site = key, example, %winner, %loser,
                "two content types share a path; the order of the settings decides"
            );
        }
    }
    if more > 0 {
        tracing::warn!(more, "more content types share paths; `frontend-map check` lists them");
    }
}
