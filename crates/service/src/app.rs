//! What request handlers share: the sites, the caches, the settings of the HTTP side.

mod cache_policy;
mod cache_tags;
mod fleet_events;
mod former_owner;
mod history_copy;
mod http_settings;
mod imports;
mod links;
mod misses;
mod shared_paths;
mod similar_types;
mod unread_documents;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub use self::cache_policy::CachePolicy;
pub use self::cache_tags::CacheTags;
pub(crate) use self::cache_tags::ResolutionTags;
pub use self::fleet_events::{
    apply_cms_event, apply_fleet_event, receive_cms_event, update_different_document,
};
pub(crate) use self::former_owner::{former_owner, redirects};
pub use self::history_copy::{history_copy_is_due, write_history_copy};
pub use self::http_settings::HttpSettings;
pub use self::imports::Imports;
pub(crate) use self::links::AppPages;
pub use self::misses::{MissRegistry, SiteMisses};
pub(crate) use self::misses::{read_misses, remove_misses, save_misses, share_misses};
pub use self::shared_paths::SharedPathsCache;
pub use self::similar_types::SimilarTypes;
pub use self::unread_documents::log_unread_documents;

use tokio::task::block_in_place;

use crate::shared::SharedState;
use frontend_map_cache::{DocumentCache, FileCache, SiteLinks, SnapshotCache, TypeStatus};
use frontend_map_catalog::site::{AdminLinks, Site, Sites};
use frontend_map_cms::BreakerState;
use frontend_map_outbound::checks::Targets;
use frontend_map_outbound::checks::runs::{LastRun, RunKind, RunTimes, Subscription, TooManyRuns};
use frontend_map_platform::HourlyWarnings;
use frontend_map_rules::frontend_url::BaseUrl;

/// The state that handlers share, built from one version of the settings. A reload builds a new one.
pub struct App {
    /// The sites with their rules.
    pub sites: Sites,
    /// The public URLs of all content types.
    pub snapshots: Arc<SnapshotCache>,
    /// Single documents.
    pub documents: DocumentCache,
    /// The texts of sitemap files.
    pub files: FileCache,
    /// The paths that several documents have.
    pub shared_paths: SharedPathsCache,
    /// The content types of rules for which a webhook has named a similar one.
    pub similar_types: SimilarTypes,
    /// Warnings of documents that could not be read, by content type and cause.
    pub unread_documents: HourlyWarnings<(String, String)>,
    /// The lists of redirects that wait for the content types of sites.
    pub imports: Imports,
    /// The paths that were not found, by the keys of the sites with a path index.
    pub misses: BTreeMap<String, Arc<SiteMisses>>,
    /// The links in content, by the keys of the sites whose settings ask for them.
    pub links: BTreeMap<String, Arc<SiteLinks>>,
    /// The URL of the CMS's admin panel.
    pub admin_url: Option<BaseUrl>,
    /// Limits, secrets and headers of the HTTP side.
    pub http: HttpSettings,
    /// The deadline of runs of URL checks, and how long results are reused.
    pub run_times: RunTimes,
    /// How long after SIGTERM connections are still accepted.
    pub drain_delay: Duration,
    /// The fingerprint of the settings of the content source.
    pub content_fingerprint: u128,
    /// What survives a reload.
    pub shared: Arc<SharedState>,
}

/// Whether the service takes new work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It takes new work.
    Ready,
    /// It has started a short time ago, and documents that decide about paths are not known yet.
    Starting,
    /// It is about to stop.
    Draining,
}

impl App {
    /// Whether requests to the CMS are let through; `None` without a CMS.
    pub fn breaker_state(&self) -> Option<BreakerState> {
        self.snapshots.content().breaker_state()
    }

    /// Whether the service takes new work, as `/readyz` says it.
    pub fn readiness(&self) -> Readiness {
        if self.shared.is_draining() {
            Readiness::Draining
        } else if self.snapshots.is_starting(self.shared.running_for()) {
            Readiness::Starting
        } else {
            Readiness::Ready
        }
    }

    /// The statuses of all content types of all sites, in the order of the settings.
    pub fn type_statuses(&self) -> Vec<TypeStatus<'_>> {
        self.sites.with_redirects().flat_map(|site| self.snapshots.statuses(site)).collect()
    }

    /// Links to the documents of a site in the CMS's admin panel, if its URL is set.
    pub fn admin_links(&self, site: &Site) -> Option<Arc<AdminLinks>> {
        let content = self.snapshots.content();
        let types = site.rules.content_types().into_iter();
        let types = types.chain(site.links.iter().map(|source| &source.content_type));
        let single = types.filter(|uid| content.is_single_type(uid)).cloned().collect();
        Some(Arc::new(AdminLinks::new(self.admin_url.clone()?, single)))
    }

    /// Subscribes to the run of URL checks over these targets of a site, or starts one.
    ///
    /// # Errors
    /// [`TooManyRuns`] when a new run would be needed and the queue of runs is full.
    pub async fn validate(
        &self,
        targets: Targets,
        kind: RunKind,
    ) -> Result<Subscription, TooManyRuns> {
        // It says since when URLs have been dead: taken from the store before the run ends.
        block_in_place(|| self.shared.runs.load_last_run(&targets.site, &targets.content_type));
        self.shared.runs.subscribe(targets, kind, self.run_times).await
    }

    /// The last run over a content type of a site that judged pages, as far as
    /// [`App::last_validations`] has found it.
    pub fn last_content_run(&self, site: &Arc<Site>, content_type: &str) -> Option<Arc<LastRun>> {
        block_in_place(|| self.shared.runs.last_content_run(site, content_type))
    }

    /// The last runs of URL checks over content types of a site that have ended, in this instance or in
    /// another one of the fleet. The first time after a restart, they are read from the store.
    pub async fn last_validations(&self, site: &Site, content_types: &[&str]) -> Vec<Arc<LastRun>> {
        let Some(site) = self.sites.get(&site.key) else { return Vec::new() };
        let runs = &self.shared.runs;
        let load = |content_type: &&str| runs.last_run(site, content_type);
        let load = || block_in_place(|| content_types.iter().filter_map(load).collect());
        let own = load();
        if runs.sync(site, content_types).await { load() } else { own }
    }
}
