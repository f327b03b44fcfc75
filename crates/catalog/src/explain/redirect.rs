//! Explains what a redirect of the CMS does with a pathname.

use serde::Serialize;

use crate::moved::entries::{EntryLookup, EntryOutcome, RedirectWorld, as_written};
use crate::moved::redirects::is_live;
use frontend_map_rules::Pathname;

/// The redirect of the CMS for a pathname.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RedirectExplanation {
    /// The content type of the redirect.
    pub content_type: String,
    /// Its `documentId`.
    pub document_id: String,
    /// Its locale; the site's first if it is not localized.
    pub locale: String,
    /// The path from which it leads; one that ends with `/*` stands for all paths below.
    pub path: String,
    /// Whether it comes before a live page.
    pub force: bool,
    /// Whether there is a live page at the pathname.
    pub has_page: bool,
    /// What it does.
    pub outcome: RedirectOutcome,
    /// The URL of the target, or its path where the site has no base URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The status of the redirect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// What a redirect of the CMS does with a pathname.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RedirectOutcome {
    /// It leads to its target.
    Redirects,
    /// It says that the page is gone (410).
    Gone,
    /// Nothing: a live page comes before it.
    Shadowed,
    /// Nothing: it leads back to where it begins, or through too many others.
    Loop,
    /// Nothing: its target is not published.
    NoTarget,
}

impl RedirectOutcome {
    /// Whether the redirect decides about the pathname.
    pub fn decides(self) -> bool {
        matches!(self, Self::Redirects | Self::Gone)
    }
}

/// What a redirect does with a pathname on a host (a position among the site's hosts), if there is one for it.
/// `world` must have all content types of the site and all redirects: a target in a type that is missing is
/// [`RedirectOutcome::NoTarget`].
pub fn explain_redirect(
    world: &RedirectWorld<'_>,
    written: &str,
    host: Option<usize>,
) -> Option<RedirectExplanation> {
    let pathname = Pathname::parse(written);
    let EntryLookup::Found(found) = world.entries.find(&pathname, host) else { return None };
    let entry = found.entry;
    let (site, force) = (world.site, entry.redirect().is_some_and(|redirect| redirect.force));
    let has_page = is_live(site, world.index, &pathname.normalized(), host);
    let (outcome, redirect) = match world.follow(found, &pathname, host) {
        _ if has_page && !force => (RedirectOutcome::Shadowed, None),
        EntryOutcome::Leads(redirect) if redirect.destination.is_none() => {
            (RedirectOutcome::Gone, Some(redirect))
        }
        EntryOutcome::Leads(redirect) => (RedirectOutcome::Redirects, Some(redirect)),
        EntryOutcome::Loop => (RedirectOutcome::Loop, None),
        EntryOutcome::NoTarget | EntryOutcome::NotKnown(_) => (RedirectOutcome::NoTarget, None),
    };
    let rules = site.redirects.as_ref().map(|redirects| redirects.rules.rules());
    let content_type = rules.map(|rules| rules[entry.rule()].content_type.to_string());
    Some(RedirectExplanation {
        content_type: content_type.unwrap_or_default(),
        document_id: entry.document_id().to_owned(),
        locale: site.rules.locales().codes()[entry.locale()].as_str().to_owned(),
        path: as_written(entry.path()),
        force,
        has_page,
        outcome,
        to: redirect.as_ref().and_then(|redirect| redirect.url(site).or_else(|| redirect.path())),
        status: redirect.map(|redirect| redirect.status),
    })
}
