//! The groups of lists in use: after a reload those of the new settings, and those of the old
//! settings as long as they are in use.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::{ListGroup, ListId, SharedListId};

/// The groups that are in use.
#[derive(Default)]
pub(super) struct KnownGroups(Mutex<Groups>);

#[derive(Default)]
struct Groups {
    /// By lease.
    leases: HashMap<String, Weak<ListGroup>>,
    /// By shared id: each is in one group.
    shared_lists: HashMap<SharedListId, Weak<ListGroup>>,
    /// By the id of the list, which may be in different groups before and after a reload. The last
    /// entry is that of the newest settings.
    newest: HashMap<ListId, Vec<(SharedListId, Weak<ListGroup>)>>,
}

impl KnownGroups {
    /// The group with this lease, in which the newest settings share these lists.
    pub(super) fn get_or_add(
        &self,
        lease: &str,
        lists: &[ListId],
        new: impl FnOnce(Vec<SharedListId>) -> ListGroup,
    ) -> Arc<ListGroup> {
        let groups = &mut *self.0.lock();
        let shared: Vec<_> = lists.iter().map(|list| list.shared(lease)).collect();
        let known = groups.leases.get(lease).and_then(Weak::upgrade);
        let group = known.unwrap_or_else(|| Arc::new(new(shared.clone())));
        groups.leases.insert(lease.to_owned(), Arc::downgrade(&group));
        for (list, shared) in lists.iter().zip(shared) {
            groups.shared_lists.insert(shared.clone(), Arc::downgrade(&group));
            let of_list = groups.newest.entry(list.clone()).or_default();
            of_list.retain(|(other, _)| *other != shared);
            of_list.push((shared, Arc::downgrade(&group)));
        }
        groups.forget_dropped();
        group
    }

    /// The group of a shared list.
    pub(super) fn of(&self, list: &SharedListId) -> Option<Arc<ListGroup>> {
        self.0.lock().shared_lists.get(list).and_then(Weak::upgrade)
    }

    /// A list as the newest settings share it, and its group.
    pub(super) fn newest(&self, list: &ListId) -> Option<(SharedListId, Arc<ListGroup>)> {
        let groups = self.0.lock();
        let of_list = groups.newest.get(list)?.iter().rev();
        let mut in_use = of_list.filter_map(|(shared, group)| Some((shared, group.upgrade()?)));
        in_use.next().map(|(shared, group)| (shared.clone(), group))
    }

    /// All groups.
    pub(super) fn all(&self) -> Vec<Arc<ListGroup>> {
        self.0.lock().leases.values().filter_map(Weak::upgrade).collect()
    }

    /// All lists.
    pub(super) fn lists(&self) -> Vec<SharedListId> {
        self.all().iter().flat_map(|group| group.lists().to_vec()).collect()
    }
}

impl Groups {
    fn forget_dropped(&mut self) {
        let is_used = |group: &Weak<ListGroup>| group.strong_count() > 0;
        self.leases.retain(|_, group| is_used(group));
        self.shared_lists.retain(|_, group| is_used(group));
        self.newest.values_mut().for_each(|groups| groups.retain(|(_, group)| is_used(group)));
        self.newest.retain(|_, groups| !groups.is_empty());
    }
}
