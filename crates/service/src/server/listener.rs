//! The listening socket.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

/// The most connections that wait to be accepted; the system may allow fewer.
const BACKLOG: i32 = 1024;
/// The most unsent bytes that the system buffers for a connection (`TCP_NOTSENT_LOWAT`). Without a
/// bound it buffers megabytes for each client that never reads.
#[cfg(target_os = "linux")]
const MAX_UNSENT: u32 = 128 << 10;

/// Listens on an address; `[::]` accepts IPv4 as well, whatever the system's default is.
///
/// # Errors
/// The errors of the system, such as an address in use.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // A restarted service need not wait until the connections of the last process have expired.
    socket.set_reuse_address(true)?;
    // Accepted connections inherit it. Where it is not supported, the service only needs more memory.
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(MAX_UNSENT);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Closes the socket; yields the connections that wait to be accepted.
pub(super) fn unaccepted(listener: TcpListener) -> impl Iterator<Item = TcpStream> {
    let listener = listener.into_std().ok();
    std::iter::from_fn(move || {
        let (stream, _) = listener.as_ref()?.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        TcpStream::from_std(stream).ok()
    })
}
