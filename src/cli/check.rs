//! `frontend-map check`: checks the settings, compares them with the CMS, and lists rules that
//! overlap or never match.

mod cms;
mod colours;
mod constant_rules;
mod findings;
mod overlaps;
mod page_paths;
mod redis;
mod rules_at_start;
mod type_uses;

pub(super) use rules_at_start::log_ambiguous_rules;

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;

use self::cms::CmsReport;
use self::colours::coloured;
use self::findings::Findings;
use self::redis::RedisReport;
use super::output::terminal::Colours;
use super::output::words::count;
use super::selection;
use crate::config::{Cms, Config};
use frontend_map_catalog::site::Site;

/// Prints the report. `offline`: nothing is requested from the CMS and from Redis.
///
/// # Errors
/// With `strict`, when there are findings; and when stdout is closed.
pub(super) fn run(config: &Config, strict: bool, offline: bool) -> Result<(), Box<dyn Error>> {
    let cms = cms::examine(config, offline)?;
    let mut findings = Findings::default();
    let redis = redis::examine(config, offline);
    let mut out = report(config, &cms, &redis, &mut findings);
    // Writing to a string cannot fail.
    let _ = constant_rules::write(&mut out, config, &cms.single_types);
    findings.add(
        cms.findings,
        match config.cms {
            Cms::Strapi(_) => ["problem with the CMS", "problems with the CMS"],
            Cms::Files { .. } => {
                ["problem with the content file", "problems with the content file"]
            }
        },
    );
    findings.add(redis.findings, ["problem with Redis", "problems with Redis"]);
    std::io::stdout().write_all(coloured(&out, Colours::of_stdout()).as_bytes())?;
    if strict { Ok(findings.into_result()?) } else { Ok(()) }
}

/// The summary and the warnings, what the CMS, or the content file, and Redis showed, then a block for every overlap and
/// every rule that never matches.
fn report(
    config: &Config,
    cms: &CmsReport,
    redis: &RedisReport,
    findings: &mut Findings,
) -> String {
    let rules = config.sites.iter().map(|site| site.rules.rules().len() as u64).sum();
    let sites = config.sites.iter().count() as u64;
    let (sites, rules) = (count(sites, "site"), count(rules, "rule"));
    let source = match config.cms {
        Cms::Strapi(_) => "the CMS",
        Cms::Files { .. } => "the content file",
    };
    let verdict = verdict([cms.findings, redis.findings], source);
    let mut out = format!("{verdict}: {sites}, {rules}\n");
    for warning in &config.warnings {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\nwarning: {warning}");
    }
    out += &cms.text;
    out += &redis.text;
    for site in config.sites.iter() {
        if let Some(text) = missing_base_url(site) {
            out += &text;
            findings.add(1, ["site without a base URL", "sites without a base URL"]);
        }
        let _ = overlaps::write(&mut out, site, findings);
        let _ = page_paths::write(&mut out, site);
    }
    out
}

/// Whether the settings are fine, with the numbers of problems with the source of the documents and with
/// Redis.
fn verdict([cms, redis]: [usize; 2], source: &str) -> String {
    let text = |number: usize| match number {
        1 => "is 1 problem".to_owned(),
        more => format!("are {more} problems"),
    };
    let problems = match (cms, redis) {
        (0, 0) => return "the settings are fine".to_owned(),
        (_, 0) => format!("{} with {source}", text(cms)),
        (0, _) => format!("{} with Redis", text(redis)),
        _ => format!("{} with {source} and with Redis", text(cms + redis)),
    };
    format!("the settings are valid, but there {problems}")
}

/// The warning about locales without a base URL.
fn missing_base_url(site: &Site) -> Option<String> {
    let first = site.hosts.first_locale_without_base()?;
    let (missing, remedy) = selection::missing_base_url(site, first);
    let effect = match site.hosts.all() {
        [] => "so it has no URLs",
        _ => "so each list and sitemap file with URLs of this locale is a 501",
    };
    Some(format!("\nwarning: site {}: {missing}, {effect}; {remedy}\n", site.key))
}
