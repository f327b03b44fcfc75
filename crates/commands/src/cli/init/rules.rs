//! Guesses the rule of each content type.

use std::collections::HashSet;

use super::slug::FoundBy;
use super::types::{LeftOut, Sketch, Type, Values};
use frontend_map_cms::EndpointKind;
use frontend_map_rules::{ContentTypeUid, Template};

/// The names of single types that are home pages.
const HOMES: [&str; 9] = [
    "home",
    "homepage",
    "home-page",
    "index",
    "front-page",
    "frontpage",
    "start-page",
    "startpage",
    "root",
];

/// The names of single types that have settings or parts of each page.
const NO_PAGES: [&str; 14] = [
    "global",
    "globals",
    "global-settings",
    "setting",
    "settings",
    "site-settings",
    "config",
    "configuration",
    "header",
    "footer",
    "navigation",
    "menu",
    "main-menu",
    "layout",
];

/// A guessed rule.
#[derive(Debug)]
pub(super) struct RuleGuess {
    pub(super) uid: ContentTypeUid,
    pub(super) template: String,
    /// What was guessed, and what else the operator should know; each a comment of its own.
    pub(super) notes: Vec<String>,
    /// Lines of settings that may replace the template, with their reason.
    pub(super) alternative: Option<(String, Vec<String>)>,
    /// The path and kind of an endpoint that cannot be guessed from the UID.
    pub(super) endpoint: Option<(String, EndpointKind)>,
    /// Whether the template has the locale.
    pub(super) is_localized: bool,
}

/// A rule for each type that can have one.
pub(super) fn guess(types: &[Type]) -> (Vec<RuleGuess>, Vec<LeftOut>) {
    let (mut rules, mut left_out) = (Vec::new(), Vec::new());
    let mut taken = HashSet::new();
    for found in types {
        match rule(found, &mut taken) {
            Ok(rule) => rules.push(rule),
            Err(reason) => {
                let Type { path, kind, is_localized, needs_endpoint, .. } = found;
                let sketch = Sketch::new(path, *kind, *is_localized, *needs_endpoint);
                left_out.push(LeftOut { sketch, ..LeftOut::new(&found.uid, reason) });
            }
        }
    }
    (rules, left_out)
}

/// The rule of a type, or the reason why it has none. `taken`: the static paths of other rules.
fn rule(found: &Type, taken: &mut HashSet<String>) -> Result<RuleGuess, String> {
    let mut notes = Vec::new();
    let (place, end) = match found.kind {
        EndpointKind::Single => (single_path(found, taken, &mut notes)?, String::new()),
        EndpointKind::Collection => {
            let end = placeholder(found, &mut notes)?;
            (free_path(found, found.name().to_owned(), taken), format!("/{end}"))
        }
    };
    let locale = if found.is_localized { "/{locale}" } else { "" };
    if !found.is_localized {
        notes.push("Not localized, so there is no {locale}.".to_owned());
    }
    match found.kind {
        _ if !found.is_empty => {}
        EndpointKind::Collection => notes.push("It has no document yet.".to_owned()),
        EndpointKind::Single => notes.push("It has no document in the default locale.".to_owned()),
    }
    let place = if place.is_empty() { String::new() } else { format!("/{place}") };
    let template = match format!("{locale}{place}{end}") {
        empty if empty.is_empty() => "/".to_owned(),
        template => template,
    };
    if Template::parse(&template).is_err() {
        return Err("no template can have its names".to_owned());
    }
    Ok(RuleGuess {
        uid: found.uid.clone(),
        template,
        notes,
        alternative: page_tree(found, locale),
        endpoint: found.needs_endpoint.then(|| (found.path.clone(), found.kind)),
        is_localized: found.is_localized,
    })
}

/// The static path of a single type, without slashes around it; empty: the root.
fn single_path(
    found: &Type,
    taken: &mut HashSet<String>,
    notes: &mut Vec<String>,
) -> Result<String, String> {
    let name = found.name();
    if NO_PAGES.contains(&name) {
        return Err("a single type that is no page, by its name".to_owned());
    }
    if HOMES.contains(&name) && taken.insert(String::new()) {
        notes.push("Guess: the home page, by its name.".to_owned());
        return Ok(String::new());
    }
    notes.push("Guess: a single type is at its own name.".to_owned());
    Ok(free_path(found, name.to_owned(), taken))
}

/// A static path that no other rule has: this one, or one below the name of the plugin or API.
fn free_path(found: &Type, path: String, taken: &mut HashSet<String>) -> String {
    if taken.insert(path.clone()) {
        return path;
    }
    let uid = found.uid.as_str();
    let owner = uid.split_once("::").and_then(|(_, rest)| rest.split_once('.'));
    let (owner, name) = owner.expect("a UID has a plugin or API and a name");
    let path = format!("{owner}/{name}");
    taken.insert(path.clone());
    path
}

/// The placeholder for the field that names the pages of a collection.
fn placeholder(found: &Type, notes: &mut Vec<String>) -> Result<String, String> {
    let Some(slug) = &found.slug else {
        return Err(if found.is_empty {
            "it has no document that shows its fields".to_owned()
        } else {
            "none of its fields looks like a slug".to_owned()
        });
    };
    let field = &slug.field;
    if Template::parse(&format!("/{{{field}}}")).is_err() {
        return Err("no template can have the name of its slug".to_owned());
    }
    match slug.found_by {
        FoundBy::Uid | FoundBy::Name => {}
        FoundBy::UniqueText => notes.push(format!("`{field}` is a unique text.")),
        FoundBy::SharedText => {
            notes.push(format!("`{field}` is a text that is not marked as unique."));
        }
    }
    match found.values {
        Values::Segments => Ok(format!("{{{field}}}")),
        Values::Paths => {
            notes.push("Most values have slashes: {*…} stands for several segments.".to_owned());
            Ok(format!("{{*{field}}}"))
        }
        Values::OuterSlashes => Err(format!(
            "most values of `{field}` begin or end with a slash, which no template can take"
        )),
    }
}

/// The settings of a page tree, for a type with a parent of the same type.
fn page_tree(found: &Type, locale: &str) -> Option<(String, Vec<String>)> {
    let (parent, slug) = (found.parent.as_ref()?, found.slug.as_ref()?);
    let reason = format!(
        "Its relation `{parent}` leads to a document of the same type. For a page tree at the root, \
         such as /about/team, replace the template by these lines:"
    );
    let field = &slug.field;
    let params = format!("params.path = {{ field = \"{field}\", ancestors = \"{parent}\" }}");
    Some((reason, vec![format!("template = \"{locale}/{{*path}}\""), params]))
}
