//! Logs that instances with other settings have continued, of which none is left.

use std::collections::BTreeMap;
use std::mem;

use super::{SharedChanges, SiteState};
use crate::shared_engine::EngineError;

impl SharedChanges {
    /// Begins each log again that instances with other settings have continued, if their lease was free
    /// at the last check and is free now: between two holders it is free for a moment. All logs are then
    /// read.
    pub(super) async fn check_abandoned(&self) {
        if !self.engine.is_here() {
            return;
        }
        let sites: Vec<String> = self.inner.state.lock().sites.keys().cloned().collect();
        for site in sites {
            // The next check repeats what has failed.
            let _ = self.check_site(&site).await;
            self.read_soon(&site);
        }
    }

    async fn check_site(&self, site: &str) -> Result<(), EngineError> {
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
            let reason = "the instances with the settings before are gone";
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
    /// The leases of lists with other settings whose changes the log has, with their content types.
    fn leases_of_others(&self) -> BTreeMap<String, String> {
        let is_own = |uid: &str, list: &str| {
            let own = self.settled.get(uid).filter(|_| !self.is_of_other_source);
            own.is_some_and(|own| own.list == list)
        };
        let others = self.bases.iter().filter(|(uid, base)| !is_own(uid, &base.list));
        others.map(|(uid, base)| (base.lease.clone(), uid.clone())).collect()
    }
}
