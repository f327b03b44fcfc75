//! From what became of each document to the ordered list of URLs.

use std::collections::{BTreeMap, HashSet};

use crate::frontend_url::{BaseUrl, NoUrlReason, frontend_path};
use crate::rules::{Document, RuleSet};

/// The public URLs of one content type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Absolute URLs: the site's locale order, then the path by code point, each once.
    pub urls: Vec<String>,
    /// The documents that have no URL.
    pub skipped: Skipped,
    /// How many documents share their URL with one that is listed.
    pub duplicates: u64,
}

/// How many documents were left out, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped(BTreeMap<String, u64>);

impl Skipped {
    /// Counts `times` documents that were left out for one reason.
    pub fn count(&mut self, reason: impl Into<String>, times: u64) {
        if times > 0 {
            *self.0.entry(reason.into()).or_default() += times;
        }
    }

    /// All of them: the value of `X-Skipped-Documents`.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Reasons and counts, by name of the reason.
    pub fn by_reason(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(reason, count)| (reason.as_str(), *count))
    }
}

/// What became of one document in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has a URL.
    Listed {
        /// The position of its locale in the site's locales.
        locale: usize,
        /// Its path on the frontend.
        path: String,
    },
    /// It has none.
    Skipped {
        /// Why.
        reason: String,
    },
    /// It is none of this site's: no rule's conditions hold.
    Elsewhere,
}

/// The rules and the base URL by which one content type of a site is listed.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'s> {
    /// The rules of the site.
    pub rules: &'s RuleSet,
    /// Its base URL.
    pub base: &'s BaseUrl,
    /// The content type.
    pub uid: &'s str,
}

impl Listing<'_> {
    /// What becomes of a published document.
    #[must_use]
    pub fn outcome(&self, document: &Document) -> Outcome {
        match frontend_path(self.rules, Some(self.base), self.uid, document, false) {
            Some(Ok(found)) => {
                let locales = self.rules.locales().as_slice();
                let locale = locales.iter().position(|locale| locale == found.locale);
                Outcome::Listed { locale: locale.unwrap_or_default(), path: found.path }
            }
            Some(Err(no_url)) if no_url.reason == NoUrlReason::ConditionsNotMet => {
                Outcome::Elsewhere
            }
            Some(Err(no_url)) => Outcome::Skipped { reason: no_url.to_string() },
            None => Outcome::Skipped { reason: "no_rule".to_owned() },
        }
    }

    /// The sitemap that these outcomes make, in whatever order they come.
    #[must_use]
    pub fn sitemap(&self, outcomes: impl IntoIterator<Item = Outcome>) -> Sitemap {
        let mut sitemap = Sitemap::default();
        let mut paths = Vec::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Listed { locale, path } => paths.push((locale, path)),
                Outcome::Skipped { reason } => sitemap.skipped.count(reason, 1),
                Outcome::Elsewhere => {}
            }
        }
        // Paths are ASCII: by byte is by code point.
        paths.sort_unstable();
        let all = paths.len();
        let mut seen = HashSet::with_capacity(all);
        let distinct = paths.iter().filter(|(_, path)| seen.insert(path.as_str()));
        sitemap.urls = distinct.map(|(_, path)| self.base.join(path)).collect();
        sitemap.duplicates = (all - sitemap.urls.len()) as u64;
        sitemap
    }
}
