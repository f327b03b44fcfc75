//! Runs of URL checks of all instances: one run at a time for each content type of a site. Its
//! owner publishes the progress and the result; other instances follow the run, which means that
//! they read both.

mod ownership;
mod scripts;

pub use ownership::{Ownership, Renewed};

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use crate::redis::{self, Argument, Chunks, DownloadError};
use crate::snapshot_id::SnapshotId;

/// A run, and the interest of an instance that follows it, expire so long after the last renewal.
const LIFETIME: Duration = Duration::from_secs(3);
/// How often the owner publishes the progress, and other instances read it.
pub const PERIOD: Duration = Duration::from_millis(500);
/// The time limit of a command in the background.
pub const WITHIN: Duration = Duration::from_secs(2);
/// The most bytes of the sealed end of a run, which names its result.
const MAX_FIELD_BYTES: usize = 64 << 10;
/// A larger result is not read.
const MAX_RESULT_BYTES: usize = 256 * 1024 * 1024;

/// The runs of all instances. Clones share their state.
#[derive(Clone)]
pub struct FleetRuns {
    redis: redis::Client,
    /// Locked for reading by each run that this instance owns, until Redis has its end.
    owned: Arc<RwLock<()>>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The number of URLs with a result.
    pub checked: usize,
    /// The number of all URLs.
    pub total: usize,
    /// The number of documents without a URL.
    pub skipped: u64,
    /// The numbers of results by class: 2xx, 3xx, 4xx, 5xx, error.
    pub by_class: [u64; 5],
}

/// The end of a run, and where its result is in Redis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedResult {
    /// When the run ended, by Redis's clock, in ms since 1970.
    pub ended: i64,
    /// When it ended, by the clock of its owner, in ms since 1970.
    pub time: i64,
    chunks: Chunks,
}

/// How an instance gets the result of a run that a client wants.
pub enum Joined {
    /// It owns the run, and checks the URLs for all instances.
    Own(Ownership),
    /// Another instance owns the run.
    Follow(Following),
    /// A result that can be reused is in Redis.
    Ended(SharedResult),
    /// There is no run, and this instance may not begin one.
    None,
    /// Redis has not answered in time. It may have registered this instance as the owner.
    Unknown(Ownership),
}

impl FleetRuns {
    /// The runs in this Redis.
    pub fn new(redis: redis::Client) -> Self {
        Self { redis, owned: Arc::default() }
    }

    /// As [`redis::Client::instant_of`].
    pub fn instant_of(&self, server_ms: i64) -> Instant {
        self.redis.instant_of(server_ms)
    }

    /// Joins the run with this id, or begins it if `may_own`. A result that ended less than `reuse`
    /// ago is used instead. Waits for Redis until `deadline`, however many commands it takes.
    pub async fn join(
        &self,
        id: &str,
        may_own: bool,
        reuse: Duration,
        progress: &Progress,
        deadline: Instant,
    ) -> Joined {
        let token = format!("{}:{:016x}", self.redis.instance_id(), fastrand::u64(..));
        let own = Claim { redis: self.redis.clone(), id: id.to_owned(), token };
        let arguments = vec![
            self.redis.instance_id().into(),
            Argument::from(&own.token),
            own.sealed(progress).into(),
            LIFETIME.as_millis().into(),
            reuse.as_millis().into(),
            may_own.into(),
        ];
        let within = deadline.saturating_duration_since(Instant::now());
        let joined = self.redis.script(scripts::JOIN, &own.keys(), arguments, within).await;
        let Ok::<(String, String, Vec<u8>), redis::Error>((is, token, sealed)) = joined else {
            return Joined::Unknown(self.ownership(own));
        };
        let found = Claim { token, ..own.clone() };
        match is.as_str() {
            "own" => Joined::Own(self.ownership(own)),
            "follow" => {
                let progress = found.progress(&sealed);
                Joined::Follow(Following::new(found, progress))
            }
            "ended" => match found.result(&sealed) {
                Some(result) => Joined::Ended(result),
                // The result is refused: this instance begins a run.
                None => Box::pin(self.join(id, may_own, Duration::ZERO, progress, deadline)).await,
            },
            _ => Joined::None,
        }
    }

    fn ownership(&self, claim: Claim) -> Ownership {
        // It fails only while the process stops.
        Ownership::new(claim, Arc::clone(&self.owned).try_read_owned().ok())
    }

    /// Waits until the releases of the runs of this instance have been sent. Their tasks must have
    /// been ended before.
    pub async fn released(&self) {
        drop(self.owned.write().await);
    }

    /// Whether Redis is available.
    pub fn is_available(&self) -> bool {
        self.redis.is_available()
    }

    /// The last results of the runs with these ids; `None` for a foreign value, too.
    ///
    /// # Errors
    /// [`redis::Error`].
    pub async fn results(
        &self,
        ids: &[SnapshotId],
    ) -> Result<Vec<Option<SharedResult>>, redis::Error> {
        let result = async |id: &SnapshotId| {
            let key = self.redis.key(&format!("run:{id}:result"));
            let found = self.redis.fields(&key, ["run", "result"], MAX_FIELD_BYTES, WITHIN).await;
            let [Some(token), Some(sealed)] = found? else { return Ok(None) };
            let Ok(token) = String::from_utf8(token) else { return Ok(None) };
            Ok(Claim { redis: self.redis.clone(), id: id.to_string(), token }.result(&sealed))
        };
        try_join_all(ids.iter().map(result)).await
    }

    /// Downloads the bytes of a result.
    ///
    /// # Errors
    /// [`DownloadError`], also for a damaged result.
    pub async fn download(&self, result: &SharedResult) -> Result<Vec<u8>, DownloadError> {
        self.redis.download(&result.chunks, MAX_RESULT_BYTES).await
    }
}

/// The keys of a run, and the token of its owner.
#[derive(Clone)]
struct Claim {
    redis: redis::Client,
    id: String,
    token: String,
}

impl Claim {
    fn keys(&self) -> [String; 3] {
        ["", ":interest", ":result"].map(|part| self.redis.key(&format!("run:{}{part}", self.id)))
    }

    fn context(&self, kind: &str) -> String {
        format!("run-{kind}:{}:{}", self.id, self.token)
    }

    fn sealed(&self, progress: &Progress) -> Vec<u8> {
        self.redis.seal_json(&self.context("progress"), progress)
    }

    fn progress(&self, sealed: &[u8]) -> Option<Progress> {
        self.redis.open_json(&self.context("progress"), sealed)
    }

    fn result(&self, sealed: &[u8]) -> Option<SharedResult> {
        // An empty value means that there is no result; it is no seal that is refused.
        let sealed = Some(sealed).filter(|sealed| !sealed.is_empty())?;
        self.redis.open_json(&self.context("result"), sealed)
    }

    /// Runs a script in a task of its own. If it fails, the keys expire. The guard is dropped when
    /// the script has ended.
    fn send(
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

/// The state of a run that another instance owns.
#[derive(Debug)]
pub enum Followed {
    /// It is in progress. `None`: the value of its progress was refused.
    Progress(Option<Progress>),
    /// It has ended, with this result.
    Ended(SharedResult),
    /// It has stopped without a result, or its result was refused.
    Gone,
}

/// A run that another instance owns. Dropping it ends the interest of this instance.
pub struct Following {
    shared: Claim,
    /// The progress when this instance joined it.
    pub progress: Option<Progress>,
}

impl Following {
    fn new(shared: Claim, progress: Option<Progress>) -> Self {
        Self { shared, progress }
    }

    /// Reads the state of the run, and renews the interest of this instance.
    ///
    /// # Errors
    /// [`redis::Error`].
    pub async fn poll(&self) -> Result<Followed, redis::Error> {
        let Claim { redis, token, .. } = &self.shared;
        let arguments =
            vec![redis.instance_id().into(), Argument::from(token), LIFETIME.as_millis().into()];
        let (is, sealed): (String, Vec<u8>) =
            redis.script(scripts::FOLLOW, &self.shared.keys(), arguments, WITHIN).await?;
        Ok(match is.as_str() {
            "progress" => Followed::Progress(self.shared.progress(&sealed)),
            "ended" => self.shared.result(&sealed).map_or(Followed::Gone, Followed::Ended),
            _ => Followed::Gone,
        })
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let instance = Argument::from(self.shared.redis.instance_id());
        self.shared.send(scripts::RELEASE, vec![Argument::from(""), instance], None);
    }
}
