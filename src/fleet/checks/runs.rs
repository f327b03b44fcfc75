//! Runs of URL checks of all instances: one run at a time for a content type of a site. The owner
//! publishes its progress and its result; other instances follow.

mod claim;
mod following;
mod ownership;
mod scripts;

pub use following::{Followed, Following};
pub use ownership::{Ownership, Renewed};

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::RwLock;

use crate::fleet::list_id::ListId;
use crate::shared_engine::{Argument, Chunks, DownloadError, Engine, EngineError, Script};
use claim::Claim;

/// The run of an owner, or the interest of a follower, expires after this time without a renewal.
const LIFETIME: Duration = Duration::from_secs(3);
/// How often an owner publishes its progress, and a follower reads it.
pub const PERIOD: Duration = Duration::from_millis(500);
/// How long a command in the background may take.
pub const WITHIN: Duration = Duration::from_secs(2);
/// A larger result is not read.
const MAX_RESULT_BYTES: usize = 256 * 1024 * 1024;

static JOIN: LazyLock<Script> = LazyLock::new(|| Script::with_own(scripts::JOIN));

/// The runs of all instances. Clones are the same.
#[derive(Clone)]
pub struct FleetRuns {
    engine: Engine,
    /// Read by each run that this instance owns, until the engine knows that it has ended.
    owned: Arc<RwLock<()>>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The URLs with a result.
    pub checked: usize,
    /// All URLs.
    pub total: usize,
    /// The documents without a URL.
    pub skipped: u64,
    /// The results by class: 2xx, 3xx, 4xx, 5xx, error.
    pub by_class: [u64; 5],
}

/// Where the result of a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedResult {
    /// When the run ended, by the engine's clock, in ms since 1970.
    pub ended: i64,
    /// When it ended, by the clock of its owner, in ms since 1970.
    pub time: i64,
    chunks: Chunks,
}

/// What an instance does about a run that a caller wants.
pub enum Joined {
    /// It checks the URLs, for all instances.
    Own(Ownership),
    /// Another instance does.
    Follow(Following),
    /// The result is there.
    Ended(SharedResult),
    /// There is no run, and this instance cannot begin one.
    None,
    /// The engine has not said in time whether there is a run; it may have begun this one.
    Unknown(Ownership),
}

impl FleetRuns {
    /// The runs that this engine knows.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine, owned: Arc::default() }
    }

    /// As [`Engine::instant_of`].
    #[must_use]
    pub fn instant_of(&self, engine_ms: i64) -> Instant {
        self.engine.instant_of(engine_ms)
    }

    /// Joins the run with this id, or begins it if `may_own`; a result is good for `reuse`.
    pub async fn join(
        &self,
        id: &str,
        may_own: bool,
        reuse: Duration,
        (progress, within): (&Progress, Duration),
    ) -> Joined {
        let token = format!("{}:{:016x}", self.engine.instance_id(), fastrand::u64(..));
        let own = Claim { engine: self.engine.clone(), id: id.to_owned(), token };
        let arguments = vec![
            self.engine.instance_id().into(),
            Argument::from(&own.token),
            own.sealed(progress).into(),
            millis(LIFETIME).into(),
            millis(reuse).into(),
            usize::from(may_own).into(),
        ];
        let joined = self.engine.script(&JOIN, &own.keys(), arguments, within).await;
        let Ok::<(String, String, Vec<u8>), EngineError>((is, token, sealed)) = joined else {
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
                // Without a result that is accepted, this instance begins a run.
                None => Box::pin(self.join(id, may_own, Duration::ZERO, (progress, within))).await,
            },
            _ => Joined::None,
        }
    }

    fn ownership(&self, claim: Claim) -> Ownership {
        // `None`: the process stops.
        Ownership::new(claim, Arc::clone(&self.owned).try_read_owned().ok())
    }

    /// Waits until the engine has been asked to release the runs of this instance, whose tasks have
    /// been ended.
    pub async fn released(&self) {
        drop(self.owned.write().await);
    }

    /// Whether the engine can be asked.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.engine.is_here()
    }

    /// The last results of the runs with these ids.
    ///
    /// # Errors
    /// [`EngineError`].
    pub async fn results(&self, ids: &[ListId]) -> Result<Vec<Option<SharedResult>>, EngineError> {
        let mut pipeline = redis::pipe();
        for id in ids {
            let key = self.engine.key(&format!("run:{id}:result"));
            pipeline.cmd("HMGET").arg(key).arg("run").arg("result");
        }
        let found: Vec<(Option<String>, Option<Vec<u8>>)> =
            self.engine.pipeline(&pipeline, WITHIN).await?;
        let result = |(id, (token, sealed)): (&ListId, (Option<String>, Option<Vec<u8>>))| {
            let claim = Claim { engine: self.engine.clone(), id: id.to_string(), token: token? };
            claim.result(&sealed?)
        };
        Ok(ids.iter().zip(found).map(result).collect())
    }

    /// The bytes of a result.
    ///
    /// # Errors
    /// [`DownloadError`], also for a damaged result.
    pub async fn download(&self, result: &SharedResult) -> Result<Vec<u8>, DownloadError> {
        self.engine.download(&result.chunks, MAX_RESULT_BYTES).await
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
