//! Requests of clients by route.
//!
//! `/api/get-content-type` takes some ten microseconds. So a request costs three additions to
//! counters that no other worker thread writes to: cores do not contend for a cache line.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use super::{Counter, Encoder, Label, LatencyHistogram, LatencySnapshot, gauge_value};

label! {
    /// The class of a status.
    pub enum StatusClass as "class" {
        /// 2xx.
        Success => "2xx",
        /// 304: the service sends no redirects.
        NotModified => "3xx",
        /// The request is wrong, or nothing is found.
        ClientError => "4xx",
        /// The service or the CMS failed.
        ServerError => "5xx",
    }
}

impl StatusClass {
    fn of(status: u16) -> Self {
        match status {
            ..300 => Self::Success,
            300..400 => Self::NotModified,
            400..500 => Self::ClientError,
            500.. => Self::ServerError,
        }
    }
}

/// One for each of up to 8 worker threads; with more threads, some share a shard.
const SHARDS: usize = 8;
const CLASSES: usize = StatusClass::ALL.len();

/// The counters of all routes.
#[derive(Debug)]
struct Routes {
    labels: Box<[&'static str]>,
    /// The counters of one shard after the other, in the order of the labels.
    counters: Box<[RouteCounters]>,
}

/// The counters of one route in one shard. Aligned to two cache lines, which processors fetch as a
/// pair.
#[derive(Debug, Default)]
#[repr(align(128))]
struct RouteCounters {
    classes: [AtomicU64; CLASSES],
    latency: LatencyHistogram,
}

/// Requests of clients.
#[derive(Debug, Default)]
pub struct Requests {
    routes: OnceLock<Routes>,
    in_flight: AtomicU64,
    /// Requests whose client disconnected before the response.
    pub abandoned: Counter,
    /// Requests refused at the in-flight limit.
    pub shed: Counter,
}

static NEXT_SHARD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = NEXT_SHARD.fetch_add(1, Relaxed) % SHARDS;
}

/// A request in flight. Dropped without [`InFlight::answered`], it counts as abandoned.
#[derive(Debug)]
pub struct InFlight<'m> {
    requests: &'m Requests,
    answered: bool,
}

impl InFlight<'_> {
    /// The response is ready.
    pub fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.requests.in_flight.fetch_sub(1, Relaxed);
        if !self.answered {
            self.requests.abandoned.inc();
        }
    }
}

impl Routes {
    fn new(labels: impl IntoIterator<Item = &'static str>) -> Self {
        let labels: Box<[_]> = labels.into_iter().collect();
        let counters = (0..SHARDS * labels.len()).map(|_| RouteCounters::default()).collect();
        Self { labels, counters }
    }

    /// The counters of a route, by shard.
    fn of(&self, route: usize) -> impl Iterator<Item = &RouteCounters> {
        self.counters.iter().skip(route).step_by(self.labels.len())
    }

    fn count(&self, route: usize, class: StatusClass) -> u64 {
        self.of(route).map(|counters| counters.classes[class.index()].load(Relaxed)).sum()
    }

    fn latency(&self, route: usize) -> LatencySnapshot {
        let mut snapshot = LatencySnapshot::default();
        self.of(route).for_each(|counters| counters.latency.add_to(&mut snapshot));
        snapshot
    }

    fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        let routes = || self.labels.iter().copied().enumerate();
        let by_class = routes().flat_map(|(route, label)| {
            StatusClass::ALL.iter().map(move |class| {
                ([("route", label), ("class", class.as_str())], self.count(route, *class))
            })
        });
        encoder.counter("requests", "Requests with a response, by route and status", by_class)?;
        encoder.histogram(
            "request_seconds",
            "Time from the head of a request to the head of its response",
            routes().map(|(route, label)| ([("route", label)], self.latency(route))),
        )
    }
}

impl Requests {
    /// Sets the labels of the routes, before the first request. The first call counts; a reload has
    /// the same routes.
    pub fn set_routes(&self, labels: impl IntoIterator<Item = &'static str>) {
        self.routes.get_or_init(|| Routes::new(labels));
    }

    /// Counts a request as in flight until the guard is dropped.
    pub fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Relaxed);
        InFlight { requests: self, answered: false }
    }

    /// Counts a request that has its response; `route` is the index of the label of its route.
    ///
    /// # Panics
    /// If [`Requests::set_routes`] was not called, or with fewer labels.
    pub fn end(&self, route: usize, status: u16, duration: Duration) {
        let routes = self.routes.get().expect("a service sets the routes before its first request");
        let shard = SHARD.with(|shard| *shard);
        let counters = &routes.counters[shard * routes.labels.len() + route];
        counters.classes[StatusClass::of(status).index()].fetch_add(1, Relaxed);
        counters.latency.observe(duration);
    }

    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        if let Some(routes) = self.routes.get() {
            routes.encode(encoder)?;
        }
        encoder.metric(
            "requests_abandoned",
            "Requests whose client disconnected before the response",
            &self.abandoned,
        )?;
        encoder.metric(
            "requests_shed",
            "Requests refused because the in-flight limit was reached",
            &self.shed,
        )?;
        let in_flight = gauge_value(self.in_flight.load(Relaxed));
        encoder.gauge("requests_in_flight", "Requests in flight", [([], in_flight)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_adds_up_over_all_threads() {
        let requests = Requests::default();
        requests.set_routes(["/a", "/b"]);
        std::thread::scope(|scope| {
            for _ in 0..=SHARDS {
                scope.spawn(|| requests.end(1, 204, Duration::from_millis(3)));
            }
        });
        requests.end(1, 503, Duration::from_secs(500));
        let routes = requests.routes.get().expect("the routes are set");
        assert_eq!(routes.count(1, StatusClass::Success), SHARDS as u64 + 1);
        assert_eq!(routes.count(1, StatusClass::ServerError), 1);
        assert_eq!(routes.latency(1).count(), SHARDS as u64 + 2);
        assert_eq!(routes.latency(0), LatencySnapshot::default());
    }
}
