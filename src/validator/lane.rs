//! One URL after the other over one connection, as long as it lasts.

use std::time::Duration;

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, Uri};
use tokio::time::{sleep, timeout};
use tower::ServiceExt;
use url::Url;

use super::connection::Connection;
use super::{CheckResult, DRAIN_BYTES, DRAIN_TIME, Failure, HEAD_TIMEOUT, answer};
use crate::frontend_url::BaseUrl;
use crate::outgoing::{self, Cause, FencedConnector};

/// Says who asks, so that a front end's operator can tell these requests from visitors.
const AGENT: &str = concat!("frontend-map/", env!("CARGO_PKG_VERSION"));

/// Without a file descriptor for a connection, how long until the next try.
const OUT_OF_FILES: Duration = Duration::from_millis(100);

/// Where all requests of a run go, and what stands in each of them.
#[derive(Clone)]
pub(super) struct Destination {
    connector: FencedConnector,
    origin: Uri,
    /// The path of the base URL.
    prefix: String,
    headers: HeaderMap,
}

impl Destination {
    /// The origin of a base URL. `None` for one that no request can be made of, which a base URL
    /// that parses never is.
    pub(super) fn new(connector: FencedConnector, base: &BaseUrl) -> Option<Self> {
        let url = Url::parse(base.as_str()).ok()?;
        let origin = url.origin().ascii_serialization();
        let authority = origin.split_once("://")?.1;
        let headers = HeaderMap::from_iter([
            (HOST, HeaderValue::try_from(authority).ok()?),
            (USER_AGENT, HeaderValue::from_static(AGENT)),
            (ACCEPT, HeaderValue::from_static("*/*")),
        ]);
        let prefix = base.as_str().strip_prefix(&origin)?.to_owned();
        Some(Self { connector, origin: format!("{origin}/").parse().ok()?, prefix, headers })
    }

    fn request(&self, path: &str) -> Option<Request<Empty<Bytes>>> {
        let mut request = Request::new(Empty::new());
        *request.method_mut() = Method::GET;
        *request.uri_mut() = [&self.prefix, path].concat().parse().ok()?;
        *request.headers_mut() = self.headers.clone();
        Some(request)
    }

    async fn connect(&self) -> Result<Connection, Failure> {
        // An address in the base URL is not looked up: the operator wrote that very one.
        let connect = || self.connector.clone().oneshot(self.origin.clone());
        let mut connected = connect().await;
        // No fault of the site, and soon over or a time-out.
        while connected.as_ref().is_err_and(|error| outgoing::is_out_of_files(&**error)) {
            sleep(OUT_OF_FILES).await;
            connected = connect().await;
        }
        let stream = connected.map_err(|error| match outgoing::known_cause(&*error) {
            _ if outgoing::is_not_allowed(&*error) => Failure::AddressNotAllowed,
            Some(cause) => failure(cause),
            None => Failure::Refused,
        })?;
        Connection::new(stream).await.map_err(|error| broken(&error))
    }
}

/// A place in the ten.
pub(super) struct Lane {
    to: Destination,
    connection: Option<Connection>,
}

impl Lane {
    pub(super) fn new(to: Destination) -> Self {
        Self { to, connection: None }
    }

    /// One URL: its result is final with the head, then the body is drained for the connection's
    /// sake.
    pub(super) async fn check(&mut self, path: &str) -> CheckResult {
        let head = timeout(HEAD_TIMEOUT, self.head(path)).await;
        match head.unwrap_or(Err(Failure::Timeout)) {
            Ok(response) => {
                let checked = answer::read(&response);
                self.finish(response).await;
                checked
            }
            Err(failure) => {
                self.connection = None;
                CheckResult::Failed(failure)
            }
        }
    }

    /// The head of the answer.
    ///
    /// A server may close an idle connection just as it is used (RFC 9112, section 9.3.1). What
    /// fails before a byte has come on a connection that carried requests before is sent once more
    /// on a new one, as section 9.2.2 of RFC 9110 allows for GET: the page was not at fault.
    async fn head(&mut self, path: &str) -> Result<Response<Incoming>, Failure> {
        let request = || self.to.request(path).ok_or(Failure::InvalidResponse);
        if let Some(connection) = &mut self.connection
            && connection.is_usable().await
        {
            match connection.send(request()?).await {
                Err(_) if !connection.has_heard() => {}
                answered => return answered.map_err(|error| broken(&error)),
            }
        }
        // Where this is left half-way, by the time-out say, the connection goes with it.
        let connection = self.connection.insert(self.to.connect().await?);
        connection.send(request()?).await.map_err(|error| broken(&error))
    }

    /// Reads a short body to its end, so that its connection can carry the next request; one that
    /// is long, late or breaks off costs its connection and nothing else.
    async fn finish(&mut self, response: Response<Incoming>) {
        let Some(mut connection) = self.connection.take() else { return };
        if declared(response.headers()).is_some_and(|length| length > DRAIN_BYTES as u64) {
            return;
        }
        let drained = connection.drain(response.into_body(), DRAIN_BYTES);
        if timeout(DRAIN_TIME, drained).await == Ok(true) {
            self.connection = Some(connection);
        }
    }
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// What a connection that broke is called in the report.
fn broken(error: &hyper::Error) -> Failure {
    outgoing::known_cause(error).map_or(Failure::InvalidResponse, failure)
}

/// What a failed request is called in the report.
fn failure(cause: Cause) -> Failure {
    match cause {
        // There are no time-outs below ours, so this is the kernel giving up before us.
        Cause::Timeout | Cause::ConnectTimeout => Failure::Timeout,
        Cause::Dns => Failure::Dns,
        Cause::Refused => Failure::Refused,
        Cause::Reset => Failure::Reset,
        Cause::Tls => Failure::Tls,
        Cause::InvalidResponse => Failure::InvalidResponse,
    }
}
