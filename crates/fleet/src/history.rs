//! The path history that all instances share (D43, D57): its rows are in Redis. Each instance
//! reads them when it starts, and adds its own.

mod sharing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::redis::{self, Chunks, DownloadError, Event};
use frontend_map_catalog::moved::history::{Mirror, PathHistory, Row};
use frontend_map_platform::clock::unix_ms;
use sharing::is_path;

/// The kind of the event that announces rows.
pub const EVENT: &str = "history";
/// How often this instance writes its new rows.
const PERIOD: Duration = Duration::from_millis(250);
/// The pause after an error of Redis.
const PAUSE: Duration = Duration::from_secs(1);
/// The most rows in an event; more are uploaded in chunks.
const MAX_INLINE: usize = 100;
/// How long such chunks stay. An instance that needs longer reads all rows instead.
const CHUNKS_TTL: Duration = Duration::from_mins(10);
/// The most bytes of uploaded rows that are read.
const MAX_BYTES: usize = 64 << 20;

/// The shared path history. Clones share their state.
#[derive(Clone)]
pub struct SharedHistory {
    redis: redis::Client,
    history: Arc<PathHistory>,
    inner: Arc<Inner>,
}

struct Inner {
    /// The sites with the sources of their documents.
    sites: Mutex<BTreeMap<String, u128>>,
    state: Mutex<Due>,
    is_due: Notify,
}

/// The reads that are due.
#[derive(Default)]
struct Due {
    /// Whether all rows are to be read: some may have been missed, or a site is new.
    all: bool,
    /// The bodies of events about rows.
    announced: Vec<Vec<u8>>,
}

/// The body of an event.
#[derive(Serialize, Deserialize)]
enum Announcement {
    Rows(Vec<Row>),
    Chunks(Chunks),
    /// A foreign value was removed in place of the rows of a site: each instance writes its own again.
    Removed,
}

impl SharedHistory {
    /// The history in this Redis; `history` is that of this instance.
    pub fn new(redis: redis::Client, history: Arc<PathHistory>) -> Self {
        history.keep_changes(Mirror::Fleet);
        // Else the instance whose clock is ahead had each path last.
        let clock = redis.clone();
        history.set_clock(move || clock.now_ms());
        let inner =
            Inner { sites: Mutex::default(), state: Mutex::default(), is_due: Notify::new() };
        Self { redis, history, inner: Arc::new(inner) }
    }

    /// Sets the source of a site's documents.
    pub fn set_site(&self, site: &str, source: u128) {
        let before = self.inner.sites.lock().insert(site.to_owned(), source);
        if before != Some(source) {
            self.read_all_soon();
        }
    }

    /// Schedules a read of all rows, because some may have been missed.
    pub fn read_all_soon(&self) {
        self.inner.state.lock().all = true;
        self.inner.is_due.notify_one();
    }

    /// Schedules a read of the rows of an event. Returns `false` if the event is of another kind.
    #[must_use]
    pub fn read_event(&self, event: &Event) -> bool {
        if event.kind != EVENT {
            return false;
        }
        self.inner.state.lock().announced.push(event.body.clone());
        self.inner.is_due.notify_one();
        true
    }

    /// Shares the history as long as the process runs.
    pub async fn run(self) {
        let mut session = None;
        loop {
            let now = match self.redis.availability() {
                redis::Availability::Available { session } => Some(session),
                _ => None,
            };
            if now.is_none() {
                sleep(PERIOD).await;
                continue;
            }
            if session != now {
                self.inner.state.lock().all = true;
            }
            match self.work().await {
                Ok(()) => session = now,
                Err(_) => sleep(PAUSE).await,
            }
            let _ = timeout(PERIOD, self.inner.is_due.notified()).await;
        }
    }

    async fn work(&self) -> Result<(), redis::Error> {
        let Due { all, announced } = std::mem::take(&mut *self.inner.state.lock());
        if all && let Err(error) = self.read_all().await {
            self.inner.state.lock().all = true;
            return Err(error);
        }
        for body in announced {
            self.read_announced(&body).await;
        }
        self.share_changes().await
    }

    /// Merges the rows of an event. If they are missing or damaged, schedules a read of all rows.
    async fn read_announced(&self, body: &[u8]) {
        let rows = match serde_json::from_slice(body) {
            Ok(Announcement::Rows(rows)) => Some(rows),
            Ok(Announcement::Chunks(chunks)) => self.download(&chunks).await.ok().flatten(),
            Ok(Announcement::Removed) => {
                self.history.keep_all(Mirror::Fleet);
                None
            }
            // Another version of the service has written it.
            Err(_) => None,
        };
        match rows {
            Some(rows) => self.merge(rows.into_iter().filter(|row| is_path(&row.path))),
            None => self.read_all_soon(),
        }
    }

    async fn download(&self, chunks: &Chunks) -> Result<Option<Vec<Row>>, DownloadError> {
        let text = self.redis.download(chunks, MAX_BYTES).await?;
        Ok(serde_json::from_slice(&text).ok())
    }

    fn merge(&self, rows: impl IntoIterator<Item = Row>) {
        let now = self.history.now(unix_ms);
        rows.into_iter().for_each(|row| self.history.merge(&row, now));
    }

    /// Announces to the other instances the rows that Redis did not have.
    async fn announce(&self, rows: Vec<Row>) -> Result<(), redis::Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let announcement = if rows.len() <= MAX_INLINE {
            Announcement::Rows(rows)
        } else {
            let text = serde_json::to_vec(&rows).expect("texts and numbers are JSON");
            let name = format!("history-rows:{:032x}", fastrand::u128(..));
            Announcement::Chunks(self.redis.upload(&name, &text, CHUNKS_TTL).await?)
        };
        let body = serde_json::to_vec(&announcement).expect("texts and numbers are JSON");
        self.redis.append(EVENT, &body, Duration::from_secs(2)).await.map(drop)
    }
}
