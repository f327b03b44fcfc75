//! `frontend-map explain`: which rule a pathname matches, or which URL a document has, and why; as
//! text or JSON.

mod owner;
mod pathname;
mod text;

use std::error::Error;
use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::error::NOT_RUN;
use super::output::terminal::Colours;
use super::selection;
use crate::boot;
use crate::config::Config;
use frontend_map_catalog::explain::{DocumentExplanation, explain_document};
use frontend_map_catalog::site::{Site, Sites};
use frontend_map_cms::Status;
use frontend_map_platform::spelling::did_you_mean;
use frontend_map_rules::frontend_url::NullLink;
use frontend_map_rules::{Locale, PATHNAME_NEEDS_SLASH, is_document_id};

/// The longest pathname that the service accepts, in bytes (D3).
const MAX_PATHNAME: usize = 2_048;

const AFTER_HELP: &str = "\
Exit status: 0 a rule matches, a redirect of the CMS decides or the document has a URL, 1 none, 2 could not run or invalid arguments, 78 invalid settings.

Fields of --json, for a pathname:
  site, host if it is given, pathname, normalizedPath, matched {collectionType, rule, params, locale} or null,
  decision {decidedBy, contentType, documentId, locale, path, contentTypes, problem} on a site with
  resolve = \"documents\"; decidedBy is documents or own_path with the document that has the path,
  rules if no document of contentTypes has it, or unknown if problem prevents to read them,
  redirect {contentType, documentId, locale, path, force, hasPage, outcome, to, status} if a redirect of
  the CMS is for the path; outcome is redirects, gone, shadowed, loop or no_target;
  redirectProblem if it is not known whether a redirect decides,
  considered [{collectionType, rule, form, outcome, reason, segment, segmentsWanted, orMore,
  segments [{wanted, found, reason}]}]; outcome is match, hidden, tied, other_host or no_match
For a document:
  site, uid, documentId, locale, found, problem, path, url, where found is null and problem says why
  if the CMS fails or leaves out what the URL needs,
  sharedPath {owner {contentType, documentId, locale, adminUrl}} if another document owns the path,
  considered [{rule, outcome, reason, why, path, ownPath {field, value, isUsed, fault} if the rule has
  a path_field, conditions [{field, wanted, found, holds}],
  placeholders [{placeholder, value, leftOut, fault}]}]; outcome is used, not_needed or no_url
Segments count from 0 in JSON and from 1 in text.";

/// What to explain.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ExplainArgs {
    /// The pathname to explain
    #[arg(required_unless_present = "uid", conflicts_with_all = ["uid", "document", "locale", "status"])]
    pathname: Option<String>,
    /// The host of the pathname, with its port, on a site with several hosts
    #[arg(long, conflicts_with = "uid")]
    host: Option<String>,
    /// The site; by default the only one, or the one with a rule for the document's type
    #[arg(long, value_name = "KEY")]
    site: Option<String>,
    /// The content type of the document to explain
    #[arg(long, requires = "document")]
    uid: Option<String>,
    /// The documentId of the document to explain
    #[arg(long, value_name = "ID", requires = "uid")]
    document: Option<String>,
    /// The locale of the document; by default the site's first
    #[arg(long)]
    locale: Option<String>,
    /// The version of the document
    #[arg(long, value_parser = ["draft", "published"], default_value = "published")]
    status: String,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

/// Prints the explanation; the exit status says whether there is a match or a URL.
///
/// # Errors
/// When the arguments name something that does not exist, or the content cannot be read.
pub(super) fn run(config: Config, args: &ExplainArgs) -> Result<ExitCode, Box<dyn Error>> {
    Ok(match (&args.pathname, &args.uid, &args.document) {
        (Some(pathname), ..) => {
            let explanation = self::pathname::explain(config, args, absolute(pathname)?)?;
            print(args, &explanation, |out| {
                text::write_pathname(out, &explanation, Colours::of_stdout())
            })?;
            match (explanation.is_found(), explanation.is_uncertain()) {
                (true, _) => ExitCode::SUCCESS,
                (false, false) => ExitCode::FAILURE,
                (false, true) => ExitCode::from(NOT_RUN),
            }
        }
        (None, Some(uid), Some(id)) => {
            let explanation = document(config, args, uid, id)?;
            print(args, &explanation, |out| {
                text::write_document(out, &explanation, &args.status, Colours::of_stdout())
            })?;
            match (&explanation.path, explanation.found) {
                (Some(_), _) => ExitCode::SUCCESS,
                (None, Some(_)) => ExitCode::FAILURE,
                // The document could not be read, as the JSON says.
                (None, None) => ExitCode::from(NOT_RUN),
            }
        }
        // clap requires one or the other.
        (None, ..) => return Err("a pathname, or --uid and --document, is required".into()),
    })
}

/// Checks the pathname as the service does.
fn absolute(pathname: &str) -> Result<&str, String> {
    if pathname.len() > MAX_PATHNAME {
        return Err(format!("a pathname must have at most {MAX_PATHNAME} bytes"));
    }
    if pathname.chars().any(char::is_control) {
        return Err(format!("a pathname must have no control characters, unlike {pathname:?}"));
    }
    let fine = pathname.starts_with('/');
    fine.then_some(pathname).ok_or_else(|| format!("{PATHNAME_NEEDS_SLASH}, not {pathname:?}"))
}

fn site<'s>(sites: &'s Sites, args: &ExplainArgs) -> Result<&'s Arc<Site>, String> {
    let mut all = sites.iter();
    match (&args.site, &args.uid, all.next(), all.next()) {
        (Some(key), ..) => selection::site(sites, key),
        (None, None, Some(only), None) => Ok(only),
        (None, Some(uid), ..) => {
            let site = sites.of_type(uid, args.locale.as_deref());
            site.ok_or_else(|| selection::no_site(sites, uid))
        }
        (None, None, ..) => Err("there are several sites: choose one with --site".to_owned()),
    }
}

fn unknown_locale(site: &Site, code: &str) -> String {
    let locales = site.rules.locales().codes();
    let suggestion = did_you_mean(code, locales.iter().map(Locale::as_str));
    format!("site \"{}\" has no locale `{code}`{suggestion}", site.key)
}

#[tokio::main]
async fn document(
    config: Config,
    args: &ExplainArgs,
    uid: &str,
    id: &str,
) -> Result<DocumentExplanation, Box<dyn Error>> {
    let app = boot::build_alone(config)?;
    let site = site(&app.sites, args)?;
    if !site.has_rule(uid) {
        return Err(selection::no_rule(site, uid).into());
    }
    if !is_document_id(id) {
        return Err(format!("{id:?} is not a documentId").into());
    }
    let locales = site.rules.locales();
    let locale = match &args.locale {
        Some(code) => locales.get(code).ok_or_else(|| unknown_locale(site, code))?.code(),
        None => locales.default_locale().code(),
    };
    let drafts = args.status == Status::Draft.as_str();
    let status = if drafts { Status::Draft } else { Status::Published };
    let may_be_unpublished = app.snapshots.content().may_change() && !drafts;
    let null = if may_be_unpublished { NullLink::Unknown } else { NullLink::Empty };
    let found = app.documents.get(site, uid, id, locale, status).await;
    let explain = |document| explain_document(site, uid, id, locale, document, drafts, null);
    match found.map_err(|error| app.snapshots.content().detail(&error)) {
        Ok(found) => {
            let mut explanation = explain(found.document.as_deref());
            owner::add(&app, site, &mut explanation).await;
            Ok(explanation)
        }
        Err(problem) if args.json => Ok(explain(None).with_problem(problem)),
        Err(problem) => Err(problem.into()),
    }
}

fn print(
    args: &ExplainArgs,
    explanation: &impl serde::Serialize,
    text: impl FnOnce(&mut String) -> fmt::Result,
) -> Result<(), Box<dyn Error>> {
    let mut out = String::new();
    if args.json {
        out = serde_json::to_string_pretty(explanation)? + "\n";
    } else {
        text(&mut out)?;
    }
    Ok(std::io::stdout().write_all(out.as_bytes())?)
}
