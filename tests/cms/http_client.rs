//! Every way in which an outgoing request can fail, and its cause.

use std::time::Duration;

use frontend_map_platform::http_client::{Cause, cause, client_builder};
use reqwest::dns::{Name, Resolve, Resolving};

use crate::support::front_end::{Answer, FrontEnd, refusing};

/// The cause of what must fail, whether in the head or in the body.
async fn failure(client: reqwest::Client, url: &str) -> Cause {
    let answer = async { client.get(url).send().await?.bytes().await };
    cause(&answer.await.expect_err(url))
}

fn client() -> reqwest::Client {
    client_builder().unwrap().build().unwrap()
}

/// Answers that break off or that are not HTTP, by path.
fn script(path: &str) -> Answer {
    let bytes = match path {
        "/reset" => return Answer::Reset,
        "/hang" => return Answer::Hang,
        "/silent" => "",
        "/half-head" => "HTTP/1.1 200 OK\r\nContent-Le",
        "/short-body" => "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
        "/no-terminator" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n",
        "/bad-chunk" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive!\r\n0\r\n\r\n",
        "/not-http" => "SSH-2.0-OpenSSH_9.6\r\n",
        "/bad-status" => "HTTP/1.1 42 Nope\r\n\r\n",
        "/not-gzip" => {
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nfive!"
        }
        "/half-gzip" => {
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\u{8}\u{8}\0"
        }
        "/gzip-cut-off" => {
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n\x1f"
        }
        "/long-head" => {
            let line = format!("X-Filler: {}\r\n", "x".repeat(8000));
            return Answer::Endless([b"HTTP/1.1 200 OK\r\n", line.repeat(90).as_bytes()].concat());
        }
        "/many-headers" => {
            return Answer::Close(
                ["HTTP/1.1 200 OK\r\n", &"A: b\r\n".repeat(101), "\r\n"].concat().into(),
            );
        }
        other => panic!("the script has no {other}"),
    };
    Answer::Close(bytes.into())
}

#[tokio::test]
async fn broken_connection_is_a_reset_and_an_unreadable_response_is_invalid() {
    let peer = FrontEnd::start(script).await;
    let table = [
        ("/reset", Cause::Reset),
        ("/silent", Cause::Reset),
        ("/half-head", Cause::Reset),
        ("/short-body", Cause::Reset),
        ("/no-terminator", Cause::Reset),
        ("/gzip-cut-off", Cause::Reset),
        ("/bad-chunk", Cause::InvalidResponse),
        ("/not-http", Cause::InvalidResponse),
        ("/bad-status", Cause::InvalidResponse),
        ("/not-gzip", Cause::InvalidResponse),
        ("/half-gzip", Cause::InvalidResponse),
        ("/long-head", Cause::InvalidResponse),
        ("/many-headers", Cause::InvalidResponse),
    ];
    for (path, expected) in table {
        assert_eq!(failure(client(), &peer.url("http", path)).await, expected, "{path}");
    }
}

#[tokio::test]
async fn port_without_a_listener_is_refused() {
    let (_socket, address) = refusing();
    assert_eq!(failure(client(), &format!("http://{address}/")).await, Cause::Refused);
    assert_eq!(failure(client(), &format!("https://{address}/")).await, Cause::Refused);
}

#[tokio::test]
async fn plain_port_behind_https_is_a_tls_failure() {
    let peer = FrontEnd::start(script).await;
    assert_eq!(failure(client(), &peer.url("https", "/")).await, Cause::Tls);
}

#[tokio::test]
async fn name_without_an_address_is_a_dns_failure() {
    let cause = failure(client(), "http://no-such-host.invalid/").await;
    assert_eq!(cause, Cause::Dns);
}

#[tokio::test]
async fn timeout_before_the_connection_is_a_connect_timeout() {
    let peer = FrontEnd::start(script).await;
    let soon = Duration::from_millis(50);
    let impatient = client_builder().unwrap().timeout(soon).build().unwrap();
    assert_eq!(failure(impatient, &peer.url("http", "/hang")).await, Cause::Timeout);

    let lost = client_builder().unwrap().connect_timeout(soon).dns_resolver(Endless);
    let cause = failure(lost.build().unwrap(), "http://www.example.com/").await;
    assert_eq!(cause, Cause::ConnectTimeout);
}

/// A resolver that never answers, so that no connection can be made in time.
struct Endless;

impl Resolve for Endless {
    fn resolve(&self, _name: Name) -> Resolving {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let peer = FrontEnd::start(|_| {
        Answer::Close(b"HTTP/1.1 301 Moved\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n".into())
    });
    let peer = peer.await;
    let answer = client().get(peer.url("http", "/old")).send().await.unwrap();
    assert_eq!(answer.status(), 301);
    assert_eq!(peer.heads().len(), 1);
}
