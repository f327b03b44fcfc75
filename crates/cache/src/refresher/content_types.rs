//! Refreshes of content types that were requested.

use crate::SnapshotCache;
use frontend_map_rules::FieldPath;

impl SnapshotCache {
    /// Lets the lists of these content types be walked again as soon as the share of the CMS permits,
    /// and those whose relations may lead to one of them.
    pub fn refresh_types(&self, uids: &[String]) {
        let targets = self.triggers.targets.lock();
        for group in self.groups.values().filter(|group| group.shared.refreshes_here()) {
            let uid = &group.query.uid;
            let may_lead = |relation: &FieldPath| {
                uids.iter().any(|target| !targets.leads_elsewhere(uid, relation, target))
            };
            let is_selected = uids.iter().any(|selected| selected == uid.as_str());
            if is_selected || group.relations().iter().any(may_lead) {
                group.members.iter().for_each(|member| member.entry.make_due());
            }
        }
        drop(targets);
        self.triggers.wake_refresher();
    }
}
