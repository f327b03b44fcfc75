//! `frontend-map explain`: why a pathname or a document ends up where it does, as text or JSON.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::Write as _;

use clap::Args;

use crate::boot;
use crate::config::Config;
use crate::content::Status;
use crate::explain::{
    DocumentExplanation, PathnameExplanation, PatternOutcome, PatternResult, RuleExplanation,
    RuleOutcome, explain_document, explain_pathname,
};
use crate::rules::is_document_id;
use crate::site::{Site, Sites};

/// The longest pathname and the longest `documentId` that the service takes, in bytes (D3).
const MAX_PATHNAME: usize = 2_048;

const AFTER_HELP: &str = "\
Exit status: 0 a rule matches or the document has a URL, 1 none, 2 wrong arguments, 78 wrong settings.

Fields of --json, for a pathname:
  site, pathname, normalizedPath, matched {collectionType, rule, params, locale} or null,
  considered [{collectionType, rule, form, outcome, reason, segment, segmentsWanted, orMore,
  segments [{wanted, found, reason}]}]; outcome is match, hidden or no_match
For a document:
  site, uid, documentId, locale, found, path, url,
  considered [{rule, outcome, reason, path, conditions [{field, wanted, found, holds}],
  placeholders [{placeholder, value, leftOut, fault}]}]; outcome is used, not_needed or no_url
Segments count from 0 in JSON and from 1 in text.";

/// What to explain.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Question {
    /// The pathname to explain
    #[arg(required_unless_present = "uid", conflicts_with_all = ["uid", "document", "locale", "status"])]
    pathname: Option<String>,
    /// The site; without it the only one, or for a document the one of its type
    #[arg(long, value_name = "KEY")]
    site: Option<String>,
    /// The content type of the document to explain
    #[arg(long, requires = "document")]
    uid: Option<String>,
    /// Its documentId
    #[arg(long, value_name = "ID", requires = "uid")]
    document: Option<String>,
    /// Its locale; by default the site's first
    #[arg(long)]
    locale: Option<String>,
    /// Which version of it
    #[arg(long, value_parser = ["draft", "published"], default_value = "published")]
    status: String,
    /// JSON for tools
    #[arg(long)]
    json: bool,
}

/// Prints the explanation; whether there is a match or a URL.
///
/// # Errors
/// When the question names what does not exist, or the content cannot be read.
pub(super) fn run(config: Config, question: &Question) -> Result<bool, Box<dyn Error>> {
    match (&question.pathname, &question.uid, &question.document) {
        (Some(pathname), ..) => {
            let look = explain_pathname(site(&config.sites, question)?, absolute(pathname)?);
            let found = look.matched.is_some();
            print(question, &look, |out| write_pathname(out, &look))?;
            Ok(found)
        }
        (None, Some(uid), Some(id)) => {
            let look = document(config, question, uid, id)?;
            print(question, &look, |out| write_document(out, &look, &question.status))?;
            Ok(look.path.is_some())
        }
        // clap has asked for one or the other.
        (None, ..) => Err("a pathname, or --uid and --document".into()),
    }
}

/// What the service would answer.
fn absolute(pathname: &str) -> Result<&str, String> {
    if pathname.len() > MAX_PATHNAME {
        return Err(format!("a pathname has at most {MAX_PATHNAME} bytes"));
    }
    if pathname.chars().any(char::is_control) {
        return Err(format!("a pathname has no control characters, unlike {pathname:?}"));
    }
    let fine = pathname.starts_with('/');
    fine.then_some(pathname).ok_or_else(|| format!("a pathname starts with /, not {pathname:?}"))
}

fn site<'s>(sites: &'s Sites, question: &Question) -> Result<&'s Site, String> {
    let mut all = sites.iter();
    match (&question.site, &question.uid, all.next(), all.next()) {
        (Some(key), ..) => sites.get(key).ok_or_else(|| format!("there is no site {key:?}")),
        (None, None, Some(only), None) => Ok(only),
        (None, Some(uid), ..) => {
            sites.of_type(uid).ok_or_else(|| format!("no site has a rule for {uid:?}"))
        }
        (None, None, ..) => Err("there are several sites: say which with --site".to_owned()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn document(
    config: Config,
    question: &Question,
    uid: &str,
    id: &str,
) -> Result<DocumentExplanation, Box<dyn Error>> {
    let app = boot::build_alone(config)?;
    let site = site(&app.sites, question)?;
    if !site.has_rule(uid) {
        return Err(format!("site {} has no rule for {uid:?}", site.key).into());
    }
    if !is_document_id(id) {
        return Err(format!("{id:?} is not a documentId").into());
    }
    let locales = site.rules.locales();
    let locale = match &question.locale {
        Some(code) => {
            locales.get(code).ok_or_else(|| format!("site {} has no locale {code:?}", site.key))?
        }
        None => locales.default_locale(),
    };
    let drafts = question.status == Status::Draft.as_str();
    let status = if drafts { Status::Draft } else { Status::Published };
    let document = app.documents.get(site, uid, id, locale, status).await?.document;
    Ok(explain_document(site, uid, (id, locale), document.as_deref(), drafts))
}

fn print(
    question: &Question,
    look: &impl serde::Serialize,
    text: impl FnOnce(&mut String) -> fmt::Result,
) -> Result<(), Box<dyn Error>> {
    let mut out = String::new();
    if question.json {
        out = serde_json::to_string_pretty(look)? + "\n";
    } else {
        text(&mut out)?;
    }
    Ok(std::io::stdout().write_all(out.as_bytes())?)
}

fn write_pathname(out: &mut String, look: &PathnameExplanation) -> fmt::Result {
    writeln!(out, "site {}, {}", look.site, look.normalized_path.escape_debug())?;
    match &look.matched {
        Some(found) => writeln!(out, "{} by {}", found.collection_type, found.rule)?,
        None => writeln!(out, "no rule matches")?,
    }
    let given = look.normalized_path.split('/').filter(|text| !text.is_empty()).count();
    for (at, fit) in look.considered.iter().enumerate() {
        let form = if fit.form == fit.rule { String::new() } else { format!(" as {}", fit.form) };
        writeln!(out, "\n{}. {} {}{form}", at + 1, fit.collection_type, fit.rule)?;
        let rows = fit.segments.iter().map(|look| {
            [look.wanted.clone(), look.found.escape_debug().to_string(), told(look.reason)]
        });
        write_rows(out, &rows.collect::<Vec<_>>())?;
        writeln!(out, "   {}", outcome(fit, given))?;
    }
    Ok(())
}

fn told(reason: Option<&str>) -> String {
    reason.unwrap_or("fits").to_owned()
}

fn outcome(fit: &PatternResult, given: usize) -> String {
    match (fit.outcome, fit.reason, fit.segment) {
        (PatternOutcome::Match, ..) => "matches and wins".to_owned(),
        (PatternOutcome::Hidden, ..) => "matches too, but an earlier rule wins".to_owned(),
        (PatternOutcome::NoMatch, Some(reason), Some(at)) => {
            format!("does not match: {reason} in segment {}", at + 1)
        }
        (PatternOutcome::NoMatch, ..) => {
            let more = if fit.or_more { " or more" } else { "" };
            let wanted = fit.segments_wanted;
            format!("does not match: segment_count, {wanted}{more} wanted, {given} given")
        }
    }
}

fn write_document(out: &mut String, look: &DocumentExplanation, status: &str) -> fmt::Result {
    let DocumentExplanation { site, uid, document_id, locale, .. } = look;
    writeln!(out, "site {site}, {uid} {document_id}, locale {locale}, {status}")?;
    match (&look.url, &look.path) {
        _ if !look.found => writeln!(out, "there is no such version of the document")?,
        (Some(url), _) => writeln!(out, "{url}")?,
        (None, Some(path)) => writeln!(out, "{path} (the site has no base URL)")?,
        (None, None) => writeln!(out, "no URL")?,
    }
    for (at, used) in look.considered.iter().enumerate() {
        writeln!(out, "\n{}. {}", at + 1, used.rule)?;
        write_use(out, used)?;
    }
    Ok(())
}

fn write_use(out: &mut String, used: &RuleExplanation) -> fmt::Result {
    let quoted = |text: &Option<String>| text.as_ref().map_or("-".to_owned(), |t| format!("{t:?}"));
    let conditions = used.conditions.iter().map(|look| {
        let holds = if look.holds { "holds" } else { "does not hold" };
        [format!("{} = {:?}", look.field, look.wanted), quoted(&look.found), holds.to_owned()]
    });
    let placeholders = used.placeholders.iter().map(|look| {
        let fits = look.fault.unwrap_or(if look.left_out { "left out" } else { "usable" });
        [look.placeholder.clone(), quoted(&look.value), fits.to_owned()]
    });
    write_rows(out, &conditions.chain(placeholders).collect::<Vec<_>>())?;
    match (used.outcome, &used.path, &used.reason) {
        (RuleOutcome::Used, Some(path), _) => writeln!(out, "   gives {path}"),
        (_, Some(path), _) => writeln!(out, "   would give {path}, but an earlier rule does"),
        (_, None, Some(reason)) => writeln!(out, "   gives none: {reason}"),
        (_, None, None) => Ok(()),
    }
}

/// Columns, each as wide as its widest cell.
fn write_rows(out: &mut String, rows: &[[String; 3]]) -> fmt::Result {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let (first, second) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    rows.iter().try_for_each(|[a, b, c]| writeln!(out, "   {a:first$}  {b:second$}  {c}"))
}
