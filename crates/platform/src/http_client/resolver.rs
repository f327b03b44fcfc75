//! Name look-ups whose failures can be recognized by type.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Finds the addresses of a name.
pub type LookUp = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// A failed look-up, as a type of our own so that its cause is known without reading messages.
#[derive(Debug, thiserror::Error)]
#[error("the name has no address")]
pub(super) struct DnsFailure(#[source] Option<io::Error>);

/// The system's resolver.
pub fn system_look_up() -> LookUp {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// The addresses of a name; at least one.
pub(super) async fn addresses(look_up: &LookUp, name: String) -> Result<Vec<IpAddr>, DnsFailure> {
    at_least_one(look_up(name).await)
}

/// The system's resolver, for a client without SSRF protection.
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The connector replaces the port by the URL's.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let addresses: Addrs = Box::new(at_least_one(found)?.into_iter());
            Ok(addresses)
        })
    }
}

fn at_least_one<T>(found: io::Result<impl IntoIterator<Item = T>>) -> Result<Vec<T>, DnsFailure> {
    let found: Vec<T> = found.map_err(|error| DnsFailure(Some(error)))?.into_iter().collect();
    if found.is_empty() { Err(DnsFailure(None)) } else { Ok(found) }
}
