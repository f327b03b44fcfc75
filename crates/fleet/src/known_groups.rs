//! The groups of snapshots in use: after a reload those of the new settings, and those of the old
//! settings as long as they are in use.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::{Lead, SharedSnapshotId, SnapshotGroup, SnapshotId};

/// The groups that are in use.
#[derive(Default)]
pub(super) struct KnownGroups(Mutex<Groups>);

#[derive(Default)]
struct Groups {
    /// The leads by the names of their leases.
    leads: HashMap<String, Weak<Lead>>,
    /// The groups by name.
    by_name: HashMap<String, Weak<SnapshotGroup>>,
    /// By shared id: each is in one group.
    of_shared_id: HashMap<SharedSnapshotId, Weak<SnapshotGroup>>,
    /// By the id of the snapshot, which may be in different groups before and after a reload. The
    /// last entry is that of the newest settings.
    newest: HashMap<SnapshotId, Vec<(SharedSnapshotId, Weak<SnapshotGroup>)>>,
}

impl KnownGroups {
    /// The lead with this lease.
    pub(super) fn lead_or_add(&self, lease: &str, new: impl FnOnce() -> Lead) -> Arc<Lead> {
        let groups = &mut *self.0.lock();
        let known = groups.leads.get(lease).and_then(Weak::upgrade);
        let lead = known.unwrap_or_else(|| Arc::new(new()));
        groups.leads.insert(lease.to_owned(), Arc::downgrade(&lead));
        lead
    }

    /// The group of this lead and content type, in which the newest settings share these snapshots.
    pub(super) fn get_or_add(
        &self,
        lead: &Arc<Lead>,
        uid: &str,
        ids: &[SnapshotId],
    ) -> Arc<SnapshotGroup> {
        let groups = &mut *self.0.lock();
        let lease = lead.lease().name();
        let name = format!("{lease} {uid}");
        let shared: Vec<_> = ids.iter().map(|id| id.shared(lease)).collect();
        let known = groups.by_name.get(&name).and_then(Weak::upgrade);
        let new = || SnapshotGroup::shared(shared.clone(), Arc::clone(lead), name.clone());
        let group = known.unwrap_or_else(|| Arc::new(new()));
        groups.by_name.insert(name, Arc::downgrade(&group));
        for (id, shared) in ids.iter().zip(shared) {
            groups.of_shared_id.insert(shared.clone(), Arc::downgrade(&group));
            let of_id = groups.newest.entry(id.clone()).or_default();
            of_id.retain(|(other, _)| *other != shared);
            of_id.push((shared, Arc::downgrade(&group)));
        }
        groups.forget_dropped();
        group
    }

    /// The group of a shared snapshot.
    pub(super) fn of(&self, id: &SharedSnapshotId) -> Option<Arc<SnapshotGroup>> {
        self.0.lock().of_shared_id.get(id).and_then(Weak::upgrade)
    }

    /// A snapshot as the newest settings share it, and its group.
    pub(super) fn newest(&self, id: &SnapshotId) -> Option<(SharedSnapshotId, Arc<SnapshotGroup>)> {
        let groups = self.0.lock();
        let of_id = groups.newest.get(id)?.iter().rev();
        let mut in_use = of_id.filter_map(|(shared, group)| Some((shared, group.upgrade()?)));
        in_use.next().map(|(shared, group)| (shared.clone(), group))
    }

    /// All groups.
    pub(super) fn all(&self) -> Vec<Arc<SnapshotGroup>> {
        self.0.lock().by_name.values().filter_map(Weak::upgrade).collect()
    }

    /// All snapshots.
    pub(super) fn ids(&self) -> Vec<SharedSnapshotId> {
        self.all().iter().flat_map(|group| group.ids().to_vec()).collect()
    }
}

impl Groups {
    fn forget_dropped(&mut self) {
        let is_used = |group: &Weak<SnapshotGroup>| group.strong_count() > 0;
        self.leads.retain(|_, lead| lead.strong_count() > 0);
        self.by_name.retain(|_, group| is_used(group));
        self.of_shared_id.retain(|_, group| is_used(group));
        self.newest.values_mut().for_each(|groups| groups.retain(|(_, group)| is_used(group)));
        self.newest.retain(|_, groups| !groups.is_empty());
    }
}
