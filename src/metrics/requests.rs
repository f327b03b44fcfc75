//! Requests of clients by route.
//!
//! `/api/get-content-type` takes some ten microseconds. So a request costs three additions to
//! counters that no other worker thread writes to: cores do not contend for a cache line.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;

use super::{Encoder, Label, LatencyHistogram, LatencySnapshot, gauge_value};

label! {
    /// The route of a request.
    pub enum Route as "route" {
        /// Operation 4.1.
        ContentType => "/api/get-content-type",
        /// The same with its document.
        Resolve => "/api/resolve",
        /// Operation 4.2.
        FrontendUrl => "/api/frontend-url",
        /// Operation 4.3.
        BuildSitemap => "/api/build-sitemap",
        /// The crawlers' files.
        Sitemaps => "/sitemaps",
        /// The webhook.
        Hook => "/hooks/cms",
        /// The process answers.
        Live => "/livez",
        /// The service takes new work.
        Ready => "/readyz",
        /// Anything else.
        Other => "other",
    }
}

impl Route {
    /// The route of a path, which may be anything.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let is = |route: &&Self| path == route.as_str();
        match Self::ALL.iter().find(is) {
            Some(Self::Sitemaps | Self::Other) => Self::Other,
            Some(route) => *route,
            None if path.starts_with("/sitemaps/") => Self::Sitemaps,
            None => Self::Other,
        }
    }
}

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
const ROUTES: usize = Route::ALL.len();
const CLASSES: usize = StatusClass::ALL.len();

/// The counters of one shard. Aligned to two cache lines, which processors fetch as a pair.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard([RouteCounters; ROUTES]);

#[derive(Debug, Default)]
struct RouteCounters {
    classes: [AtomicU64; CLASSES],
    latency: LatencyHistogram,
}

/// Requests of clients.
#[derive(Debug, Default)]
pub struct Requests {
    shards: Box<[Shard; SHARDS]>,
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

impl Requests {
    /// Counts a request as in flight until the guard is dropped.
    #[must_use]
    pub fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Relaxed);
        InFlight { requests: self, answered: false }
    }

    /// Counts a request that has its response.
    pub fn end(&self, route: Route, status: u16, taken: Duration) {
        let counters = &self.shards[SHARD.with(|shard| *shard)].0[route.index()];
        counters.classes[StatusClass::of(status).index()].fetch_add(1, Relaxed);
        counters.latency.observe(taken);
    }

    fn count(&self, route: Route, class: StatusClass) -> u64 {
        let counts = self.shards.iter().map(|shard| &shard.0[route.index()].classes);
        counts.map(|classes| classes[class.index()].load(Relaxed)).sum()
    }

    fn latency(&self, route: Route) -> LatencySnapshot {
        let mut snapshot = LatencySnapshot::default();
        for shard in self.shards.iter() {
            shard.0[route.index()].latency.add_to(&mut snapshot);
        }
        snapshot
    }

    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        let of_class = |route: Route, class: StatusClass| {
            ([("route", route.as_str()), ("class", class.as_str())], self.count(route, class))
        };
        let by_class = Route::ALL
            .iter()
            .flat_map(|route| StatusClass::ALL.iter().map(move |class| (*route, *class)));
        let by_class = by_class.map(|(route, class)| of_class(route, class));
        encoder.counter("requests", "Requests with a response, by route and status", by_class)?;
        let latency =
            Route::ALL.iter().map(|route| ([("route", route.as_str())], self.latency(*route)));
        encoder.histogram(
            "request_seconds",
            "Time from the head of a request to the head of its response",
            latency,
        )?;
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
    fn any_path_has_one_of_the_routes() {
        for route in Route::ALL {
            let known = !matches!(route, Route::Sitemaps | Route::Other);
            assert_eq!(Route::of(route.as_str()) == *route, known || *route == Route::Other);
        }
        assert_eq!(Route::of("/sitemaps/main/index.xml"), Route::Sitemaps);
        for path in ["", "/", "/sitemaps", "/api/resolve/", "/LIVEZ", "other"] {
            assert_eq!(Route::of(path), Route::Other, "{path}");
        }
    }

    #[test]
    fn what_all_threads_count_adds_up() {
        let requests = Requests::default();
        std::thread::scope(|scope| {
            for _ in 0..=SHARDS {
                scope.spawn(|| requests.end(Route::Hook, 204, Duration::from_millis(3)));
            }
        });
        requests.end(Route::Hook, 503, Duration::from_secs(500));
        assert_eq!(requests.count(Route::Hook, StatusClass::Success), SHARDS as u64 + 1);
        assert_eq!(requests.count(Route::Hook, StatusClass::ServerError), 1);
        assert_eq!(requests.latency(Route::Hook).count(), SHARDS as u64 + 2);
        assert_eq!(requests.latency(Route::Live), LatencySnapshot::default());
    }
}
