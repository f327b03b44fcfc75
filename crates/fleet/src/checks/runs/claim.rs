//! The keys and values of one run.

use tokio::sync::OwnedRwLockReadGuard;

use super::{Progress, SharedResult, WITHIN};
use crate::redis::{self, Argument};

/// The keys of a run, and the token of its owner.
#[derive(Clone)]
pub(super) struct Claim {
    pub(super) redis: redis::Client,
    pub(super) id: String,
    pub(super) token: String,
}

impl Claim {
    pub(super) fn keys(&self) -> [String; 3] {
        ["", ":interest", ":result"].map(|part| self.redis.key(&format!("run:{}{part}", self.id)))
    }

    pub(super) fn context(&self, kind: &str) -> String {
        format!("run-{kind}:{}:{}", self.id, self.token)
    }

    pub(super) fn sealed(&self, progress: &Progress) -> Vec<u8> {
        self.redis.seal_json(&self.context("progress"), progress)
    }

    pub(super) fn progress(&self, sealed: &[u8]) -> Option<Progress> {
        self.redis.open_json(&self.context("progress"), sealed)
    }

    pub(super) fn result(&self, sealed: &[u8]) -> Option<SharedResult> {
        // Nothing is not a refused seal.
        let sealed = Some(sealed).filter(|sealed| !sealed.is_empty())?;
        self.redis.open_json(&self.context("result"), sealed)
    }

    /// Runs a script in a task of its own. If it fails, the keys expire. The guard is dropped when
    /// the script has ended.
    pub(super) fn send(
        &self,
        script: &'static str,
        arguments: Vec<Argument>,
        guard: Option<OwnedRwLockReadGuard<()>>,
    ) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (redis, keys) = (self.redis.clone(), self.keys());
            runtime.spawn(async move {
                let _: Result<i64, _> = redis.script(script, &keys, arguments, WITHIN).await;
                drop(guard);
            });
        }
    }
}
