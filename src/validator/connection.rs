//! One HTTP/1 connection to a front end, driven by who uses it: without a task of its own a request
//! wakes nobody else, and a connection that is dropped is gone at once.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::outgoing::FencedStream;

/// The most that is read at a time.
const READ_BYTES: usize = 128 * 1024;

/// The most header lines of an answer: pages that set many cookies have more than the usual 100.
const MAX_HEADERS: usize = 500;

type Driver = http1::Connection<TokioIo<Heard>, Empty<Bytes>>;

/// A connection that has carried no request, or only some whose answers were read to their end.
pub(super) struct Connection {
    sender: SendRequest<Empty<Bytes>>,
    /// `None` once it has ended; who waits for an answer is told why by the sender.
    driver: Option<Pin<Box<Driver>>>,
    heard: Arc<AtomicBool>,
}

impl Connection {
    /// Takes over a stream that is connected.
    pub(super) async fn new(stream: FencedStream) -> hyper::Result<Self> {
        let heard = Arc::new(AtomicBool::new(false));
        let stream = Heard { stream: TokioIo::new(stream), heard: Arc::clone(&heard) };
        let mut builder = http1::Builder::new();
        builder.max_buf_size(READ_BYTES).writev(false).max_headers(MAX_HEADERS);
        // What visitors' browsers read is an answer, whatever its header lines look like.
        builder
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true);
        let (sender, driver) = builder.handshake(TokioIo::new(stream)).await?;
        Ok(Self { sender, driver: Some(Box::pin(driver)), heard })
    }

    /// Whether it can carry another request, as far as is known.
    pub(super) async fn is_usable(&mut self) -> bool {
        let Self { sender, driver, .. } = self;
        drive(driver, poll_fn(|cx| sender.poll_ready(cx))).await.is_ok()
    }

    /// Sends a request, and waits for the head of the answer.
    pub(super) async fn send(
        &mut self,
        request: Request<Empty<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        self.heard.store(false, Relaxed);
        let answer = self.sender.send_request(request);
        drive(&mut self.driver, answer).await
    }

    /// Whether any byte has come since the last request was sent.
    pub(super) fn has_heard(&self) -> bool {
        self.heard.load(Relaxed)
    }

    /// Reads a body to its end; false when it breaks off or has more than `most` bytes.
    pub(super) async fn drain(&mut self, mut body: Incoming, most: usize) -> bool {
        let rest = async {
            let mut left = most;
            while let Some(frame) = body.frame().await {
                let length = frame.ok().and_then(|frame| frame.into_data().ok());
                match length.and_then(|data| left.checked_sub(data.len())) {
                    Some(rest) => left = rest,
                    None => return false,
                }
            }
            true
        };
        drive(&mut self.driver, rest).await
    }
}

/// Waits for what the connection has to do, and lets it do it.
async fn drive<T>(driver: &mut Option<Pin<Box<Driver>>>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        let ended = driver.as_mut().is_some_and(|driver| driver.as_mut().poll(cx).is_ready());
        if ended {
            *driver = None;
        }
        work.as_mut().poll(cx)
    })
    .await
}

/// A stream that notes whether anything has come.
struct Heard {
    stream: TokioIo<FencedStream>,
    heard: Arc<AtomicBool>,
}

impl AsyncRead for Heard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.heard.store(true, Relaxed);
        }
        polled
    }
}

impl AsyncWrite for Heard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
