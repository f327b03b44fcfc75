//! The sites that list a content type: one walk serves all of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::entry::{Demand, Entry, Event, Flight, Waiter};
use crate::invalidation::Invalidation;
use crate::settings::Freshness;
use crate::site_cache::SiteCache;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_cms::{Content, ContentQuery, Projection};
use frontend_map_fleet::{Fleet, SnapshotGroup, SnapshotId};
use frontend_map_rules::{ContentTypeUid, FieldPath, Locale};

/// A site that lists the content type, and its entry of it.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) site: Arc<SiteCache>,
    pub(crate) entry: Arc<Entry>,
}

impl Member {
    fn snapshot_id(&self) -> SnapshotId {
        SnapshotId::of(&self.site.site, self.entry.query.uid.as_str())
    }
}

/// A refresh of a member that has begun. If it is dropped before its end, its task has panicked.
pub(super) struct BegunRefresh {
    pub(super) member: Member,
    pub(super) flight: Arc<Flight>,
}

/// The sites that list a content type, and what one walk for all of them reads.
pub(crate) struct TypeGroup {
    /// The fields and the alternatives of all members.
    pub(crate) query: ContentQuery,
    /// The locales of all members, each once.
    pub(crate) locales: Vec<Locale>,
    /// In the order of the settings; at least one.
    pub(crate) members: Vec<Member>,
    /// The lists of the members, and which instance walks them.
    pub(crate) shared: Arc<SnapshotGroup>,
    /// Locked while a refresh begins, so that concurrent requests for two members start one walk.
    beginning: Mutex<()>,
}

impl Drop for BegunRefresh {
    fn drop(&mut self) {
        self.member.entry.apply_to(&self.flight, Event::Abandoned);
    }
}

impl BegunRefresh {
    /// See [`Entry::abandoned`].
    pub(super) async fn abandoned(&self) {
        self.member.entry.abandoned(&self.flight).await;
    }
}

impl TypeGroup {
    /// A group of at least one member that this instance walks by itself.
    pub(crate) fn new(members: Vec<Member>) -> Self {
        Self::with_group(members, Arc::new(SnapshotGroup::alone()))
    }

    fn with_group(members: Vec<Member>, shared: Arc<SnapshotGroup>) -> Self {
        let queries = || members.iter().map(|member| &member.entry.query);
        let uid = queries().next().expect("a group has a member").uid.clone();
        let fields: Vec<FieldPath> = distinct(queries().flat_map(|query| query.projection.paths()));
        // Without alternatives, a member needs all documents.
        let all = queries().any(|query| query.alternatives.is_empty());
        let alternatives = queries().flat_map(|query| &query.alternatives);
        let alternatives = if all { Vec::new() } else { distinct(alternatives) };
        let locales = distinct(members.iter().flat_map(|member| member.site.locales()));
        let query = ContentQuery::new(uid, Projection::new(fields));
        let query = ContentQuery { alternatives, ..query };
        Self { query, locales, members, shared, beginning: Mutex::default() }
    }

    /// One group for each content type of these sites, shared with the other instances.
    pub(crate) fn of_sites<'a>(
        sites: impl IntoIterator<Item = &'a Arc<SiteCache>>,
        fleet: &Fleet,
    ) -> HashMap<ContentTypeUid, Arc<Self>> {
        let mut members: HashMap<ContentTypeUid, Vec<Member>> = HashMap::new();
        for site in sites {
            for entry in site.entries() {
                let own = members.entry(entry.query.uid.clone()).or_default();
                own.push(Member { site: Arc::clone(site), entry: Arc::clone(entry) });
            }
        }
        let ids = |members: &[Member]| -> Vec<SnapshotId> {
            members.iter().map(Member::snapshot_id).collect()
        };
        let all: Vec<SnapshotId> = members.values().flat_map(|members| ids(members)).collect();
        let lead = fleet.lead(&all);
        let group = |(uid, members): (ContentTypeUid, Vec<Member>)| {
            let shared = fleet.group(lead.as_ref(), uid.as_str(), &ids(&members));
            (uid, Arc::new(Self::with_group(members, shared)))
        };
        members.into_iter().map(group).collect()
    }

    /// Joins the refresh of this member, or begins one: of this member, and of all others that are
    /// in use and have none in flight. Returns a waiter, and the begun refreshes, which the caller
    /// has to start with one walk. With `unless`, a snapshot of this member that is usable by it
    /// begins none.
    pub(super) fn join_or_begin(
        &self,
        entry: &Arc<Entry>,
        unless: Option<Freshness>,
    ) -> (Waiter, Vec<BegunRefresh>) {
        let _beginning = self.beginning.lock();
        let follows = self.shared.follows();
        let (waiter, new) = entry.join_or_begin(unless, follows);
        let Some(flight) = new else { return (waiter, Vec::new()) };
        let mut own = Some(flight);
        let begin = |member: &Member| {
            let flight = match &member.entry {
                other if Arc::ptr_eq(other, entry) => own.take(),
                other if other.is_orphaned() => None,
                other => other.join_or_begin(None, follows).1,
            };
            flight.map(|flight| BegunRefresh { member: member.clone(), flight })
        };
        (waiter, self.members.iter().filter_map(begin).collect())
    }

    /// The relations that the rules of all members follow, each once.
    pub(crate) fn relations(&self) -> BTreeSet<FieldPath> {
        let uid = self.query.uid.as_str();
        self.members.iter().flat_map(|member| member.site.site.rules.relations(uid)).collect()
    }

    /// The content source, which is the same for all members.
    pub(super) fn content(&self) -> &Content {
        &self.members[0].site.content
    }

    /// Whether documents may change.
    pub(super) fn may_change(&self) -> bool {
        self.content().may_change()
    }

    pub(crate) fn is_refreshing(&self) -> bool {
        self.members.iter().any(|member| member.entry.is_refreshing())
    }

    /// Whether a refresh of a member is wanted, or waits for a snapshot of another instance.
    pub(crate) fn is_awaiting_leader(&self) -> bool {
        self.members
            .iter()
            .any(|Member { entry, .. }| entry.is_wanted(Demand::Background) || entry.is_following())
    }

    /// How long the last walk took; zero without a snapshot.
    pub(crate) fn walk_time(&self) -> Duration {
        let cached_snapshots = self.members.iter().filter_map(|member| member.entry.cached());
        cached_snapshots.map(|cached| cached.refresh_duration()).max().unwrap_or_default()
    }

    /// Groups of members that need exactly the same, by their positions.
    pub(super) fn alike(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            match groups.iter_mut().find(|group| need_same(&self.members[group[0]], member)) {
                Some(group) => group.push(at),
                None => groups.push(vec![at]),
            }
        }
        groups
    }
}

fn need_same(one: &Member, other: &Member) -> bool {
    let (query, other_query) = (&one.entry.query, &other.entry.query);
    query.projection.paths() == other_query.projection.paths()
        && query.alternatives == other_query.alternatives
        && one.site.locales() == other.site.locales()
}

fn distinct<'a, T: Clone + Eq + Hash + 'a>(all: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut seen = HashSet::new();
    all.filter(|one| seen.insert(*one)).cloned().collect()
}

impl Member {
    /// The invalidations since a read began that have to be processed again: the read has
    /// found versions that read a changed document, which the snapshot did not know before, and which
    /// were not read since the change. `is_found` says which documents it has found.
    pub(crate) fn invalidations_to_repeat(
        &self,
        snapshot: &Snapshot,
        begun: Instant,
        is_found: impl Fn(&str) -> bool,
    ) -> Vec<Invalidation> {
        let Self { site, entry } = self;
        let invalidations = entry.invalidations_since(begun);
        if invalidations.is_empty() {
            return Vec::new();
        }
        let read = entry.read_versions();
        let relations = site.site.rules.relations(entry.query.uid.as_str());
        let is_to_repeat = |(since, Invalidation { document_id, .. }): &(_, Invalidation)| {
            let referring =
                relations.iter().flat_map(|relation| snapshot.referring(relation, document_id));
            let mut found = referring.filter(|(id, _)| is_found(id));
            found.any(|(id, locale)| !read.has(*since, id, &site.locales()[locale]))
        };
        invalidations
            .into_iter()
            .filter(is_to_repeat)
            .map(|(_, invalidation)| invalidation)
            .collect()
    }
}
