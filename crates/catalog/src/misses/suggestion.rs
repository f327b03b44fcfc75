//! Which public URL was perhaps meant by a path that was not found.
//!
//! All URLs are read twice, whatever number of paths is compared: once for those that are equal but for
//! letter case, locale or folder, and for how common each part of a slug is; and once for similar slugs,
//! which are looked up by the rarest parts of the missed ones alone. So the time depends on the number of
//! URLs, and is bounded for each path.

mod compared;
mod similar;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::site::Site;
use crate::snapshot::{PublicUrl, Snapshot};
use compared::{ComparedPath, Reader};
use similar::SimilarSlugs;

/// The most URLs with the slug of one path that are compared: of a slug such as `overview`, the first ones
/// are as good as the others.
const MAX_COMPARED: u32 = 10_000;

/// Why a URL was perhaps meant, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// It is the path in other letter case.
    OtherCase,
    /// It is the path in another locale, on another host, or without a locale.
    OtherLocale,
    /// The last segment is the same, but for an ending such as `.html`.
    SameSlug,
    /// The last segment is similar.
    Similar,
}

/// A public URL that was perhaps meant.
#[derive(Clone, Copy, Debug)]
pub struct Suggestion<'s> {
    /// The URL.
    pub url: PublicUrl<'s>,
    /// Whether it is that of a page outside the CMS.
    pub is_page: bool,
    /// Why it was perhaps meant.
    pub reason: Reason,
}

impl Reason {
    /// The word for it in answers.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A URL with how well it fits; the greatest is the best.
#[derive(Clone, Copy, Debug)]
struct Candidate<'s> {
    suggestion: Suggestion<'s>,
    /// In thousandths; comparable within one reason.
    score: u32,
}

/// The best URL for each missed path, if there is one. A missed path is normalized (D7) and has the
/// position of its host, if the site has several and the request named one.
pub fn suggest<'s>(
    site: &'s Site,
    snapshots: &'s [Arc<Snapshot>],
    missed: &[(Option<usize>, &str)],
) -> Vec<Option<Suggestion<'s>>> {
    if missed.is_empty() {
        return Vec::new();
    }
    let mut reader = Reader::new(site.rules.locales());
    let paths: Vec<ComparedPath> =
        missed.iter().map(|(host, path)| reader.missed(*host, path)).collect();
    let mut best: Vec<Option<Candidate<'s>>> = vec![None; missed.len()];
    let mut similar = SimilarSlugs::new(&paths);
    let equal = EqualParts::new(&paths);
    let mut compared = vec![0; missed.len()];
    for (url, is_page) in urls(site, snapshots) {
        let path = reader.url(url);
        similar.count(path);
        equal.of(path, |row, reason| {
            compared[row] += 1;
            if reason == Reason::SameSlug && compared[row] > MAX_COMPARED {
                return;
            }
            // Of another host, whatever the letter case is.
            let is_other_host = reason == Reason::OtherCase && paths[row].is_for_other_host(url);
            let reason = if is_other_host { Reason::OtherLocale } else { reason };
            let score = paths[row].closeness(path);
            let suggestion = Suggestion { url, is_page, reason };
            offer(&mut best[row], Candidate { suggestion, score });
        });
    }
    similar.select(|row| best[row].is_none());
    if similar.has_rows() {
        for (url, is_page) in urls(site, snapshots) {
            let path = reader.url(url);
            similar.find(path, |row, similarity| {
                let score = similarity + paths[row].closeness(path) / 4;
                let suggestion = Suggestion { url, is_page, reason: Reason::Similar };
                offer(&mut best[row], Candidate { suggestion, score });
            });
        }
    }
    let candidates = best.into_iter().zip(&paths);
    candidates.map(|(best, path)| best.map(|best| in_locale(best.suggestion, path))).collect()
}

/// All public URLs, each with whether it is that of a page outside the CMS.
fn urls<'s>(
    site: &'s Site,
    snapshots: &'s [Arc<Snapshot>],
) -> impl Iterator<Item = (PublicUrl<'s>, bool)> {
    let documents = snapshots.iter().flat_map(|snapshot| snapshot.owners());
    let pages = site.pages.snapshot().owners();
    documents.map(|url| (url, false)).chain(pages.map(|url| (url, true)))
}

/// Keeps the better one of two candidates; of equal ones, that with the shorter path.
fn offer<'s>(best: &mut Option<Candidate<'s>>, candidate: Candidate<'s>) {
    let order = |one: &Candidate<'s>| {
        let Suggestion { url, reason, .. } = one.suggestion;
        (std::cmp::Reverse(reason), one.score, std::cmp::Reverse((url.path().len(), url.path())))
    };
    if best.as_ref().is_none_or(|best| order(best) < order(&candidate)) {
        *best = Some(candidate);
    }
}

/// In place of a page in another locale, its version in the locale of the request, or on its host.
fn in_locale<'s>(suggestion: Suggestion<'s>, path: &ComparedPath) -> Suggestion<'s> {
    if suggestion.reason != Reason::OtherLocale {
        return suggestion;
    }
    let is_wanted = |version: &PublicUrl<'_>| match path.locale {
        Some(locale) => version.locale() == locale,
        None => path.is_for_other_host(suggestion.url) && !path.is_for_other_host(*version),
    };
    let version = suggestion.url.versions().find(is_wanted);
    Suggestion { url: version.unwrap_or(suggestion.url), ..suggestion }
}

/// Finds the missed paths that are equal to a URL in a part.
struct EqualParts {
    whole: FxHashMap<u64, Vec<usize>>,
    behind_locale: FxHashMap<u64, Vec<usize>>,
    slug: FxHashMap<u64, Vec<usize>>,
}

impl EqualParts {
    fn new(paths: &[ComparedPath]) -> Self {
        let by = |part: fn(&ComparedPath) -> Option<&str>| {
            let mut rows = FxHashMap::<u64, Vec<usize>>::default();
            for (row, path) in paths.iter().enumerate() {
                if let Some(part) = part(path) {
                    rows.entry(compared::hash(part)).or_default().push(row);
                }
            }
            rows
        };
        Self {
            whole: by(|path| Some(path.whole())),
            behind_locale: by(|path| Some(path.behind_locale())),
            slug: by(ComparedPath::distinct_slug),
        }
    }

    fn of(&self, url: &ComparedPath, mut found: impl FnMut(usize, Reason)) {
        let whole = compared::hash(url.whole());
        for row in self.whole.get(&whole).into_iter().flatten() {
            found(*row, Reason::OtherCase);
        }
        let behind_locale = compared::hash(url.behind_locale());
        for row in self.behind_locale.get(&behind_locale).into_iter().flatten() {
            found(*row, Reason::OtherLocale);
        }
        let Some(slug) = url.distinct_slug() else { return };
        for row in self.slug.get(&compared::hash(slug)).into_iter().flatten() {
            found(*row, Reason::SameSlug);
        }
    }
}

#[cfg(test)]
mod tests;
