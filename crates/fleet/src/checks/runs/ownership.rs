//! A run that this instance owns.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::OwnedRwLockReadGuard;

use super::{Claim, LIFETIME, Progress, SharedResult, WITHIN, scripts};
use crate::redis::{self, Argument};

/// How long a result stays in Redis, for instances that start.
const RESULT_TTL: Duration = Duration::from_hours(24);
/// How long a result stays after a newer one has replaced it: an instance may be reading it.
const REPLACED_TTL: Duration = Duration::from_mins(1);

/// The result of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// The run is still that of this instance.
    Continues,
    /// No instance has a client that waits for the run.
    Unneeded,
    /// Another instance owns a run with the same key.
    Lost,
}

/// A run that this instance owns. Dropping it before the run has ended releases the run, so that
/// another instance can begin it.
pub struct Ownership {
    shared: Claim,
    is_finished: AtomicBool,
    /// Held until the release of the run has been sent.
    unreleased: Option<OwnedRwLockReadGuard<()>>,
}

impl Ownership {
    pub(super) fn new(shared: Claim, unreleased: Option<OwnedRwLockReadGuard<()>>) -> Self {
        Self { shared, is_finished: AtomicBool::new(false), unreleased }
    }

    /// Renews the run and publishes its progress. `is_needed`: a client of this instance waits for it.
    ///
    /// # Errors
    /// [`redis::Error`]; the run continues.
    pub async fn renew(
        &self,
        progress: &Progress,
        is_needed: bool,
    ) -> Result<Renewed, redis::Error> {
        let Claim { redis, token, .. } = &self.shared;
        let arguments = vec![
            Argument::from(token),
            self.shared.sealed(progress).into(),
            LIFETIME.as_millis().into(),
            is_needed.into(),
        ];
        let is: String =
            redis.script(scripts::RENEW, &self.shared.keys(), arguments, WITHIN).await?;
        Ok(match is.as_str() {
            "unneeded" => Renewed::Unneeded,
            "lost" => Renewed::Lost,
            _ => Renewed::Continues,
        })
    }

    /// Publishes the result of the run, which ended at `time` by the system clock, in ms since
    /// 1970. Returns `false` if another instance owns a run with the same key by now.
    ///
    /// # Errors
    /// [`redis::Error`]: the other instances do not get the result.
    pub async fn finish(&self, bytes: &[u8], time: i64) -> Result<bool, redis::Error> {
        let Claim { redis, id, token } = &self.shared;
        let ended = redis.now_ms();
        let chunks = redis.upload(&format!("run:{id}:{token}"), bytes, RESULT_TTL).await?;
        let result = SharedResult { ended, time, chunks };
        let sealed = redis.seal_json(&self.shared.context("result"), &result);
        let arguments =
            vec![Argument::from(token), sealed.into(), ended.into(), RESULT_TTL.as_millis().into()];
        let (is_published, run, before): (bool, String, Vec<u8>) =
            redis.script(scripts::FINISH, &self.shared.keys(), arguments, WITHIN).await?;
        let before = Claim { token: run, ..self.shared.clone() }.result(&before);
        let unused =
            if is_published { before.map(|result| result.chunks) } else { Some(result.chunks) };
        if let Some(unused) = unused {
            // Otherwise they expire later.
            let _ = redis.extend(&unused, REPLACED_TTL).await;
        }
        self.is_finished.store(true, Ordering::Relaxed);
        Ok(is_published)
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        if !*self.is_finished.get_mut() {
            let arguments = vec![Argument::from(&self.shared.token)];
            self.shared.send(scripts::RELEASE, arguments, self.unreleased.take());
        }
    }
}
