//! A scripted frontend on loopback that sends exact bytes, and counts requests and connections.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;

/// What the script says to a request.
pub(crate) enum Answer {
    /// These bytes; the connection stays open for the next request.
    Keep(Vec<u8>),
    /// These bytes; the connection stays open, and is closed when the next request has come.
    KeepOnce(Vec<u8>),
    /// These bytes, then an orderly close.
    Close(Vec<u8>),
    /// These bytes, then the last of them again and again.
    Endless(Vec<u8>),
    /// These bytes, then one more now and then, for as long as the client waits.
    Drip(Vec<u8>),
    /// A reset instead of an answer.
    Reset,
    /// Nothing, for as long as the client waits.
    Hang,
}

/// What decides about each answer, by the request target.
pub(crate) trait Script: Fn(&str) -> Answer + Send + Sync + 'static {}

impl<F: Fn(&str) -> Answer + Send + Sync + 'static> Script for F {}

/// A whole answer with this body.
pub(crate) fn with_body(status: &str, headers: &str, body: impl Into<Vec<u8>>) -> Answer {
    let body = body.into();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
    Answer::Keep([head.into_bytes(), body].concat())
}

/// A whole answer with a status line, header lines and a body of `length` bytes.
pub(crate) fn answer(status: &str, headers: &str, length: usize) -> Answer {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
    Answer::Keep([head.into_bytes(), vec![b'x'; length]].concat())
}

/// What the front end has seen so far.
pub(crate) struct Seen {
    accepts: AtomicUsize,
    ended: AtomicUsize,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    heads: Mutex<Vec<String>>,
    /// How many requests must have arrived before any is answered.
    hold: usize,
    /// How long each answer takes.
    delay: Duration,
    gate: Semaphore,
}

/// The front end. It lives as long as the test's runtime.
pub(crate) struct FrontEnd {
    address: SocketAddr,
    seen: Arc<Seen>,
}

impl FrontEnd {
    /// Answers by `script`, which gets the request target.
    pub(crate) async fn start(script: impl Script) -> Self {
        Self::start_with(0, Duration::ZERO, script).await
    }

    /// Answers by `script`, and takes this time for each answer.
    pub(crate) async fn start_slow(delay: Duration, script: impl Script) -> Self {
        Self::start_with(0, delay, script).await
    }

    /// Answers by `script`, but no request before `hold` of them are in flight.
    pub(crate) async fn start_holding(hold: usize, script: impl Script) -> Self {
        Self::start_with(hold, Duration::ZERO, script).await
    }

    async fn start_with(hold: usize, delay: Duration, script: impl Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Semaphore::new(if hold == 0 { Semaphore::MAX_PERMITS } else { 0 });
        let seen = Arc::new(Seen {
            accepts: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            heads: Mutex::new(Vec::new()),
            hold,
            delay,
            gate,
        });
        tokio::spawn(accept(listener, Arc::clone(&seen), Arc::new(script)));
        Self { address, seen }
    }

    /// `scheme://address/path`.
    pub(crate) fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}{path}", self.address)
    }

    /// Connections accepted.
    pub(crate) fn accepts(&self) -> usize {
        self.seen.accepts.load(SeqCst)
    }

    /// Connections that are open.
    pub(crate) fn open(&self) -> usize {
        let ended = self.seen.ended.load(SeqCst);
        self.seen.accepts.load(SeqCst) - ended
    }

    /// The most requests that waited for an answer at one time.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.seen.most_in_flight.load(SeqCst)
    }

    /// The request heads, in order of arrival.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.seen.heads.lock().unwrap().clone()
    }
}

impl Seen {
    /// Counts a request and waits until it may be answered.
    async fn arrive(&self, head: String) {
        self.heads.lock().unwrap().push(head);
        let now = self.in_flight.fetch_add(1, SeqCst) + 1;
        self.most_in_flight.fetch_max(now, SeqCst);
        if now == self.hold {
            // One request too many would be on its way by now: let it arrive and be counted.
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            self.gate.add_permits(Semaphore::MAX_PERMITS / 2);
        }
        self.gate.acquire().await.unwrap().forget();
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
    }

    /// Called before the answer is written, because the client may send its next request as soon
    /// as it has read it.
    fn leave(&self) {
        self.in_flight.fetch_sub(1, SeqCst);
    }
}

/// A port that refuses, for as long as the socket is kept: bound, but not listening.
pub(crate) fn refusing() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

async fn accept(listener: TcpListener, seen: Arc<Seen>, script: Arc<impl Script>) {
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        seen.accepts.fetch_add(1, SeqCst);
        let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
        tokio::spawn(async move {
            connection(socket, &seen, &*script).await;
            seen.ended.fetch_add(1, SeqCst);
        });
    }
}

/// Serves one connection until the script or the client ends it.
async fn connection(mut socket: TcpStream, seen: &Seen, script: &impl Script) {
    while let Some(head) = read_head(&mut socket).await {
        let answer = script(head.split(' ').nth(1).unwrap_or_default());
        seen.arrive(head).await;
        if !matches!(answer, Answer::Hang) {
            seen.leave();
        }
        if give(&mut socket, answer).await.is_none() {
            return;
        }
    }
}

/// Writes the answer; `None` when the connection is over.
async fn give(socket: &mut TcpStream, answer: Answer) -> Option<()> {
    match answer {
        Answer::Keep(bytes) => return socket.write_all(&bytes).await.ok(),
        Answer::KeepOnce(bytes) => {
            socket.write_all(&bytes).await.ok()?;
            read_head(socket).await?;
        }
        Answer::Close(bytes) => close(socket, &bytes).await,
        Answer::Reset => socket.set_zero_linger().unwrap(),
        Answer::Hang => wait_for_close(socket).await,
        Answer::Drip(bytes) => {
            socket.write_all(&bytes).await.ok()?;
            while socket.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Answer::Endless(bytes) => {
            let last = [*bytes.last().unwrap(); 1024];
            socket.write_all(&bytes).await.ok()?;
            while socket.write_all(&last).await.is_ok() {}
        }
    }
    None
}

/// Writes the bytes and closes orderly: a close with unread bytes would be a reset.
async fn close(socket: &mut TcpStream, bytes: &[u8]) {
    if socket.write_all(bytes).await.is_ok() && socket.shutdown().await.is_ok() {
        wait_for_close(socket).await;
    }
}

async fn wait_for_close(socket: &mut TcpStream) {
    let mut rest = [0; 1024];
    while socket.read(&mut rest).await.is_ok_and(|read| read > 0) {}
}

/// One request head; `None` at the end of the connection. A TLS greeting gets an HTTP error instead.
async fn read_head(socket: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
        if head == [0x16] {
            close(socket, b"HTTP/1.1 400 This is not a TLS port\r\n\r\n").await;
            return None;
        }
    }
    Some(String::from_utf8(head).unwrap())
}
