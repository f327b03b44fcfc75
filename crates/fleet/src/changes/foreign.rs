//! Logs of instances with other settings, after the last of these instances has stopped.

use std::collections::BTreeMap;
use std::mem;

use super::{SharedChanges, SiteState};
use crate::redis;

impl SharedChanges {
    /// Begins each log again whose changes come from instances with other settings, if their lease
    /// had no holder at two checks in a row: between two holders it is free for a moment. Then
    /// schedules a read of all logs.
    pub(super) async fn check_abandoned(&self) {
        if !self.redis.is_available() {
            return;
        }
        let sites: Vec<String> = self.inner.state.lock().sites.keys().cloned().collect();
        for site in sites {
            // A check that fails is repeated at the next one.
            let _ = self.check_site(&site).await;
            self.read_soon(&site);
        }
    }

    async fn check_site(&self, site: &str) -> Result<(), redis::Error> {
        let (read, before, leases) = {
            let mut state = self.inner.state.lock();
            let Some(known) = state.sites.get_mut(site) else { return Ok(()) };
            let Some((read, _)) = known.read.clone() else { return Ok(()) };
            (read, mem::take(&mut known.abandoned), known.leases_of_others())
        };
        let mut abandoned = Vec::new();
        for (lease, uid) in leases {
            if !self.is_held(&lease).await? {
                abandoned.push((lease, uid));
            }
        }
        if let Some((_, uid)) = abandoned.iter().find(|found| before.contains(found)) {
            let reason = "no instance has the previous settings any more";
            tracing::info!(site, uid, reason, "the shared change log begins again");
            return self.begin(site, read).await;
        }
        if let Some(known) = self.inner.state.lock().sites.get_mut(site) {
            known.abandoned = abandoned;
        }
        Ok(())
    }
}

impl SiteState {
    /// The leases of the groups with other settings whose changes the log has, with their content
    /// types.
    fn leases_of_others(&self) -> BTreeMap<String, String> {
        let is_own =
            |uid: &str, list: &str| self.settled.get(uid).is_some_and(|own| own.list == list);
        let others = self.bases.iter().filter(|(uid, base)| !is_own(uid, &base.list));
        others.map(|(uid, base)| (base.lease.clone(), uid.clone())).collect()
    }
}
