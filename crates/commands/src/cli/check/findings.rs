//! What `check` finds, as data: the reports and `--strict` are made from it.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use crate::cli::output::sarif::{self, Annotation, Kind};
use crate::cli::output::terminal::{Colours, Style};
use crate::config::Config;
use frontend_map_catalog::site::Site;
use frontend_map_rules::{ContentTypeUid, Rule};

/// A finding about the settings, the CMS, the content file or Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) check: Check,
    pub(super) level: Level,
    /// Whether `--strict` fails because of it.
    pub(super) is_failure: bool,
    pub(super) text: String,
    /// Further lines, each with a label of one word.
    pub(super) details: Vec<(&'static str, String)>,
    pub(super) place: Place,
}

/// How a finding is introduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// What has to be done about it is its text.
    Problem,
    /// Probably a mistake.
    Warning,
    /// May be wanted.
    Note,
    /// Nothing was found, or nothing was checked.
    Information,
}

/// Which part of the settings it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// No part of the file, or none that is known.
    File,
    Line(usize),
    Site(String),
    /// The rule of a site, by its position from 0.
    Rule(String, usize),
    /// The first rule of the content type, or else its links.
    Type(ContentTypeUid),
    /// The links in the content type.
    Links(ContentTypeUid),
}

/// What was checked, in the order in which `--strict` names the failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Check {
    BaseUrl,
    Overlap,
    NeverMatches,
    PagePath,
    ConstantRule,
    Setting,
    Cms,
    ContentFile,
    Redis,
    IndexNow,
}

impl Place {
    pub(super) fn of_rule(site: &Site, rule: &Rule) -> Self {
        let rules = site.rules.rules();
        let at = rules.iter().position(|own| std::ptr::eq(own, rule));
        at.map_or(Self::File, |at| Self::Rule(site.key.clone(), at))
    }

    /// The line of the settings file, if it is known.
    fn line(&self, config: &Config) -> Option<usize> {
        match self {
            Self::File => None,
            Self::Line(line) => Some(*line),
            Self::Site(key) => config.lines.site(key),
            Self::Rule(site, at) => config.lines.rule(site, *at),
            Self::Type(uid) => {
                let rule = config.sites.iter().find_map(|site| {
                    let at =
                        site.rules.rules().iter().position(|rule| rule.content_type == *uid)?;
                    config.lines.rule(&site.key, at)
                });
                rule.or_else(|| Self::Links(uid.clone()).line(config))
            }
            Self::Links(uid) => config.sites.iter().find_map(|site| {
                let at = site.links.iter().position(|source| source.content_type == *uid)?;
                config.lines.links(&site.key, at)
            }),
        }
    }
}

impl Check {
    fn kind(self) -> Kind {
        let (id, description) = match self {
            Self::BaseUrl => ("no-base-url", "A locale of a site has no base URL"),
            Self::Overlap => ("overlap", "Two rules match the same path"),
            Self::NeverMatches => ("never-matches", "Earlier rules match all paths of a rule"),
            Self::PagePath => ("page-path", "A rule can build the path of a page outside the CMS"),
            Self::ConstantRule => ("constant-rule", "A rule builds one path for all documents"),
            Self::Setting => ("setting", "A setting is probably a mistake"),
            Self::Cms => ("cms", "The CMS is not as the settings need it"),
            Self::ContentFile => ("content-file", "The content file lacks a content type"),
            Self::Redis => ("redis", "Redis cannot be used as it is"),
            Self::IndexNow => ("indexnow", "A frontend does not serve the key file of IndexNow"),
        };
        Kind { id, description }
    }

    /// Failures of this kind, in the singular and in the plural.
    fn failures(self) -> [&'static str; 2] {
        match self {
            Self::BaseUrl => ["site without a base URL", "sites without a base URL"],
            Self::Overlap => [
                "overlap that only the order of the settings decides",
                "overlaps that only the order of the settings decides",
            ],
            Self::NeverMatches => ["rule that never matches", "rules that never match"],
            Self::Cms => ["problem with the CMS", "problems with the CMS"],
            Self::ContentFile => {
                ["problem with the content file", "problems with the content file"]
            }
            Self::Redis => ["problem with Redis", "problems with Redis"],
            Self::IndexNow => ["problem with IndexNow", "problems with IndexNow"],
            Self::PagePath | Self::ConstantRule | Self::Setting => ["warning", "warnings"],
        }
    }
}

impl Finding {
    pub(super) fn new(check: Check, level: Level, place: Place, text: impl Into<String>) -> Self {
        let (text, details) = (text.into(), Vec::new());
        Self { check, level, is_failure: false, text, details, place }
    }

    /// What a peer of the service, or its content file, is not as the settings need it.
    pub(super) fn problem(check: Check, place: Place, text: impl Into<String>) -> Self {
        Self { is_failure: true, ..Self::new(check, Level::Problem, place, text) }
    }

    /// Adds a line.
    pub(super) fn detail(&mut self, label: &'static str, text: impl Display) {
        self.details.push((label, text.to_string()));
    }

    /// As an annotation of the settings file; `None`: there is nothing to do about it.
    pub(super) fn annotation(&self, config: &Config) -> Option<Annotation> {
        let level = match self.level {
            _ if self.is_failure => sarif::Level::Error,
            Level::Information => return None,
            Level::Note => sarif::Level::Note,
            Level::Problem | Level::Warning => sarif::Level::Warning,
        };
        let details = self.details.iter().map(|(label, text)| format!("\n{label}: {text}"));
        let text = self.text.clone() + &details.collect::<String>();
        Some(Annotation { kind: self.check.kind(), level, text, line: self.place.line(config) })
    }

    /// A block of the report for people.
    pub(super) fn write(&self, out: &mut String, colours: Colours) {
        let (style, level) = match self.level {
            Level::Problem | Level::Information => (Style::Heading, ""),
            Level::Warning => (Style::Warning, "warning: "),
            Level::Note => (Style::Heading, "note: "),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n{}", colours.apply(style, format_args!("{level}{}", self.text)));
        for (label, text) in &self.details {
            let style = match *label {
                "wins" => Style::Good,
                "loses" => Style::Warning,
                _ => Style::Dim,
            };
            let _ = writeln!(out, "  {} {text}", colours.apply(style, format_args!("{label:6}")));
        }
    }
}

/// The number of failures of each kind in words; `None`: there are none.
pub(super) fn failures<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Option<String> {
    let mut counts: BTreeMap<Check, usize> = BTreeMap::new();
    for finding in findings.into_iter().filter(|finding| finding.is_failure) {
        *counts.entry(finding.check).or_default() += 1;
    }
    let text = |(check, count): (&Check, &usize)| {
        let [one, many] = check.failures();
        format!("{count} {}", if *count == 1 { one } else { many })
    };
    let all: Vec<String> = counts.iter().map(text).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Environment, parse};

    #[test]
    fn failures_name_each_kind_of_failure_once_with_its_count() {
        let finding = |check, is_failure| Finding {
            is_failure,
            ..Finding::new(check, Level::Warning, Place::File, "")
        };
        let mut findings = vec![finding(Check::Setting, false), finding(Check::Overlap, false)];
        assert_eq!(failures(&findings), None);
        findings.extend([Check::Redis, Check::Cms, Check::Redis].map(|check| finding(check, true)));
        let expected = "1 problem with the CMS, 2 problems with Redis";
        assert_eq!(failures(&findings).as_deref(), Some(expected));
    }

    #[test]
    fn line_of_a_place_is_that_of_the_header_in_the_settings_file() {
        let text = "# 1\n\
            [[site]]\nkey = \"b\"\nlocales = [\"en\"]\n\
            [[site.rule]]\ncontent_type = \"api::x.x\"\ntemplate = \"/x/{slug}\"\n\
            [[site]]\nkey = \"a\"\nlocales = [\"en\"]\nresolve = \"documents\"\n\
            [[site.rule]]\ncontent_type = \"api::x.x\"\ntemplate = \"/x/{slug}\"\n\
            [[site.rule]]\ncontent_type = \"api::y.y\"\ntemplate = \"/y/{slug}\"\n\
            [[site.links]]\ncontent_type = \"api::menu.menu\"\nfields = [\"url\"]\n\
            [[site.links]]\ncontent_type = \"api::x.x\"\nfields = [\"body\"]\n";
        let config = parse(Some(text), Path::new("settings.toml"), &Environment::new()).unwrap();
        let uid = |text| Place::Type(ContentTypeUid::parse(text).unwrap());
        for (place, expected) in [
            (Place::File, None),
            (Place::Line(3), Some(3)),
            (Place::Site("b".to_owned()), Some(2)),
            (Place::Site("a".to_owned()), Some(8)),
            (Place::Site("c".to_owned()), None),
            (Place::Rule("b".to_owned(), 0), Some(5)),
            (Place::Rule("a".to_owned(), 1), Some(15)),
            (Place::Rule("a".to_owned(), 2), None),
            (uid("api::x.x"), Some(5)),
            (uid("api::y.y"), Some(15)),
            (uid("api::z.z"), None),
            (uid("api::menu.menu"), Some(18)),
            (Place::Links(ContentTypeUid::parse("api::x.x").unwrap()), Some(21)),
        ] {
            assert_eq!(place.line(&config), expected, "{place:?}");
        }
    }

    #[test]
    fn write_aligns_the_details_below_the_text_and_colours_labels_and_headings() {
        let mut finding = Finding::new(Check::Overlap, Level::Note, Place::File, "two rules");
        finding.detail("wins", "a");
        finding.detail("second", "b");
        let written = |finding: &Finding, colours| {
            let mut out = String::new();
            finding.write(&mut out, colours);
            out
        };
        assert_eq!(
            written(&finding, Colours::PLAIN),
            "\nnote: two rules\n  wins   a\n  second b\n"
        );
        let expected = "\n\u{1b}[1mnote: two rules\u{1b}[0m\n  \u{1b}[32mwins  \u{1b}[0m a\n  \
            \u{1b}[2msecond\u{1b}[0m b\n";
        assert_eq!(written(&finding, Colours::COLOURED), expected);
        let warning = Finding::new(Check::Setting, Level::Warning, Place::File, "no x");
        let expected = "\n\u{1b}[33mwarning: no x\u{1b}[0m\n";
        assert_eq!(written(&warning, Colours::COLOURED), expected);
    }
}
