//! The client of Redis that several instances share: Redis or Valkey (D51). It provides
//! commands, scripts, leases, sealed values, chunks, an event stream and a clock, and does not
//! depend on sites and snapshots.
//!
//! No value that comes from Redis is trusted before [`Client::open`] has accepted it.
//!
//! # Design
//!
//! - **One script a second**, the heartbeat, does all periodic work (`heartbeat`), so that an
//!   instance sends one command a second however many leases it requests. `AvailabilityWatch`
//!   derives the state of Redis from it, and numbers the sessions.
//! - **The client reconnects by itself, but not after each failure.** After a refused handshake,
//!   for example because of a wrong password, the crate's `ConnectionManager` returns that error
//!   for ever. It also stays connected to a machine that has become a replica. So each failed
//!   heartbeat replaces the manager; commands in flight keep the old one until they end.
//! - **Reads that block** have a connection of their own (`reader`): on the connection for
//!   commands, all commands would wait behind them. The reader is a task with a queue, so that a
//!   caller may stop waiting at any moment.
//! - **Scripts return the number of their call**, so that an instance notices an answer that
//!   belongs to another call. Scripts are sent by hash, and with their text only if Redis
//!   does not know the hash. Each call computes the hash, which takes 6 µs for a text of 5 kB.

mod availability;
mod bounded;
mod chunks;
mod clock;
mod commands;
mod connection;
mod error;
mod events;
mod heartbeat;
mod lease;
mod probe;
mod seal;
mod settings;

pub use availability::Availability;
pub use bounded::StreamEntry;
pub use chunks::{CHUNK_BYTES, Chunks, DownloadError};
pub use commands::Argument;
pub use error::Error;
pub use events::{Event, EventReader, Kept, Read, SealedEvent, StreamId};
pub use lease::Lease;
pub use probe::{COMMANDS, Probe, probe};
pub use seal::BadSeal;
pub use settings::{MIN_KEY_BYTES, RedisUrl, RedisUrlError, Settings};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use availability::AvailabilityWatch;
use clock::ServerClock;
#[cfg(test)]
pub(crate) use commands::whole;
use connection::Connection;
use frontend_map_platform::metrics::RedisCounters;
#[cfg(test)]
pub(crate) use heartbeat::BEAT;
use heartbeat::Deployments;
use lease::LeaseRegistry;
use seal::Sealer;

/// The longest time that an answer to a client waits for Redis.
pub const ANSWER_WAIT: Duration = Duration::from_millis(50);

/// The version of the layout of keys and values: instances with another version share nothing.
const LAYOUT: u32 = 2;

/// Redis, as one instance of a fleet sees it. Clones are the same Redis; when the last one is
/// dropped, the heartbeat ends and leases expire.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    /// The beginning of all keys: the prefix, the version of the layout, and the id of the key of
    /// seals.
    base: String,
    instance: String,
    connection: Connection,
    availability: AvailabilityWatch,
    clock: ServerClock,
    leases: Arc<LeaseRegistry>,
    /// The last known number of instances.
    instances: AtomicUsize,
    deployments: Deployments,
    /// When the event stream was last read up to its end; `None`: not yet.
    events_read: Mutex<Option<Instant>>,
    sealer: Sealer,
    counters: Arc<RedisCounters>,
}

impl Client {
    /// Starts the heartbeat, which connects; waits for nothing. Must be called within a runtime.
    pub fn start(settings: &Settings, counters: Arc<RedisCounters>) -> Self {
        let instance = format!("{:032x}", fastrand::u128(..));
        let sealer = Sealer::new(&settings.prefix, settings.key.as_ref());
        let client = Self(Arc::new(Inner {
            connection: Connection::new(settings),
            availability: AvailabilityWatch::default(),
            clock: ServerClock::new(),
            leases: Arc::default(),
            instances: AtomicUsize::new(1),
            deployments: Deployments::default(),
            events_read: Mutex::default(),
            base: base(&settings.prefix, &sealer),
            sealer,
            instance,
            counters,
        }));
        tokio::spawn(heartbeat::run(Arc::downgrade(&client.0)));
        client
    }

    /// Whether Redis is available now.
    pub fn is_available(&self) -> bool {
        matches!(self.availability(), Availability::Available { .. })
    }

    /// Whether Redis is unavailable; not while the first connection is tried.
    pub(crate) fn is_unavailable(&self) -> bool {
        matches!(self.availability(), Availability::Unavailable { .. })
    }

    /// Whether Redis is available now.
    pub fn availability(&self) -> Availability {
        self.0.availability.get()
    }

    /// The time since Redis became usable, or ceased to be; if it never was usable, since the
    /// start.
    pub fn availability_age(&self) -> Duration {
        self.0.availability.age()
    }

    /// The time without Redis in this outage. Less than five seconds with Redis do not end it, and do not
    /// count. `None`: Redis is not unavailable.
    pub(crate) fn outage_age(&self) -> Option<Duration> {
        self.0.availability.outage_age()
    }

    /// The availability, and each change of it.
    pub fn watch(&self) -> watch::Receiver<Availability> {
        self.0.availability.watch()
    }

    /// The last known number of instances, this one included: at least 1. It stays the same while
    /// Redis is unavailable.
    pub fn instances(&self) -> usize {
        self.0.instances.load(Ordering::Relaxed).max(1)
    }

    /// Sets what distinguishes the deployment of this instance from others, in words. Instances tell
    /// each other by their heartbeats.
    pub fn set_deployment(&self, description: &str) {
        self.0.deployments.set_own(&self.0.sealer, description);
    }

    /// The other deployments that use the same keys, at most ten: a rolling deployment that is not
    /// over, or a prefix that is used twice.
    pub fn other_deployments(&self) -> Vec<String> {
        self.0.deployments.others()
    }

    /// The random id of this process: 32 hexadecimal digits.
    pub fn instance_id(&self) -> &str {
        &self.0.instance
    }

    /// The counters of this Redis.
    pub fn counters(&self) -> &RedisCounters {
        &self.0.counters
    }

    /// The key with this name in Redis: it begins with the prefix, the version of the layout
    /// and, if there is a key of seals, the id of that key. So instances with another key of seals
    /// are another fleet: otherwise each would refuse the values of the other.
    pub fn key(&self, name: &str) -> String {
        format!("{}:{name}", self.0.base)
    }

    /// The time by Redis's clock, in ms since 1970; before the first heartbeat, by the system
    /// clock of this instance.
    pub fn now_ms(&self) -> i64 {
        self.0.clock.now_ms()
    }

    /// The instant of this time of Redis's clock, in ms since 1970. A time in the future
    /// counts as now.
    pub fn instant_of(&self, server_ms: i64) -> Instant {
        self.0.clock.instant_of(server_ms)
    }

    /// The lease with this name: while Redis is available, each heartbeat tries to get or to renew it,
    /// until all clones are dropped. Two calls with one name get the same lease.
    pub fn lease(&self, name: &str) -> Lease {
        self.0.leases.lease(name, || self.key(&format!("lease:{name}")), &self.0.instance)
    }

    /// Releases all leases and requests none from now on, so that other instances can get them at
    /// once. For a graceful stop.
    pub async fn release_leases(&self) {
        heartbeat::leave(self).await;
    }

    /// The body, followed by its seal: an HMAC-SHA256 of 32 bytes with a key, an XXH3 checksum of
    /// 16 bytes without one. The seal also covers the `context`, which says what the value is
    /// (kind, id, version), so that values cannot be swapped.
    pub fn seal(&self, context: &str, body: &[u8]) -> Vec<u8> {
        self.0.sealer.seal(context, body)
    }

    /// The body of a sealed value.
    ///
    /// # Errors
    /// [`BadSeal`] if the value is damaged, has another context, or was sealed with another key.
    /// The refusal is counted.
    pub fn open<'b>(&self, context: &str, sealed: &'b [u8]) -> Result<&'b [u8], BadSeal> {
        let opened = self.0.sealer.open(context, sealed);
        if opened.is_err() {
            self.0.counters.refused_seals.inc();
        }
        opened
    }

    /// A value of texts and numbers, as sealed JSON.
    pub(crate) fn seal_json(&self, context: &str, value: &impl Serialize) -> Vec<u8> {
        self.seal(context, &serde_json::to_vec(value).expect("texts and numbers are JSON"))
    }

    /// The value of sealed JSON; `None`: it is damaged or forged, or another version of the service has
    /// written it.
    pub(crate) fn open_json<T: DeserializeOwned>(&self, context: &str, sealed: &[u8]) -> Option<T> {
        serde_json::from_slice(self.open(context, sealed).ok()?).ok()
    }
}

fn base(prefix: &str, sealer: &Sealer) -> String {
    match sealer.key_id() {
        Some(id) => format!("{prefix}:{LAYOUT}-{id}"),
        None => format!("{prefix}:{LAYOUT}"),
    }
}
