//! The HTTP client of the validator: one GET for a URL, without redirects.

use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode, Url};
use tokio::time::{sleep, timeout, timeout_at};

use super::content::{MAX_ROBOTS_BYTES, Page, read_page};
use super::finding::{CheckResult, Failure};
use frontend_map_platform::http_client::{
    self, BuildError, Cause, LookUp, SsrfGuard, may_redirect_to,
};
use frontend_map_rules::is_visible;

/// The timeout of a URL for the head of its response, connecting included (D26).
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a body that are read so that its connection can be reused. A longer page costs a new
/// connection, which is cheaper than reading on.
pub const DRAIN_BYTES: usize = 256 * 1024;

/// How long reading a body may take before the connection is closed: some bodies never end.
pub const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The longest time of a check.
pub(super) const LONGEST_CHECK: Duration = HEAD_TIMEOUT.saturating_add(DRAIN_TIME);

/// Lets the operator of a frontend tell these requests from visitors.
const USER_AGENT: &str = concat!("frontend-map/", env!("CARGO_PKG_VERSION"));

/// The most header lines of a response: pages that set many cookies have more than hyper's 100.
const MAX_HEADERS: usize = 500;

/// The pause before another attempt when the process has no file descriptor for a connection.
const FILE_DESCRIPTOR_PAUSE: Duration = Duration::from_millis(100);

/// Redirects of a `robots.txt` that are followed (RFC 9309, section 2.3.1.2).
const ROBOTS_REDIRECTS: usize = 5;

/// The most characters of a `Location` that are reported.
pub const LOCATION_CHARS: usize = 2048;

/// The result of one URL, with the page if that is wanted and answered 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fetched {
    pub(super) result: CheckResult,
    pub(super) page: Option<Page>,
}

/// A `robots.txt` of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RobotsFile {
    /// Its first bytes.
    Rules(Vec<u8>),
    /// There is none: everything is allowed (RFC 9309, section 2.3.1.3).
    Absent,
    /// Why it cannot be read (section 2.3.1.4).
    Unreadable(String),
}

/// What is wanted of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Status,
    /// The body, without a `Content-Encoding`.
    File,
    /// The body as well, and as a browser asks for a page: some frontends send JSON in its place.
    Page,
}

/// Clones share their connections.
#[derive(Clone)]
pub(super) struct Client {
    /// Reuses idle connections.
    pooled: reqwest::Client,
    /// Uses each connection once.
    unpooled: reqwest::Client,
}

impl Client {
    /// A client that resolves names by `look_up`, with SSRF protection, and keeps at most this many idle
    /// connections to a host.
    ///
    /// An IP address in a URL is not resolved, so SSRF protection does not apply to it: it comes
    /// from the settings, and redirects are not followed.
    pub(super) fn new(look_up: LookUp, max_idle: usize) -> Result<Self, BuildError> {
        let resolver = SsrfGuard::new(look_up);
        let client = |idle| -> Result<_, BuildError> {
            let client = http_client::client_builder()?
                .dns_resolver(resolver.clone())
                .user_agent(USER_AGENT)
                .no_gzip()
                .pool_max_idle_per_host(idle)
                .http1_max_headers(MAX_HEADERS)
                // Browsers accept such header lines, so visitors get these pages.
                .http1_allow_obsolete_multiline_headers_in_responses(true)
                .http1_allow_spaces_after_header_name_in_responses(true)
                .http1_ignore_invalid_headers_in_responses(true);
            Ok(client.build()?)
        };
        Ok(Self { pooled: client(max_idle)?, unpooled: client(0)? })
    }

    /// Checks one URL. The result is final with the head of the response; the body is drained so
    /// that the connection can be reused. A wanted page is read if it answers 200: the body has as much
    /// time as is left of that of a check.
    pub(super) async fn fetch(&self, url: &str, wanted: Wanted) -> Fetched {
        let until = Instant::now() + LONGEST_CHECK;
        let failed = |failure| Fetched { result: CheckResult::Failed(failure), page: None };
        let response = match timeout(HEAD_TIMEOUT, self.get_head(parse(url), wanted)).await {
            Ok(Ok(response)) => response,
            Ok(Err(failure)) => return failed(failure),
            Err(_) => return failed(Failure::Timeout),
        };
        let result = result(&response);
        if wanted != Wanted::Page || response.status() != StatusCode::OK {
            drain(response).await;
            return Fetched { result, page: None };
        }
        let (page, rest) = read_page(response, until).await;
        match rest {
            Some(rest) => {
                let _ = timeout_at(until.into(), drain(rest)).await;
            }
            // As in `drain`.
            None => tokio::task::yield_now().await,
        }
        Fetched { result, page: Some(page) }
    }

    /// Reads the `robots.txt` at a URL, and follows redirects, each with SSRF protection.
    pub(super) async fn fetch_robots(&self, url: &str) -> RobotsFile {
        let file = timeout(HEAD_TIMEOUT, self.follow_robots(parse(url))).await;
        file.unwrap_or_else(|_| RobotsFile::Unreadable(Failure::Timeout.to_string()))
    }

    async fn follow_robots(&self, mut url: Url) -> RobotsFile {
        let origin = url.origin();
        for _ in 0..=ROBOTS_REDIRECTS {
            let response = match self.get_head(url.clone(), Wanted::File).await {
                Ok(response) => response,
                Err(failure) => return RobotsFile::Unreadable(failure.to_string()),
            };
            let status = response.status();
            if status.is_success() {
                return read_robots(response).await;
            }
            let target = response.headers().get(LOCATION).filter(|_| status.is_redirection());
            let target = target.and_then(|target| target.to_str().ok());
            let Some(target) = target else {
                return if status.is_server_error() {
                    RobotsFile::Unreadable(status.as_u16().to_string())
                } else {
                    RobotsFile::Absent
                };
            };
            match url.join(target) {
                Ok(target) if target.origin() == origin || may_redirect_to(&target) => url = target,
                Ok(_) => return RobotsFile::Unreadable(Failure::AddressNotAllowed.to_string()),
                Err(_) => return RobotsFile::Absent,
            }
        }
        RobotsFile::Absent
    }

    /// Sends a GET, and returns when the head of the response is complete.
    ///
    /// Sends it once more after a reset: a server may close an idle connection just as a request
    /// arrives (RFC 9112, section 9.3.1), which is no fault of the page. reqwest does not say whether
    /// the connection was reused, so this holds for every reset. A GET may be repeated (RFC 9110,
    /// section 9.2.2).
    async fn get_head(&self, url: Url, wanted: Wanted) -> Result<Response, Failure> {
        match send(&self.pooled, url.clone(), wanted).await {
            Err(Failure::Reset) => send(&self.unpooled, url, wanted).await,
            sent => sent,
        }
    }
}

fn parse(url: &str) -> Url {
    Url::parse(url).expect("a base URL and an encoded path make a URL")
}

async fn send(client: &reqwest::Client, url: Url, wanted: Wanted) -> Result<Response, Failure> {
    loop {
        let mut request = client.get(url.clone());
        if wanted != Wanted::Status {
            request = request.header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        if wanted == Wanted::Page {
            request = request.header(ACCEPT, HeaderValue::from_static("text/html,*/*;q=0.8"));
        }
        match request.send().await {
            Ok(response) => return Ok(response),
            // No fault of the page; it ends in a timeout unless a file descriptor becomes free.
            Err(error) if http_client::is_out_of_files(&error) => {
                sleep(FILE_DESCRIPTOR_PAUSE).await;
            }
            Err(error) => return Err(failure(&error)),
        }
    }
}

/// The first bytes of a file; of one that breaks off, too (RFC 9309, section 2.3.1.1).
async fn read_robots(mut response: Response) -> RobotsFile {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = MAX_ROBOTS_BYTES - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            break;
        }
    }
    RobotsFile::Rules(bytes)
}

fn failure(error: &reqwest::Error) -> Failure {
    if http_client::is_not_allowed(error) {
        return Failure::AddressNotAllowed;
    }
    match http_client::cause(error) {
        // The client has no timeouts: this is the kernel's, which expired before the validator's.
        Cause::Timeout | Cause::ConnectTimeout => Failure::Timeout,
        Cause::Dns => Failure::Dns,
        Cause::Refused => Failure::Refused,
        Cause::Reset => Failure::Reset,
        Cause::Tls => Failure::Tls,
        Cause::InvalidResponse => Failure::InvalidResponse,
    }
}

fn result(response: &Response) -> CheckResult {
    let (status, headers) = (response.status(), response.headers());
    let is_overloaded = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let seconds = http_client::retry_after(headers).filter(|_| is_overloaded);
    let location = headers.get(LOCATION).filter(|_| status.is_redirection());
    CheckResult::Response {
        status: status.as_u16(),
        location: location.map(|sent| readable(sent.as_bytes())),
        retry_after: seconds.map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX)),
    }
}

/// Reads a short body to its end, so that its connection can be reused. After a long, slow or
/// incomplete body the connection is closed; the result does not change.
async fn drain(response: Response) {
    if response.content_length().is_none_or(|length| length <= DRAIN_BYTES as u64) {
        // Dropping the unread rest closes the connection.
        let _ = timeout(DRAIN_TIME, read_to_end(response)).await;
        // A task of the client returns the connection to the pool: without this yield, every second
        // request would open a new connection.
        tokio::task::yield_now().await;
    }
}

async fn read_to_end(mut response: Response) {
    let mut left = DRAIN_BYTES;
    while let Ok(Some(chunk)) = response.chunk().await {
        match left.checked_sub(chunk.len()) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// The value as sent, with U+FFFD in place of bytes that are not UTF-8 and of characters that are
/// not visible.
fn readable(sent: &[u8]) -> String {
    let visible = |c| if is_visible(c) { c } else { char::REPLACEMENT_CHARACTER };
    String::from_utf8_lossy(sent).chars().take(LOCATION_CHARS).map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_not_visible_are_replaced() {
        for (sent, expected) in [
            (&b"/en/new?a=b#c"[..], "/en/new?a=b#c"),
            ("/café".as_bytes(), "/café"),
            (b"/caf\xe9", "/caf\u{fffd}"),
            (b"/a\tb\r\n\x1b[31mc\0", "/a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}[31mc\u{fffd}"),
            ("/\u{9b}31m\u{85}".as_bytes(), "/\u{fffd}31m\u{fffd}"),
            ("/\u{202e}live\u{2028}".as_bytes(), "/\u{fffd}live\u{fffd}"),
            ("/a\u{200b}b\u{feff}c\u{fffe}".as_bytes(), "/a\u{fffd}b\u{fffd}c\u{fffd}"),
        ] {
            assert_eq!(readable(sent), expected);
        }
        let long = readable("ä".repeat(LOCATION_CHARS + 1).as_bytes());
        assert_eq!(long.chars().count(), LOCATION_CHARS);
    }
}
