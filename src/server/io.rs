//! A connection's bytes on their way, and what the timer has to know of them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use super::conn_state::ConnState;
use super::framing::Scan;

/// A socket that tells how far its client is.
#[derive(Debug)]
pub(super) struct ClientIo {
    stream: TcpStream,
    scan: Scan,
    state: Arc<ConnState>,
}

impl ClientIo {
    pub(super) fn new(stream: TcpStream, state: Arc<ConnState>) -> Self {
        Self { stream, scan: Scan::default(), state }
    }

    /// Whether the client has closed its side, even if there are bytes before the close that nobody
    /// has read: hyper reads none while an answer is made and some are left of the last read.
    fn has_hung_up(&self) -> bool {
        let ready = self.stream.ready(Interest::READABLE).now_or_never();
        matches!(ready, Some(Ok(ready)) if ready.is_read_closed())
    }
}

/// Who does not read is left with a reset. After an ordinary close the system would keep for minutes
/// what it could not send, some megabytes for each such client.
impl Drop for ClientIo {
    fn drop(&mut self) {
        if self.state.is_stalled() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for ClientIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let read = &buffer.filled()[before..];
        if !read.is_empty() {
            let doubled = self.scan.feed(read);
            self.state.read(self.scan.is_inside(), doubled);
        }
        polled
    }
}

impl AsyncWrite for ClientIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.state.wrote(polled.is_ready());
        polled
    }

    /// hyper flushes whenever it looks at a connection, so this is also where the client is found
    /// to have gone.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state.is_doubted() && self.has_hung_up() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
