//! The socket of one connection, which reports to the connection's state.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use super::conn_state::ConnState;
use super::framing::Scan;

/// A socket that reports what it reads and writes.
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

    /// Whether the client has closed its side, even if there are unread bytes before the close:
    /// hyper does not read while a response is produced and its buffer has bytes of an earlier read.
    fn has_hung_up(&self) -> bool {
        let ready = self.stream.ready(Interest::READABLE).now_or_never();
        matches!(ready, Some(Ok(ready)) if ready.is_read_closed())
    }

    /// Whether the system has bytes of the client that are not read yet. The runtime may not know it so
    /// soon.
    fn has_unread_bytes(&self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        SockRef::from(&self.stream).peek(&mut byte).is_ok_and(|bytes| bytes > 0)
    }
}

/// A client that does not read gets a reset. After an ordinary close the kernel would buffer the
/// unsent bytes for minutes, some megabytes for each such client.
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
            let two_framings = self.scan.feed(read);
            self.state.read(self.scan.is_partial(), two_framings);
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

    /// hyper flushes each time it polls a connection, so this is also the place to detect that the
    /// client has disconnected.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state.takes_hang_up_check() && self.has_hung_up() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if self.state.takes_look() {
            self.state.looked(self.has_unread_bytes());
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
