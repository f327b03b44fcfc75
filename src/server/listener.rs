//! The socket that callers connect to.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};
use tokio::net::TcpListener;

/// Connections that have not been accepted yet; the system may allow fewer.
const BACKLOG: i32 = 1024;
/// So many bytes the system takes from us beyond those that it could send (`TCP_NOTSENT_LOWAT`). Without a bound it takes megabytes for each client that never reads.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 128 << 10;

/// Listens on an address; on `[::]` for IPv4 too, whatever the system's default is.
///
/// # Errors
/// Those of the system, as when somebody else has the address.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // A service that starts again need not wait for what is left of the connections of before.
    socket.set_reuse_address(true)?;
    // Connections have it from the socket that they come by. Without it only memory is lost.
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(UNSENT);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}
