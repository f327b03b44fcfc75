//! Explanations as text.

use std::fmt::{self, Write as _};

use crate::cli::output::terminal::{Colours, Style};
use frontend_map_catalog::explain::{
    DocumentDecision, DocumentExplanation, PathDocument, PathnameExplanation, PatternOutcome,
    PatternResult, RedirectExplanation, RedirectOutcome, RuleExplanation, RuleOutcome,
};
use frontend_map_catalog::path_index::{PathOwner, SharedPath};

/// Writes which rule matches a pathname, then every pattern with the reason why it does or does not.
pub(super) fn write_pathname(
    out: &mut String,
    explanation: &PathnameExplanation,
    colours: Colours,
) -> fmt::Result {
    let path = &explanation.normalized_path;
    let host = explanation.host.as_ref().map(|host| format!("host {}, ", host.escape_debug()));
    let host = host.unwrap_or_default();
    writeln!(out, "site {}, {host}{}", explanation.site, path.escape_debug())?;
    if let Some(page) = &explanation.page {
        let text = format!("page {page}, outside the CMS: no document has a URL with this path");
        writeln!(out, "{}", colours.apply(Style::Good, text))?;
    }
    write_redirect(out, explanation, colours)?;
    match &explanation.matched {
        Some(rule) => {
            let found = format!("{} by {}", rule.collection_type, rule.rule);
            writeln!(out, "{}", colours.apply(Style::Good, found))?;
        }
        None => writeln!(out, "{}", colours.apply(Style::Bad, "no rule matches"))?,
    }
    write_decision(out, path, explanation.decision.as_ref())?;
    let given = path.split('/').filter(|text| !text.is_empty()).count();
    let mut is_after_match = false;
    for (at, pattern) in explanation.considered.iter().enumerate() {
        let PatternResult { collection_type, rule, form, .. } = pattern;
        let form = if form == rule { String::new() } else { format!(" as {form}") };
        let heading = format!("{}. {collection_type} {rule}{form}", at + 1);
        writeln!(out, "\n{}", colours.apply(Style::Heading, heading))?;
        let result = outcome(pattern, given, explanation.decision.as_ref(), is_after_match);
        is_after_match |= pattern.outcome == PatternOutcome::Match;
        write_pattern(out, pattern, result, colours)?;
    }
    Ok(())
}

/// Writes what the redirect of the CMS does with the path, if there is one.
fn write_redirect(
    out: &mut String,
    explanation: &PathnameExplanation,
    colours: Colours,
) -> fmt::Result {
    if let Some(problem) = &explanation.redirect_problem {
        let text = format!("it is not known whether a redirect decides about this path: {problem}");
        return writeln!(out, "{}", colours.apply(Style::Warning, text));
    }
    let Some(redirect) = &explanation.redirect else { return Ok(()) };
    let RedirectExplanation { content_type, document_id, locale, path, force, has_page, .. } =
        redirect;
    let before = if *force && *has_page { ", before the live page" } else { "" };
    let to = redirect.to.as_deref().unwrap_or_default();
    let status = redirect.status.unwrap_or_default();
    let (style, text) = match redirect.outcome {
        RedirectOutcome::Redirects => {
            (Style::Good, format!("redirected with {status} to {to}{before}"))
        }
        RedirectOutcome::Gone => (Style::Good, format!("gone, with {status}{before}")),
        RedirectOutcome::Shadowed => (
            Style::Warning,
            "not redirected: the redirect has no `force`, and a live page comes first".to_owned(),
        ),
        RedirectOutcome::Loop => (
            Style::Warning,
            "not redirected: the redirect leads back to its own path, or through more than ten others".to_owned(),
        ),
        RedirectOutcome::NoTarget => (
            Style::Warning,
            "not redirected: the document to which the redirect leads is not published in this locale".to_owned(),
        ),
    };
    writeln!(out, "{}", colours.apply(style, text.escape_debug()))?;
    let path = path.escape_debug();
    writeln!(out, "   by {content_type} {document_id}, locale {locale}, from {path}")
}

/// Writes what the documents decide about the path, if anything.
fn write_decision(
    out: &mut String,
    path: &str,
    decision: Option<&DocumentDecision>,
) -> fmt::Result {
    match decision {
        Some(DocumentDecision::Documents(document) | DocumentDecision::OwnPath(document)) => {
            let PathDocument { content_type, document_id, locale, path: own } = document;
            let is_own = matches!(decision, Some(DocumentDecision::OwnPath(_)));
            let result = if own.trim_end_matches('/') != path.trim_end_matches('/') {
                format!("is not localized and has the path {own}")
            } else if is_own {
                "has this path as its own".to_owned()
            } else {
                "has this path".to_owned()
            };
            writeln!(
                out,
                "decided by documents: {content_type} {document_id}, locale {locale}, {result}"
            )
        }
        Some(DocumentDecision::NoDocument { content_types }) => {
            let types = content_types.join(" or ");
            writeln!(out, "decided by the rules: no document of {types} has this path")
        }
        Some(DocumentDecision::Unknown { problem }) => writeln!(
            out,
            "documents decide, but they could not be read, so it is not known which one has this path: {problem}"
        ),
        None => Ok(()),
    }
}

/// Writes the segments of a pattern and its result, in words.
fn write_pattern(
    out: &mut String,
    pattern: &PatternResult,
    result: String,
    colours: Colours,
) -> fmt::Result {
    let rows = pattern.segments.iter().map(|segment| {
        let found = segment.found.escape_debug().to_string();
        [segment.wanted.clone(), found, segment.reason.unwrap_or("fits").to_owned()]
    });
    write_rows(out, &rows.collect::<Vec<_>>(), colours)?;
    let style = match pattern.outcome {
        PatternOutcome::Match => Style::Good,
        PatternOutcome::Hidden | PatternOutcome::OtherHost | PatternOutcome::NoMatch => Style::Dim,
        PatternOutcome::Tied => Style::Warning,
    };
    writeln!(out, "   {}", colours.apply(style, result))
}

/// In words, for a pathname with `given` segments, and what documents decide about it. `is_after_match`:
/// the pattern comes after the one that wins.
fn outcome(
    pattern: &PatternResult,
    given: usize,
    decision: Option<&DocumentDecision>,
    is_after_match: bool,
) -> String {
    use DocumentDecision::{Documents, NoDocument, OwnPath, Unknown};
    match (pattern.outcome, pattern.reason, pattern.segment) {
        (PatternOutcome::Match, ..) => match decision {
            Some(NoDocument { .. }) => "matches first, but no document has this path",
            Some(Unknown { .. }) => {
                "matches first, but whether a document has this path is not known"
            }
            Some(Documents(_) | OwnPath(_)) | None => "matches and wins",
        }
        .to_owned(),
        (PatternOutcome::Hidden, ..) => match decision {
            Some(OwnPath(_)) => "matches too, but the document's own path wins",
            Some(Documents(_)) if !is_after_match => "matches too, but the document's rule wins",
            Some(NoDocument { .. } | Unknown { .. }) => "matches too, but after an earlier rule",
            Some(Documents(_)) | None => "matches too, but an earlier rule wins",
        }
        .to_owned(),
        (PatternOutcome::OtherHost, ..) => "matches too, but is for other hosts".to_owned(),
        (PatternOutcome::Tied, ..) => "matches too, with equal precedence".to_owned(),
        (PatternOutcome::NoMatch, Some(reason), Some(at)) => {
            format!("does not match: {reason} in segment {}", at + 1)
        }
        (PatternOutcome::NoMatch, ..) => {
            let more = if pattern.or_more { " or more" } else { "" };
            let wanted = pattern.segments_wanted;
            format!("does not match: segment_count, {wanted}{more} wanted, {given} given")
        }
    }
}

/// Writes the URL of a document, then every rule of its type with what it builds.
pub(super) fn write_document(
    out: &mut String,
    explanation: &DocumentExplanation,
    status: &str,
    colours: Colours,
) -> fmt::Result {
    let DocumentExplanation { site, uid, document_id, locale, .. } = explanation;
    writeln!(out, "site {site}, {uid} {document_id}, locale {locale}, {status}")?;
    match (&explanation.url, &explanation.path) {
        _ if explanation.found == Some(false) => {
            let text = "there is no such version of the document";
            writeln!(out, "{}", colours.apply(Style::Bad, text))?;
        }
        (Some(url), _) => writeln!(out, "{}", colours.apply(Style::Good, url))?,
        (None, Some(path)) => {
            writeln!(out, "{} (the locale has no base URL)", colours.apply(Style::Good, path))?;
        }
        (None, None) => writeln!(out, "{}", colours.apply(Style::Bad, "no URL"))?,
    }
    if let Some(SharedPath { owner }) = &explanation.shared_path {
        let PathOwner { content_type, document_id, locale, admin_url } = owner;
        let text = "another document owns the path, so that the URL opens that one:";
        let link = admin_url.as_ref().map(|url| format!("\n   {url}")).unwrap_or_default();
        let text = format!("{text}\n   {content_type} {document_id}, locale {locale}{link}");
        writeln!(out, "{}", colours.apply(Style::Warning, text))?;
        if *content_type == explanation.uid {
            let note = "by the dates of creation; a running service may have kept another owner, which its `sharedPath` names";
            writeln!(out, "   {note}")?;
        }
    } else if let Some(problem) = &explanation.problem {
        let text = format!("the owner of the path is not known: {problem}");
        writeln!(out, "{}", colours.apply(Style::Warning, text))?;
    }
    for (at, rule) in explanation.considered.iter().enumerate() {
        let heading = format!("{}. {}", at + 1, rule.rule);
        writeln!(out, "\n{}", colours.apply(Style::Heading, heading))?;
        write_rule(out, rule, colours)?;
    }
    Ok(())
}

fn write_rule(out: &mut String, rule: &RuleExplanation, colours: Colours) -> fmt::Result {
    let quoted = |text: &Option<String>| text.as_ref().map_or("-".to_owned(), |t| format!("{t:?}"));
    let conditions = rule.conditions.iter().map(|condition| {
        let holds = if condition.holds { "holds" } else { "does not hold" };
        let wanted = format!("{} = {:?}", condition.field, condition.wanted);
        [wanted, quoted(&condition.found), holds.to_owned()]
    });
    let own = rule.own_path.iter().map(|own| {
        let usable = if own.is_used { "used as the path" } else { "empty" };
        [own.field.clone(), quoted(&own.value), own.fault.unwrap_or(usable).to_owned()]
    });
    let placeholders = rule.placeholders.iter().map(|placeholder| {
        let usable = if placeholder.left_out { "left out" } else { "usable" };
        let result = placeholder.fault.unwrap_or(usable);
        [placeholder.placeholder.clone(), quoted(&placeholder.value), result.to_owned()]
    });
    write_rows(out, &conditions.chain(own).chain(placeholders).collect::<Vec<_>>(), colours)?;
    let (style, text) = match (rule.outcome, &rule.path, &rule.reason) {
        (RuleOutcome::Used, Some(path), _) => (Style::Good, format!("builds {path}")),
        (_, Some(path), _) => {
            (Style::Dim, format!("would build {path}, but an earlier rule decides"))
        }
        (_, None, Some(reason)) => {
            let why = rule.why.as_ref().map(|why| format!(", {why}")).unwrap_or_default();
            (Style::Warning, format!("builds no path: {reason}{why}"))
        }
        (_, None, None) => return Ok(()),
    };
    writeln!(out, "   {}", colours.apply(style, text))
}

/// Columns, each as wide as its widest cell.
fn write_rows(out: &mut String, rows: &[[String; 3]], colours: Colours) -> fmt::Result {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let (first, second) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    rows.iter().try_for_each(|[a, b, c]| {
        let is_good = ["fits", "holds", "usable", "left out", "used as the path", "empty"]
            .contains(&c.as_str());
        let c = colours.apply(if is_good { Style::Dim } else { Style::Warning }, c);
        writeln!(out, "   {a:first$}  {b:second$}  {c}")
    })
}
