//! One request to Strapi: its turn, the breaker, the retry, the token, the status, a bounded body.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::watch;
use tower::retry::budget::{Budget, TpsBudget};
use tracing::Instrument;

use super::breaker::{Breaker, Health, Pass, Verdict};
use super::random::jittered;
use super::refusal::Refusal;
use super::turns::{Turn, Turns};
use super::{StrapiError, StrapiLimits, StrapiSettings};
use crate::content::ContentError;
use crate::metrics::{Call, Closed, Metrics};
use crate::outgoing::{Cause, cause, client_builder, is_out_of_files};
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

/// The most memory that a declared length gets before anything has come. A usual page needs less,
/// and is not copied while it grows.
const RESERVED_BYTES: usize = 256 * 1024;

/// Strapi's error envelopes are a few hundred bytes.
const ERROR_BYTES: usize = 64 * 1024;

/// The connection to one Strapi.
pub(super) struct Client {
    line: Arc<Line>,
    turns: Arc<Turns>,
}

/// What a request needs once it has its turn.
struct Line {
    http: reqwest::Client,
    /// Up to and with `/api/`.
    base: String,
    limits: StrapiLimits,
    breaker: Breaker,
    budget: TpsBudget,
    metrics: Arc<Metrics>,
}

/// What is asked for.
struct Asked {
    path: String,
    query: String,
    /// The most bytes of an answer.
    most: usize,
    /// Whether it is a list.
    list: bool,
    /// Whether it may be asked again.
    twice: bool,
}

/// An answer that is Strapi's own.
#[derive(Debug)]
pub(super) enum Reply {
    /// 200: the body, which may still have any shape.
    Json(String),
    /// 404 or 400 in Strapi's envelope.
    Refused(Refusal),
    /// 401 or 403.
    Denied,
}

/// A failed request.
struct Failure {
    error: ContentError,
    /// Whether the same request may succeed right now.
    again: bool,
    sign: Sign,
}

/// What a failure says about the origin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Something answers there.
    Alive,
    /// Nothing does, or a proxy says so.
    Fails,
    /// The connection broke, maybe because it had been idle for too long.
    Broke,
    /// Nothing: the fault is on our side.
    Ours,
}

impl From<ContentError> for Failure {
    fn from(error: ContentError) -> Self {
        Self { error, again: false, sign: Sign::Alive }
    }
}

impl Client {
    pub(super) fn new(
        settings: &StrapiSettings,
        metrics: Arc<Metrics>,
        turns: Arc<Turns>,
    ) -> Result<Self, StrapiError> {
        let limits = settings.limits;
        let builder = client_builder()?
            .connect_timeout(limits.connect)
            .default_headers(headers(settings.token.as_ref())?);
        let line = Line {
            http: builder.build().map_err(|_| StrapiError::Client)?,
            base: format!("{}/api/", settings.url.as_str().trim_end_matches('/')),
            limits,
            breaker: Breaker::new(),
            budget: TpsBudget::new(RETRY_WINDOW, RETRIES_A_SECOND, RETRIES),
            metrics,
        };
        turns.resize(limits.concurrent);
        Ok(Self { line: Arc::new(line), turns })
    }

    /// Whether the CMS is asked at the moment.
    pub(super) fn health(&self) -> Health {
        self.line.breaker.health()
    }

    /// Tells when that changes.
    pub(super) fn watch(&self) -> watch::Receiver<Health> {
        self.line.breaker.watch()
    }

    /// One page of a list.
    pub(super) async fn page(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        let most = self.line.limits.page_bytes;
        let (path, query) = (path.to_owned(), query.to_owned());
        self.ask(Asked { path, query, most, list: true, twice: true }).await
    }

    /// One document.
    pub(super) async fn document(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        let most = self.line.limits.document_bytes;
        let (path, query) = (path.to_owned(), query.to_owned());
        self.ask(Asked { path, query, most, list: false, twice: true }).await
    }

    /// Something that is asked before the request that counts, so that a silent CMS is noticed
    /// within one request's time.
    pub(super) async fn once(&self, path: &str) -> Result<Reply, ContentError> {
        let most = self.line.limits.document_bytes;
        let (path, query) = (path.to_owned(), String::new());
        self.ask(Asked { path, query, most, list: false, twice: false }).await
    }

    /// Asks, unless the breaker is open. Nobody waits for a probe: who comes when one is due has it
    /// sent, and gets what all others get.
    async fn ask(&self, asked: Asked) -> Result<Reply, ContentError> {
        let line = &self.line;
        let Some((turn, pass)) = self.admitted(asked.list).await else {
            return Err(line.shed());
        };
        line.budget.deposit();
        // A task of its own, so that each request tells how it ended, although its caller leaves.
        let call = Arc::clone(line).call(asked, pass, turn).in_current_span();
        let call = tokio::spawn(traces::carried(call));
        if pass.probe {
            return Err(line.shed());
        }
        // It panicked.
        call.await.unwrap_or(Err(ContentError::Unavailable { retry_after: None }))
    }

    async fn admitted(&self, list: bool) -> Option<(Turn, Pass)> {
        let mut health = self.line.breaker.watch();
        let turn = tokio::select! {
            biased;
            turn = self.turns.next(list) => turn,
            // Whoever waits for one stops when the breaker opens.
            _ = health.wait_for(Health::is_resting) => return None,
        };
        Some((turn, self.line.breaker.enter()?))
    }
}

impl Line {
    /// What is said to who is not let through.
    fn shed(&self) -> ContentError {
        self.metrics.cms.shed();
        not_asked(self.breaker.health())
    }

    /// At most one retry (D23), and none where Strapi said no.
    async fn call(
        self: Arc<Self>,
        asked: Asked,
        pass: Pass,
        _turn: Turn,
    ) -> Result<Reply, ContentError> {
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
            self.metrics.cms.openings.one();
        }
    }

    async fn attempt(&self, asked: &Asked, time: Duration) -> Result<Reply, Failure> {
        let (begun, span) = (Instant::now(), traces::child("cms"));
        let answer = self.send(asked, time).await;
        let outcome = match &answer {
            Ok(Reply::Json(_)) => Call::Ok,
            Ok(Reply::Refused(_)) => Call::Refused,
            Ok(Reply::Denied) => Call::Denied,
            Err(failure) => outcome(&failure.error),
        };
        self.metrics.cms.end(outcome, begun.elapsed());
        if let Some(span) = span {
            span.note("outcome", outcome.name());
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

fn outcome(error: &ContentError) -> Call {
    match error {
        ContentError::Unavailable { .. } => Call::Unavailable,
        ContentError::TimedOut => Call::Timeout,
        ContentError::Unusable(_) => Call::Unusable,
        ContentError::NotAsked { .. } => Call::Shed,
    }
}

/// What is said while the breaker is open.
pub(super) fn not_asked(health: Health) -> ContentError {
    ContentError::NotAsked { retry_after: health.told(Instant::now()) }
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

async fn answer(path: &str, response: Response, most: usize) -> Result<Reply, Failure> {
    let status = response.status();
    match status {
        StatusCode::OK if !may_be_json(&response) => Err(unusable("not JSON by its content type")),
        StatusCode::OK => Ok(Reply::Json(text(path, response, most).await?)),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ok(Reply::Denied),
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND => {
            let body = text(path, response, ERROR_BYTES).await?;
            let refusal = Refusal::parse(status.as_u16(), &body);
            refusal.map(Reply::Refused).ok_or_else(|| unusable("a 400 or 404 that is not Strapi's"))
        }
        _ if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
            Err(unavailable(&response))
        }
        _ => Err(unusable("a status other than 200")),
    }
}

/// 429 or 5xx. Who says when to come back, or that it is too much, is not asked again at once. A
/// plain 500 is one request's trouble; the others are what a CMS or the proxy before it says when
/// it can answer nobody.
fn unavailable(response: &Response) -> Failure {
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = header.and_then(|text| seconds(text.trim()));
    let status = response.status();
    let again = status.is_server_error() && header.is_none();
    let sign = match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Sign::Fails,
        _ => Sign::Alive,
    };
    Failure { error: ContentError::Unavailable { retry_after }, again, sign }
}

/// Delay seconds (RFC 9110, section 10.2.3); more than a number holds is still a long time.
fn seconds(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// A present type must be JSON's; one that is absent is no objection.
fn may_be_json(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_none_or(|value| {
        let text = value.to_str().unwrap_or_default();
        let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        essence == "application/json"
            || (essence.starts_with("application/") && essence.ends_with("+json"))
    })
}

/// The body as text, read piece by piece: neither the declared length nor the compressed one
/// says how long it gets.
async fn text(path: &str, mut response: Response, most: usize) -> Result<String, Failure> {
    let declared = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut body = Vec::with_capacity(declared.unwrap_or(0).min(RESERVED_BYTES));
    while let Some(piece) = response.chunk().await.map_err(|error| broken(path, &error))? {
        if body.len() + piece.len() > most {
            return Err(unusable("larger than the limit"));
        }
        body.extend_from_slice(&piece);
    }
    String::from_utf8(body).map_err(|_| unusable("not UTF-8"))
}

fn unusable(why: &'static str) -> Failure {
    ContentError::Unusable(why).into()
}

/// A request without a whole answer. The error's own text shows the address, so it stays unread.
fn broken(path: &str, broken: &reqwest::Error) -> Failure {
    let cause = cause(broken);
    tracing::debug!(path, ?cause, "a request to the CMS failed");
    let error = match cause {
        Cause::Timeout => ContentError::TimedOut,
        Cause::Tls => return unusable("the TLS handshake failed"),
        Cause::InvalidResponse => return unusable("not HTTP, or not decodable"),
        Cause::Dns | Cause::ConnectTimeout | Cause::Refused | Cause::Reset => {
            ContentError::Unavailable { retry_after: None }
        }
    };
    let sign = match cause {
        _ if is_out_of_files(broken) => Sign::Ours,
        Cause::Reset => Sign::Broke,
        _ => Sign::Fails,
    };
    Failure { error, again: true, sign }
}
