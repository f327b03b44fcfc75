//! Requests of callers, by route.
//!
//! Operation 4.1 takes some ten microseconds on each core. So a request costs three additions to
//! counters that no other worker thread writes to, and cores do not hand them to each other.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use super::{Closed, Count, Histogram, Latency, Page, number};

closed! {
    /// What was asked for.
    pub enum Route {
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
        let is = |route: &&Self| path == route.name();
        match Self::ALL.iter().find(is) {
            Some(Self::Sitemaps | Self::Other) => Self::Other,
            Some(route) => *route,
            None if path.starts_with("/sitemaps/") => Self::Sitemaps,
            None => Self::Other,
        }
    }
}

closed! {
    /// The class of a status.
    pub enum Class {
        /// Also that nothing has changed is told by a 3xx.
        Success => "2xx",
        /// 304: nothing else leads elsewhere.
        Redirect => "3xx",
        /// The caller's fault, or there is no such thing.
        Client => "4xx",
        /// Ours, or the CMS's.
        Server => "5xx",
    }
}

impl Class {
    fn of(status: u16) -> Self {
        match status {
            ..300 => Self::Success,
            300..400 => Self::Redirect,
            400..500 => Self::Client,
            500.. => Self::Server,
        }
    }
}

/// As many as worker threads that are likely; more share.
const SHARDS: usize = 8;
const ROUTES: usize = Route::ALL.len();
const CLASSES: usize = Class::ALL.len();

/// What the threads of one shard have counted. Two lines of a cache are fetched together.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard([OfRoute; ROUTES]);

#[derive(Debug, Default)]
struct OfRoute {
    classes: [Count; CLASSES],
    latency: Latency,
}

/// Requests of callers.
#[derive(Debug, Default)]
pub struct Requests {
    shards: Box<[Shard; SHARDS]>,
    in_flight: AtomicU64,
    /// Those whose client left before there was an answer.
    pub abandoned: Count,
    /// Those that were refused because too many were under way.
    pub shed: Count,
}

static NEXT_SHARD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = NEXT_SHARD.fetch_add(1, Relaxed) % SHARDS;
}

/// A request whose answer takes its time; dropped before the answer is there, its client has left.
#[derive(Debug)]
pub struct InFlight<'m> {
    requests: &'m Requests,
    answered: bool,
}

impl InFlight<'_> {
    /// The answer is there.
    pub fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.requests.in_flight.fetch_sub(1, Relaxed);
        if !self.answered {
            self.requests.abandoned.one();
        }
    }
}

impl Requests {
    /// A request has come whose answer takes its time.
    #[must_use]
    pub fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Relaxed);
        InFlight { requests: self, answered: false }
    }

    /// A request has its answer.
    pub fn end(&self, route: Route, status: u16, taken: Duration) {
        let of_route = &self.shards[SHARD.with(|shard| *shard)].0[route.place()];
        of_route.classes[Class::of(status).place()].one();
        of_route.latency.observe(taken);
    }

    fn count(&self, route: Route, class: Class) -> u64 {
        let counts = self.shards.iter().map(|shard| &shard.0[route.place()].classes);
        counts.map(|classes| classes[class.place()].get()).sum()
    }

    fn histogram(&self, route: Route) -> Histogram {
        let mut histogram = Histogram::default();
        for shard in self.shards.iter() {
            shard.0[route.place()].latency.add_to(&mut histogram);
        }
        histogram
    }

    pub(super) fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        let of_class = |route: Route, class: Class| {
            ([("route", route.name()), ("class", class.name())], self.count(route, class))
        };
        let by_class = Route::ALL
            .iter()
            .flat_map(|route| Class::ALL.iter().map(move |class| (*route, *class)));
        let by_class = by_class.map(|(route, class)| of_class(route, class));
        page.count("requests", "Requests with an answer", by_class)?;
        let latency =
            Route::ALL.iter().map(|route| ([("route", route.name())], self.histogram(*route)));
        page.histogram(
            "request_seconds",
            "Time from a request's head to the head of its answer",
            latency,
        )?;
        page.one_count(
            "requests_abandoned",
            "Requests whose client left before there was an answer",
            &self.abandoned,
        )?;
        page.one_count(
            "requests_shed",
            "Requests refused because too many were under way",
            &self.shed,
        )?;
        let in_flight = number(self.in_flight.load(Relaxed));
        page.gauge("requests_in_flight", "Requests that wait for their answer", [([], in_flight)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_has_one_of_the_routes() {
        for route in Route::ALL {
            let known = !matches!(route, Route::Sitemaps | Route::Other);
            assert_eq!(Route::of(route.name()) == *route, known || *route == Route::Other);
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
        assert_eq!(requests.count(Route::Hook, Class::Success), SHARDS as u64 + 1);
        assert_eq!(requests.count(Route::Hook, Class::Server), 1);
        assert_eq!(requests.histogram(Route::Hook).count(), SHARDS as u64 + 2);
        assert_eq!(requests.histogram(Route::Live), Histogram::default());
    }
}
