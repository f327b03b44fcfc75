//! The way to one site and nowhere else: names are looked up, addresses where no site is are left
//! out, and connections go to what was looked at, so that no second look-up can tell another story.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;

use super::addresses::is_public_enough;
use super::{DnsFailure, tls};

/// Finds the addresses of a name.
pub type LookUp = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Connects to `http` and `https` URLs, within the fence.
pub type FencedConnector = HttpsConnector<HttpConnector<Fenced>>;

/// A connection that it made.
pub type FencedStream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// The one name that may lead to this machine, because nobody writes it by accident.
const LOCALHOST: &str = "localhost";

/// A resolver that leaves out addresses where no site is.
#[derive(Clone)]
pub struct Fenced(LookUp);

/// All addresses of a name are such as no site is at.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to no address that is allowed")]
struct NotAllowed;

/// A connector whose names are found by `look_up`.
///
/// An address that is written in a URL is no name, and is used as it stands: the caller has to be
/// sure that the operator wrote it.
///
/// # Errors
/// [`rustls::Error`] when the TLS provider cannot serve the default protocol versions.
pub fn fenced_connector(look_up: LookUp) -> Result<FencedConnector, rustls::Error> {
    let mut http = HttpConnector::new_with_resolver(Fenced(look_up));
    http.enforce_http(false);
    http.set_nodelay(true);
    Ok(HttpsConnector::from((http, tls()?)))
}

/// The system's resolver.
#[must_use]
pub fn system_look_up() -> LookUp {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// Whether a connection was not made because of the fence.
#[must_use]
pub fn is_not_allowed(error: &(dyn Error + 'static)) -> bool {
    super::cause::chain(error).any(<dyn Error>::is::<NotAllowed>)
}

/// The addresses of a name that it may lead to.
fn allowed(
    name: &str,
    found: Vec<IpAddr>,
) -> Result<Vec<SocketAddr>, Box<dyn Error + Send + Sync>> {
    if found.is_empty() {
        return Err(DnsFailure(None).into());
    }
    let fine = |address: &IpAddr| {
        is_public_enough(*address) || (name == LOCALHOST && address.is_loopback())
    };
    // The port is the URL's, which the connector sets.
    let allowed: Vec<_> =
        found.into_iter().filter(fine).map(|address| SocketAddr::new(address, 0)).collect();
    if allowed.is_empty() { Err(NotAllowed.into()) } else { Ok(allowed) }
}

impl Service<Name> for Fenced {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let name = name.as_str().to_owned();
        let found = (self.0)(name.clone());
        Box::pin(async move {
            let found = found.await.map_err(|error| DnsFailure(Some(error)))?;
            Ok(allowed(&name, found)?.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_an_answer() {
        let all = ["10.1.2.3", "127.0.0.1", "::1", "169.254.169.254", "2606:4700::1111"];
        let found = || all.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        let left = |name| -> Vec<String> {
            let left = allowed(name, found()).unwrap();
            left.iter().map(|address| address.ip().to_string()).collect()
        };
        assert_eq!(left("www.example.com"), ["10.1.2.3", "2606:4700::1111"]);
        assert_eq!(left("localhost"), ["10.1.2.3", "127.0.0.1", "::1", "2606:4700::1111"]);
        assert_eq!(left("localhost.example.com"), ["10.1.2.3", "2606:4700::1111"]);
        let refused = allowed("www.example.com", found()[1..4].to_vec()).unwrap_err();
        assert!(is_not_allowed(&*refused));
        let nothing = allowed("www.example.com", Vec::new()).unwrap_err();
        assert!(!is_not_allowed(&*nothing));
    }
}
