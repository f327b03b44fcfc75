//! The peer's side of TLS, by certificates that clients trust or do not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

/// A certificate of 127.0.0.1 and its key, in PEM.
pub(crate) struct Identity(&'static [u8], &'static [u8]);

/// Signed by itself; no client trusts it.
pub(crate) const SELF_SIGNED: Identity = Identity(
    include_bytes!("../fixtures/self-signed/cert.pem"),
    include_bytes!("../fixtures/self-signed/key.pem"),
);
/// Clients that have [`TRUSTED_ROOT`] trust it.
pub(crate) const TRUSTED: Identity = Identity(
    include_bytes!("../fixtures/trusted/cert.pem"),
    include_bytes!("../fixtures/trusted/key.pem"),
);
/// For `SSL_CERT_FILE`.
pub(crate) const TRUSTED_ROOT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/trusted/cert.pem");

fn session(Identity(cert, key): Identity) -> ServerConnection {
    let cert = CertificateDer::from_pem_slice(cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(key).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert], key)
        .expect("they belong together");
    ServerConnection::new(Arc::new(config)).expect("a session")
}

/// A handshake and nothing else.
pub(crate) fn greet(stream: &mut TcpStream, identity: Identity) {
    let mut session = session(identity);
    while session.is_handshaking() && session.complete_io(stream).is_ok() {}
}

/// A handshake, one request and its answer: the bytes that `answer` has for the request's target.
pub(crate) fn answer_one(
    mut stream: TcpStream,
    identity: Identity,
    answer: impl Fn(&str) -> Vec<u8>,
) {
    let mut session = session(identity);
    let mut stream = Stream::new(&mut session, &mut stream);
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_exact(&mut byte).is_err() {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let bytes = answer(head.split(' ').nth(1).unwrap_or_default());
    let _ = stream.write_all(&bytes);
    stream.conn.send_close_notify();
    let _ = stream.flush();
}
