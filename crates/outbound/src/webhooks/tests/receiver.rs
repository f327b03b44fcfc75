//! A receiver of webhooks on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a receiver does with a request.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reply {
    Status(&'static str),
    HangUp,
    Hang,
}

pub(super) const OK: Reply = Reply::Status("204 No Content\r\nX: y");
pub(super) const FAILED: Reply = Reply::Status("500 Oops\r\nContent-Length: 0");

/// A request as a receiver got it.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) timestamp: i64,
    pub(super) signature: String,
    pub(super) body: String,
}

/// A receiver that replies by the number of the request and its body.
pub(super) struct Receiver {
    pub(super) address: std::net::SocketAddr,
    pub(super) seen: Arc<Mutex<Vec<(Request, bool)>>>,
    task: JoinHandle<()>,
}

impl Receiver {
    pub(super) async fn start(
        reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<(Request, bool)>>>::default();
        let (own, reply, count) =
            (Arc::clone(&seen), Arc::new(reply), Arc::new(AtomicUsize::new(0)));
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (own, reply, count) =
                    (Arc::clone(&own), Arc::clone(&reply), Arc::clone(&count));
                tokio::spawn(async move {
                    while let Some(request) = read(&mut stream).await {
                        let reply = reply(count.fetch_add(1, SeqCst), &request.body);
                        own.lock().push((request, reply == OK));
                        match reply {
                            Reply::Status(status) => {
                                let text = format!("HTTP/1.1 {status}\r\n\r\n");
                                stream.write_all(text.as_bytes()).await.unwrap();
                            }
                            Reply::HangUp => return,
                            Reply::Hang => std::future::pending().await,
                        }
                    }
                });
            }
        });
        Self { address, seen, task }
    }

    /// The requests that were taken.
    pub(super) fn taken(&self) -> Vec<Request> {
        let seen = self.seen.lock();
        seen.iter().filter(|(_, taken)| *taken).map(|(request, _)| request.clone()).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.seen.lock().len()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("POST /hook?x=1 HTTP/1.1\r\n"), "{head}");
    let header = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {head}")).to_owned()
    };
    assert_eq!(header("content-type"), "application/json");
    let mut body = vec![0; header("content-length").parse().unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp").parse().unwrap(),
        signature: header("webhook-signature"),
        body: String::from_utf8(body).unwrap(),
    })
}
