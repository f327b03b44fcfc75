//! Sends an admitted request with at most one retry, and reports each attempt to the circuit breaker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tower::retry::budget::{Budget, TpsBudget};

use super::breaker::{Admission, Breaker, BreakerState, RequestOutcome, jittered};
use super::limiter::Permit;
use super::reply::{Failure, Reply, Signal};
use super::transport::{Request, Transport};
use crate::strapi::settings::{StrapiError, StrapiSettings};
use crate::{ContentError, Outage};
use frontend_map_platform::metrics::Metrics;

/// The pause before the retry, which is meant for idle connections that the CMS has closed; a CMS that
/// restarts refuses connections for longer. It varies by half, because many connections may break at
/// once.
const PAUSE: Duration = Duration::from_millis(50);
const JITTER: f64 = 0.5;
/// How much less time the retry has than the first attempt. So both attempts, the pause included, end
/// within twice the time of one: a caller that waits that long gets a response, and the breaker records
/// both outcomes.
const RETRY_TIME_LESS: Duration = Duration::from_millis(150);

/// Retries are at most this part of the requests of the last `BUDGET_WINDOW`, and one a second more.
const BUDGET_PART: f32 = 0.1;
const BUDGET_WINDOW: Duration = Duration::from_secs(10);
const BUDGET_PER_SECOND: u32 = 1;

/// The transport behind the circuit breaker and the retry budget.
pub(super) struct RetryingSender {
    transport: Transport,
    pub(super) breaker: Breaker,
    budget: TpsBudget,
    /// For one attempt with its whole response.
    time: Duration,
    metrics: Arc<Metrics>,
    /// The address of the CMS, for the log.
    address: String,
    /// What has failed last, for errors while the breaker is open.
    last_outage: Mutex<Option<Outage>>,
}

impl RetryingSender {
    pub(super) fn new(
        settings: &StrapiSettings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, StrapiError> {
        Ok(Self {
            transport: Transport::new(settings, Arc::clone(&metrics))?,
            breaker: Breaker::new(),
            budget: TpsBudget::new(BUDGET_WINDOW, BUDGET_PER_SECOND, BUDGET_PART),
            time: settings.limits.request,
            metrics,
            address: settings.url.as_str().trim_end_matches('/').to_owned(),
            last_outage: Mutex::default(),
        })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Counts a request that is not sent, and returns its error.
    pub(super) fn reject(&self) -> ContentError {
        self.metrics.cms.shed();
        self.circuit_open(self.breaker.state())
    }

    /// The error of a request while the breaker is open.
    pub(super) fn circuit_open(&self, state: BreakerState) -> ContentError {
        let retry_after = state.retry_after(Instant::now());
        ContentError::CircuitOpen { retry_after, cause: *self.last_outage.lock() }
    }

    /// Sends a request, and once more after a transient failure (D23), with the same permit.
    pub(super) async fn send(
        self: Arc<Self>,
        request: Request,
        admission: Admission,
        _permit: Permit,
    ) -> Result<Reply, ContentError> {
        self.budget.deposit();
        let first = self.transport.attempt(&request, self.time).await;
        let broke = matches!(first, Err(Failure { signal: Signal::ConnectionBroke, .. }));
        if !self.takes_retry(&request, admission, &first) {
            // A request that is never retried counts as a request and its retry.
            let weight = if request.may_retry || broke { 1 } else { 2 };
            self.record(admission, &first, weight);
            return first.map_err(|failure| failure.error);
        }
        // A broken connection alone says nothing about the CMS: the retry decides.
        self.record(admission, &first, u32::from(!broke));
        tokio::time::sleep(jittered(PAUSE, JITTER)).await;
        let Some(admission) = self.breaker.admit() else {
            return first.map_err(|failure| failure.error);
        };
        let time = self.time.saturating_sub(RETRY_TIME_LESS.min(self.time / 4));
        let second = self.transport.attempt(&request, time).await;
        self.record(admission, &second, 1 + u32::from(broke));
        second.map_err(|failure| failure.error)
    }

    /// Whether a retry is allowed; if so, it is taken from the budget.
    fn takes_retry(
        &self,
        request: &Request,
        admission: Admission,
        first: &Result<Reply, Failure>,
    ) -> bool {
        let is_transient = matches!(first, Err(Failure { is_transient: true, .. }));
        if admission.is_probe || !request.may_retry || !is_transient {
            return false;
        }
        let granted = self.budget.withdraw();
        self.metrics.cms.retry(granted);
        granted
    }

    /// Records the outcome of an attempt; a failure counts as `weight` failures.
    fn record(&self, admission: Admission, reply: &Result<Reply, Failure>, weight: u32) {
        let outcome = match reply {
            Ok(_) | Err(Failure { signal: Signal::Responding, .. }) => RequestOutcome::Success,
            Err(Failure { signal: Signal::LocalFault, .. }) => RequestOutcome::Inconclusive,
            Err(Failure { error: ContentError::Unavailable { retry_after, .. }, .. }) => {
                RequestOutcome::Failure {
                    weight,
                    retry_after: retry_after.map(Duration::from_secs),
                }
            }
            Err(_) => RequestOutcome::Failure { weight, retry_after: None },
        };
        // Before the breaker opens, so that the first refused request has it.
        if let Some(outage) = reply.as_ref().err().and_then(|failure| outage(&failure.error)) {
            *self.last_outage.lock() = Some(outage);
        }
        if self.breaker.record(admission, outcome) {
            self.metrics.cms.breaker_openings.inc();
            let error = reply.as_ref().err().map(|failure| failure.error.detail());
            let cms = &self.address;
            tracing::warn!(cms, error, "the CMS fails: the circuit breaker is open");
        }
    }
}

/// What has failed, if the CMS may be down.
fn outage(error: &ContentError) -> Option<Outage> {
    match error {
        ContentError::Unavailable { outage, .. } => Some(*outage),
        ContentError::TimedOut => Some(Outage::NoResponse),
        _ => None,
    }
}
