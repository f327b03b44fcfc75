//! The path indexes of the sites with `resolve = "documents"`: built and refreshed in the
//! background, read by requests, which never wait for them.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::time::sleep;

use super::App;
use crate::content::ContentError;
use crate::path_index::{Added, PathIndex, PathIndexBuilder, TooLarge};
use crate::site::{ResolveBy, Site, Sites};

/// After how many missed refreshes an index is stale: enough for a CMS that restarts.
const STALE_AFTER: u32 = 10;
/// How long to wait for the next try while there is no index at all.
const FIRST_RETRY: Duration = Duration::from_secs(5);

/// What a site knows about its live paths.
#[derive(Clone, Debug)]
pub enum Index {
    /// Nothing yet.
    Missing,
    /// What was true before refreshes began to fail, too long ago.
    Stale(Arc<PathIndex>),
    /// What was true a short while ago.
    Fresh(Arc<PathIndex>),
}

/// The indexes by site key, only of sites that want one.
pub(super) struct Indexes {
    slots: HashMap<String, Slot>,
    refresh: Duration,
}

/// The last good index and when its walk ended. A lock around two words: readers take it for a few
/// nanoseconds, and the writer comes once in a refresh.
type Slot = RwLock<Option<(Arc<PathIndex>, Instant)>>;

/// Why an index could not be built.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("content type {uid}: {error}")]
    Content { uid: String, error: ContentError },
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl Indexes {
    pub(super) fn new(sites: &Sites, refresh: Duration) -> Self {
        let wanted = sites.iter().filter(|site| site.resolve == ResolveBy::Documents);
        Self { slots: wanted.map(|site| (site.key.clone(), Slot::default())).collect(), refresh }
    }

    fn get(&self, key: &str) -> Option<Index> {
        let slot = self.slots.get(key)?;
        let held = slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        Some(match held {
            None => Index::Missing,
            Some((index, built)) => state(index, built.elapsed(), self.refresh),
        })
    }
}

fn state(index: Arc<PathIndex>, age: Duration, refresh: Duration) -> Index {
    if age > refresh * STALE_AFTER { Index::Stale(index) } else { Index::Fresh(index) }
}

impl App {
    /// The live paths of a site; `None` when it does not want to know them.
    #[must_use]
    pub fn index(&self, site: &Site) -> Option<Index> {
        self.indexes.get(&site.key)
    }

    /// Builds the indexes and keeps them fresh, until it is dropped. The sites do not wait for
    /// each other.
    pub async fn keep_indexes(&self) {
        let sites = self.sites.iter();
        let slots = sites.filter_map(|site| Some((site, self.indexes.slots.get(&site.key)?)));
        join_all(slots.map(|(site, slot)| self.keep_index(site, slot))).await;
    }

    async fn keep_index(&self, site: &Site, slot: &Slot) {
        loop {
            let begun = Instant::now();
            match self.build_index(site).await {
                Ok(index) => {
                    tell(site, &index, begun.elapsed());
                    let held = Some((Arc::new(index), Instant::now()));
                    *slot.write().unwrap_or_else(PoisonError::into_inner) = held;
                }
                Err(error) => {
                    tracing::warn!(site = site.key, %error, "a path index could not be built");
                }
            }
            let missing = matches!(self.indexes.get(&site.key), Some(Index::Missing));
            let pause = self.indexes.refresh;
            sleep(if missing { pause.min(FIRST_RETRY) } else { pause }).await;
        }
    }

    /// One complete walk over each content type of the site, as for its sitemap.
    async fn build_index(&self, site: &Site) -> Result<PathIndex, Failure> {
        let mut builder = PathIndexBuilder::new(&site.rules, site.base.as_ref());
        let locales = site.rules.locales().as_slice();
        let mut added: Vec<Added> = Vec::new();
        for uid in site.rules.content_types() {
            let uid = uid.as_str();
            let Some(ask) = self.ask(site, uid) else {
                continue;
            };
            let walk = self.content.walk(ask, locales, |document| builder.add(uid, document)).await;
            let walk = walk.map_err(|error| Failure::Content { uid: uid.to_owned(), error })?;
            added.extend(walk.items.into_iter().flatten());
        }
        Ok(tokio::task::block_in_place(|| builder.finish(added))?)
    }
}

fn tell(site: &Site, index: &PathIndex, took: Duration) {
    let (site, paths, bytes) = (&site.key, index.len(), index.bytes());
    let seconds = took.as_secs_f64();
    tracing::info!(site, paths, bytes, seconds, "a path index is built");
    if index.duplicates() > 0 {
        let duplicates = index.duplicates();
        tracing::warn!(site, duplicates, "documents have a path that another one owns");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Locale, LocalePrefix, Locales, RuleSet};

    #[test]
    fn an_index_is_stale_after_ten_refreshes() {
        let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
        let rules = RuleSet::new(locales, LocalePrefix::Always, Vec::new());
        let index = Arc::new(PathIndexBuilder::new(&rules, None).finish(Vec::new()).unwrap());
        for (seconds, stale) in [(0, false), (60, false), (600, false), (601, true)] {
            let age = Duration::from_secs(seconds);
            let state = state(Arc::clone(&index), age, Duration::from_mins(1));
            assert_eq!(matches!(state, Index::Stale(_)), stale, "{seconds}");
        }
    }
}
