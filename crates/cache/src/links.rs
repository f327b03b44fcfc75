//! The links in the content of a site's documents: read in link scans of their own, and by document after an
//! event of the CMS.
//!
//! A link scan reads the fields of all published documents, page by page within the share of the CMS, and never
//! together with a walk: walks do not get longer by it. Its table replaces the one before as a whole. What
//! an event names is read at once, and by each instance of a fleet: one request each, where the table of
//! all documents takes megabytes. Only the leader makes link scans; the others adopt its table.

mod scan;
mod sharing;
mod sink;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::SnapshotCache;
use frontend_map_catalog::links::{KnownHosts, LinkTable};
use frontend_map_catalog::site::{LinkSource, Site, Sites};
use frontend_map_cms::{ContentQuery, Projection, Selection};
use frontend_map_fleet::links::PublishedLinks;
use frontend_map_platform::clock::unix_ms;
use frontend_map_store::{RowKey, Store};

/// From one link scan to the next one, without the random part.
const PERIOD: Duration = Duration::from_hours(23);
/// The random part, at most: sites and instances do not begin together.
const JITTER: Duration = Duration::from_hours(2);
/// From a link scan that has failed to the next one.
const RETRY: Duration = Duration::from_mins(5);
/// From a link scan that has failed to the next one, where the settings or the permissions of the token
/// are wrong.
const REFUSED: Duration = Duration::from_hours(1);
/// Link scans that events ask for begin so long after the link scan before, at least.
const PAUSE: Duration = Duration::from_mins(10);
/// If more documents may have changed, a link scan is faster.
const MAX_PENDING: usize = 1_000;
/// How long the documents that events have named are remembered: longer than from an event to the
/// publication of a table that has it.
const REMEMBERED: Duration = Duration::from_mins(3);

/// The links of all sites, which survive a reload.
#[derive(Default)]
pub struct LinkRegistry {
    /// By the key of the site.
    sites: Mutex<BTreeMap<String, Arc<SiteLinks>>>,
    /// Signals that a document is to be read.
    wake: Arc<Notify>,
}

/// The links in the content of one site.
pub struct SiteLinks {
    site: Arc<Site>,
    hosts: KnownHosts,
    /// That of the settings before a reload, if the table depends on none that has changed: what is being
    /// read then is not lost.
    state: Arc<Mutex<State>>,
    /// Signals a link scan in flight that its table is of former settings.
    retired: Arc<Notify>,
    wake: Arc<Notify>,
}

#[derive(Default)]
struct State {
    table: Option<Arc<LinkTable>>,
    /// The most memory of the table, in bytes.
    max_bytes: usize,
    /// Whether a link scan is in flight.
    is_scanning: bool,
    demand: Demand,
    /// When the next link scan is due by the age of the table; `None`: now.
    next: Option<Instant>,
    /// When the last link scan ended.
    ended: Option<Instant>,
    /// The documents that are to be read.
    pending: BTreeSet<PendingDocument>,
    /// The documents that were read, each with the time at which that began, for [`REMEMBERED`] and as long
    /// as a link scan is in flight.
    read: BTreeMap<PendingDocument, Instant>,
    /// The table that is published in Redis, as far as this instance knows.
    published: Option<PublishedLinks>,
    /// How often the table has changed.
    version: u64,
    /// The version that is stored.
    stored_version: u64,
    /// The version that is published.
    published_version: u64,
    /// The memory of the table without the texts of links that were replaced, in bytes.
    compact_bytes: usize,
}

/// Whether a link scan is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Demand {
    #[default]
    None,
    /// Any document may have changed since the last link scan began: [`PAUSE`] after that has ended.
    AfterPause,
    Now,
}

/// A document, with the position of its content type among those with links.
type PendingDocument = (usize, String);

impl LinkRegistry {
    /// Sets the sites, and returns the links of those whose settings ask for them, by their keys; at most
    /// `max_bytes` each. A table that was made by the same settings is kept.
    pub fn set_sites(
        &self,
        sites: &Sites,
        store: &Store,
        max_bytes: usize,
    ) -> BTreeMap<String, Arc<SiteLinks>> {
        let mut own = self.sites.lock();
        let with_links = sites.iter().filter(|site| !site.links.is_empty());
        let hosts = KnownHosts::new(sites);
        let links = |site: &Arc<Site>| {
            let is_same = |previous: &&Arc<SiteLinks>| {
                previous.site.links_fingerprint == site.links_fingerprint
            };
            let previous = own.get(&site.key).filter(is_same);
            let links = SiteLinks {
                site: Arc::clone(site),
                hosts: hosts.clone(),
                state: previous.map(|one| Arc::clone(&one.state)).unwrap_or_default(),
                retired: previous.map(|one| Arc::clone(&one.retired)).unwrap_or_default(),
                wake: Arc::clone(&self.wake),
            };
            links.state.lock().set_max_bytes(max_bytes);
            match previous {
                // The token may have other permissions.
                Some(previous) if previous.site.fingerprint != site.fingerprint => links.want(),
                Some(_) => {}
                None => links.load(store),
            }
            (site.key.clone(), Arc::new(links))
        };
        let kept: BTreeMap<_, _> = with_links.map(links).collect();
        let goes_on = |(key, one): &(&String, &Arc<SiteLinks>)| {
            kept.get(*key).is_some_and(|kept| Arc::ptr_eq(&kept.state, &one.state))
        };
        for (_, replaced) in own.iter().filter(|one| !goes_on(one)) {
            replaced.retired.notify_one();
        }
        (*own).clone_from(&kept);
        kept
    }

    /// Waits until a document may have other links.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }
}

impl State {
    fn ask(&mut self, demand: Demand) {
        self.demand = self.demand.max(demand);
    }

    fn set_max_bytes(&mut self, max_bytes: usize) {
        let is_raised = max_bytes > std::mem::replace(&mut self.max_bytes, max_bytes);
        let Some(table) = &mut self.table else { return };
        let is_full = table.summary().missing.left_out > 0;
        Arc::make_mut(table).set_max_bytes(max_bytes);
        if is_raised && is_full {
            self.ask(Demand::Now);
        }
    }
}

impl SiteLinks {
    /// Begins with the table that the store has. A link scan is due, because events were missed since.
    fn load(&self, store: &Store) {
        let row = RowKey::links(self.site.source, &self.site.key);
        let Some(bytes) = store.load_row(&row) else { return };
        let mut state = self.state.lock();
        match LinkTable::from_bytes(&bytes, &self.site, state.max_bytes) {
            Ok(table) => {
                state.compact_bytes = table.summary().bytes;
                state.table = Some(Arc::new(table));
            }
            Err(error) => {
                tracing::debug!(site = self.site.key, %error, "stored links are not used");
            }
        }
    }

    /// The table; `None`: the documents have not been read yet.
    pub fn table(&self) -> Option<Arc<LinkTable>> {
        self.state.lock().table.clone()
    }

    /// The hosts of all sites.
    pub fn hosts(&self) -> &KnownHosts {
        &self.hosts
    }

    /// Records that a document may have other links, so that it is read.
    pub fn invalidate(&self, uid: &str, document_id: &str) {
        for at in self.sources(uid) {
            let mut state = self.state.lock();
            if state.pending.len() < MAX_PENDING {
                state.pending.insert((at, document_id.to_owned()));
            } else {
                state.ask(Demand::AfterPause);
            }
            self.wake.notify_one();
        }
    }

    /// Records that any document of these content types may have other links now; `None`: of all types.
    pub fn invalidate_types(&self, uids: Option<&[String]>) {
        let has_any =
            uids.is_none_or(|uids| uids.iter().any(|uid| self.sources(uid).next().is_some()));
        if has_any {
            self.state.lock().ask(Demand::AfterPause);
        }
    }

    /// Asks for a link scan, whatever the age of the table is.
    pub fn want(&self) {
        self.state.lock().ask(Demand::Now);
    }

    /// The positions of a content type among those with links.
    fn sources(&self, uid: &str) -> impl Iterator<Item = usize> {
        let is_own = move |(_, source): &(usize, &LinkSource)| source.content_type.as_str() == uid;
        self.site.links.iter().enumerate().filter(is_own).map(|(at, _)| at)
    }

    fn is_due(&self) -> bool {
        let state = self.state.lock();
        let is_asked = match state.demand {
            Demand::None => false,
            Demand::AfterPause => state.ended.is_none_or(|ended| ended.elapsed() >= PAUSE),
            Demand::Now => true,
        };
        is_asked || state.next.is_none_or(|next| next <= Instant::now())
    }

    /// Puts the table of a link scan in use, with the documents that were read by themselves since it began.
    fn install(&self, mut table: LinkTable, begun: Instant) {
        let mut state = self.state.lock();
        if let Some(before) = &state.table {
            for ((at, id), read) in &state.read {
                if *read >= begun {
                    table.copy_document(*at, id, before);
                }
            }
        }
        state.read.retain(|_, read| read.elapsed() < REMEMBERED);
        state.compact_bytes = table.summary().bytes;
        table.set_max_bytes(state.max_bytes);
        state.table = Some(Arc::new(table));
        state.version += 1;
        drop(state);
        // Documents may be due since before there was a table.
        self.wake.notify_one();
    }

    /// Stores the table, if it has changed.
    pub fn save(&self, store: &Store) {
        let table = {
            let state = &mut *self.state.lock();
            let is_stored =
                std::mem::replace(&mut state.stored_version, state.version) == state.version;
            state.table.clone().filter(|_| !is_stored)
        };
        if let Some(table) = table {
            let row = RowKey::links(self.site.source, &self.site.key);
            store.save_row(row, move || table.to_bytes());
        }
    }
}

/// The fields of a content type, of all documents or of some.
fn query(source: &LinkSource, selection: Option<Selection>) -> ContentQuery {
    let projection = Projection::of_content(source.fields.clone());
    ContentQuery { selection, ..ContentQuery::new(source.content_type.clone(), projection) }
}

impl SnapshotCache {
    /// Whether this instance reads the content of a site for all: as the leader, or alone.
    fn refreshes_here(&self, site: &Site) -> bool {
        let mut groups = self.groups.values();
        groups.any(|group| {
            let is_own = group.members.iter().any(|member| member.entry.site == site.key);
            is_own && group.shared.refreshes_here()
        })
    }
}

/// When the next link scan is due after one that has succeeded.
fn next_scan(read_at: i64) -> Instant {
    let age = Duration::from_millis(u64::try_from(unix_ms() - read_at).unwrap_or_default());
    let period = PERIOD + JITTER.mul_f64(fastrand::f64());
    Instant::now() + period.saturating_sub(age)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_catalog::links::NewLink;
    use frontend_map_catalog::site::{ResolveBy, SitePages};
    use frontend_map_rules::frontend_url::Hosts;
    use frontend_map_rules::{ContentTypeUid, FieldPath, Locale, LocalePrefix, Locales, RuleSet};

    const UID: &str = "api::a.a";

    fn links() -> Arc<SiteLinks> {
        let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
        let content_type = ContentTypeUid::parse(UID).unwrap();
        let fields = FieldPath::parse("body").into_iter().collect();
        let site = Site {
            key: "main".to_owned(),
            rules: RuleSet::new(locales, LocalePrefix::Always, Vec::new()),
            hosts: Hosts::default(),
            resolve: ResolveBy::Documents,
            sitemap_path: String::new(),
            pages: SitePages::default(),
            redirects: None,
            links: vec![LinkSource { content_type, fields }],
            links_fingerprint: 1,
            fingerprint: 0,
            source: 0,
        };
        let sites = Sites::new(vec![site]);
        let own = LinkRegistry::default().set_sites(&sites, &Store::default(), 1 << 20);
        own.into_values().next().unwrap()
    }

    /// A table in which each of these documents has a link.
    fn table(documents: &[&str]) -> LinkTable {
        let mut table = LinkTable::new(1, 0, 1 << 20);
        for id in documents {
            let link = NewLink { locale: None, field: 0, address: "/x", text: "" };
            table.add(0, id, [link]);
        }
        table
    }

    fn documents(links: &SiteLinks) -> usize {
        links.table().map_or(0, |table| table.summary().documents)
    }

    #[test]
    fn next_scan_counts_from_the_time_of_the_table() {
        let hours = Duration::from_hours;
        let after = |age: Duration| {
            let read_at = unix_ms() - i64::try_from(age.as_millis()).unwrap();
            next_scan(read_at).saturating_duration_since(Instant::now())
        };
        let rest = after(hours(20));
        assert!(rest > hours(2) && rest <= hours(5), "{rest:?}");
        assert_eq!(after(hours(30)), Duration::ZERO, "it is due");
    }

    #[test]
    fn scan_keeps_what_was_read_by_itself_since_it_began() {
        let links = links();
        links.install(table(&["a", "b", "c"]), Instant::now());
        let begun = Instant::now();
        // `a` has lost its link, and `d` has got one.
        links.replace(0, &["a".to_owned(), "d".to_owned()], &table(&["d"]), begun);
        assert_eq!(documents(&links), 3);
        links.install(table(&["a", "b"]), begun);
        assert_eq!(documents(&links), 2, "b and d");
        // A link scan that began later has read them itself.
        links.install(table(&["a", "b"]), Instant::now() + Duration::from_secs(1));
        assert_eq!(documents(&links), 2);
        let table = links.table().unwrap();
        assert_eq!(table.compacted().to_bytes(), self::table(&["a", "b"]).to_bytes());
    }

    #[test]
    fn documents_are_pending_up_to_a_number_beyond_which_a_scan_is_due() {
        let links = links();
        assert!(links.is_due(), "nothing is known");
        links.install(table(&[]), Instant::now());
        let later = Instant::now() + PERIOD;
        links.state.lock().next = Some(later);
        assert!(!links.is_due());
        links.invalidate("api::other.other", "a");
        assert!(links.state.lock().pending.is_empty());
        for n in 0..=MAX_PENDING {
            assert!(!links.is_due());
            links.invalidate(UID, &format!("d{n}"));
        }
        assert_eq!(links.state.lock().pending.len(), MAX_PENDING);
        assert!(links.is_due());
        links.state.lock().ended = Some(Instant::now());
        assert!(!links.is_due(), "not at once after a link scan");
        links.want();
        assert!(links.is_due());
    }

    #[test]
    fn event_about_types_asks_for_a_scan_if_one_has_links() {
        let links = links();
        links.state.lock().next = Some(Instant::now() + PERIOD);
        links.invalidate_types(Some(&["api::other.other".to_owned()]));
        assert!(!links.is_due());
        links.invalidate_types(Some(&[UID.to_owned()]));
        assert!(links.is_due());
    }
}
