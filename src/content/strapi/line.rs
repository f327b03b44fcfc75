//! One request to Strapi that has its turn: the breaker, the one retry, what is counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use tower::retry::budget::{Budget, TpsBudget};

use super::answer::{Failure, Reply, Sign, answer, broken};
use super::breaker::{Breaker, BreakerState, Pass, Verdict};
use super::random::jittered;
use super::turns::Turn;
use super::{StrapiError, StrapiLimits, StrapiSettings};
use crate::content::ContentError;
use crate::metrics::{CmsOutcome, Label, Metrics};
use crate::outgoing::client_builder;
use crate::traces;

/// Before the one retry: a restarting CMS refuses for longer, a closed idle connection does not.
/// Half of it more or less, because many connections may break at once.
const PAUSE: Duration = Duration::from_millis(50);
const JITTER: f64 = 0.5;
/// What a retry has less time than the first request: whoever waits twice as long as for one gets
/// an answer, and the breaker knows of both.
const AHEAD: Duration = Duration::from_millis(150);

/// Retries are at most this part of the requests of the last ten seconds, and ten more.
const RETRIES: f32 = 0.1;
const RETRY_WINDOW: Duration = Duration::from_secs(10);
const RETRIES_A_SECOND: u32 = 1;

/// What a request needs once it has its turn.
pub(super) struct Line {
    http: reqwest::Client,
    /// Up to and with `/api/`.
    base: String,
    pub(super) limits: StrapiLimits,
    pub(super) breaker: Breaker,
    budget: TpsBudget,
    metrics: Arc<Metrics>,
}

/// What is asked for.
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) query: String,
    /// The most bytes of an answer.
    pub(super) most: usize,
    /// Whether it is a list.
    pub(super) list: bool,
    /// Whether it may be asked again.
    pub(super) twice: bool,
}

impl Line {
    pub(super) fn new(
        settings: &StrapiSettings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, StrapiError> {
        let limits = settings.limits;
        let builder = client_builder()?
            .connect_timeout(limits.connect)
            .default_headers(headers(settings.token.as_ref())?);
        Ok(Self {
            http: builder.build().map_err(|_| StrapiError::Client)?,
            base: format!("{}/api/", settings.url.as_str().trim_end_matches('/')),
            limits,
            breaker: Breaker::new(),
            budget: TpsBudget::new(RETRY_WINDOW, RETRIES_A_SECOND, RETRIES),
            metrics,
        })
    }

    /// What is said to who is not let through.
    pub(super) fn shed(&self) -> ContentError {
        self.metrics.cms.shed();
        not_asked(self.breaker.health())
    }

    /// At most one retry (D23), and none where Strapi said no.
    pub(super) async fn call(
        self: Arc<Self>,
        asked: Asked,
        pass: Pass,
        _turn: Turn,
    ) -> Result<Reply, ContentError> {
        self.budget.deposit();
        let first = self.attempt(&asked, self.limits.request).await;
        let unsure = matches!(first, Err(Failure { sign: Sign::Broke, .. }));
        if !self.may_retry(&asked, pass, &first) {
            // What is asked once stands for a request and its retry.
            self.settle(pass, &first, if asked.twice || unsure { 1 } else { 2 });
            return first.map_err(|failure| failure.error);
        }
        // Of a connection that broke only the retry tells what it means.
        self.settle(pass, &first, u32::from(!unsure));
        tokio::time::sleep(jittered(PAUSE, JITTER)).await;
        let Some(pass) = self.breaker.enter() else {
            return first.map_err(|failure| failure.error);
        };
        let time = self.limits.request;
        let time = time.saturating_sub(AHEAD.min(time / 4));
        let second = self.attempt(&asked, time).await;
        self.settle(pass, &second, 1 + u32::from(unsure));
        second.map_err(|failure| failure.error)
    }

    fn may_retry(&self, asked: &Asked, pass: Pass, first: &Result<Reply, Failure>) -> bool {
        if pass.probe || !asked.twice || !matches!(first, Err(Failure { again: true, .. })) {
            return false;
        }
        let granted = self.budget.withdraw();
        self.metrics.cms.retry(granted);
        granted
    }

    /// Tells the breaker how a request has ended; a failure counts as so many.
    fn settle(&self, pass: Pass, answer: &Result<Reply, Failure>, times: u32) {
        let verdict = match answer {
            Ok(_) | Err(Failure { sign: Sign::Alive, .. }) => Verdict::Alive,
            Err(Failure { sign: Sign::Ours, .. }) => Verdict::Unknown,
            Err(Failure { error: ContentError::Unavailable { retry_after }, .. }) => {
                Verdict::Failed { times, told: retry_after.map(Duration::from_secs) }
            }
            Err(_) => Verdict::Failed { times, told: None },
        };
        if self.breaker.settle(pass, verdict) {
            self.metrics.cms.breaker_openings.inc();
        }
    }

    async fn attempt(&self, asked: &Asked, time: Duration) -> Result<Reply, Failure> {
        let (begun, span) = (Instant::now(), traces::client_span("cms"));
        let answer = self.send(asked, time).await;
        let outcome = match &answer {
            Ok(Reply::Json(_)) => CmsOutcome::Ok,
            Ok(Reply::Refused(_)) => CmsOutcome::Refused,
            Ok(Reply::Denied) => CmsOutcome::Denied,
            Err(failure) => outcome(&failure.error),
        };
        self.metrics.cms.end(outcome, begun.elapsed());
        if let Some(span) = span {
            span.set("outcome", outcome.as_str());
            if answer.is_err() {
                span.fail();
            }
        }
        answer
    }

    async fn send(&self, asked: &Asked, time: Duration) -> Result<Reply, Failure> {
        let Asked { path, query, most, .. } = asked;
        let joint = if query.is_empty() { "" } else { "?" };
        let url = format!("{}{path}{joint}{query}", self.base);
        let request = self.http.get(url).timeout(time);
        let response = request.send().await.map_err(|error| broken(path, &error))?;
        let status = response.status();
        if status != StatusCode::OK {
            tracing::debug!(path, status = status.as_u16(), "the CMS refused a request");
        }
        answer(path, response, *most).await
    }
}

fn outcome(error: &ContentError) -> CmsOutcome {
    match error {
        ContentError::Unavailable { .. } => CmsOutcome::Unavailable,
        ContentError::TimedOut => CmsOutcome::Timeout,
        ContentError::Unusable(_) => CmsOutcome::Unusable,
        ContentError::CircuitOpen { .. } => CmsOutcome::Shed,
    }
}

/// What is said while the breaker is open.
pub(super) fn not_asked(health: BreakerState) -> ContentError {
    ContentError::CircuitOpen { retry_after: health.told(Instant::now()) }
}

fn headers(token: Option<&SecretString>) -> Result<HeaderMap, StrapiError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(token) = token {
        let text = format!("Bearer {}", token.expose_secret());
        let mut value = HeaderValue::from_str(&text).map_err(|_| StrapiError::Token)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}
