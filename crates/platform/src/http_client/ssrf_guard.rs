//! SSRF protection: a host name resolves only to addresses at which a public site may be.
//!
//! Connections go to the addresses that were checked, so a second look-up with another response (DNS
//! rebinding) changes nothing.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::allowed_addresses::is_allowed;
use super::resolver::{LookUp, addresses};

/// The one name that may resolve to this machine, because it is never configured by accident.
const LOCALHOST: &str = "localhost";

/// A resolver that removes addresses at which no public site can be.
///
/// An IP address in a URL is not resolved: the caller ensures that it comes from the settings.
#[derive(Clone)]
pub struct SsrfGuard(LookUp);

/// No address of a name is allowed.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to no address that is allowed")]
struct NotAllowed;

impl SsrfGuard {
    /// Names are found by `look_up`.
    pub fn new(look_up: LookUp) -> Self {
        Self(look_up)
    }
}

impl Resolve for SsrfGuard {
    fn resolve(&self, name: Name) -> Resolving {
        let (look_up, name) = (Arc::clone(&self.0), name.as_str().to_owned());
        Box::pin(async move {
            let found = addresses(&look_up, name.clone()).await?;
            // The client replaces port 0 by the URL's.
            let allowed = allowed(&name, found)?.into_iter();
            Ok(Box::new(allowed.map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// Whether a connection was not made because of SSRF protection.
pub fn is_not_allowed(error: &(dyn Error + 'static)) -> bool {
    super::cause::chain(error).any(<dyn Error>::is::<NotAllowed>)
}

/// Whether a redirect may lead to this URL. Its host comes from a peer, not from the settings: an IP
/// address is checked here, because it is not resolved, and `localhost` is refused. Other names are
/// checked when they are resolved.
pub fn may_redirect_to(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_http = matches!(url.scheme(), "http" | "https");
    is_http && host != LOCALHOST && address.parse().map_or(true, is_allowed)
}

/// The addresses that a name may resolve to.
fn allowed(name: &str, mut found: Vec<IpAddr>) -> Result<Vec<IpAddr>, NotAllowed> {
    found.retain(|address| is_allowed(*address) || (name == LOCALHOST && address.is_loopback()));
    if found.is_empty() { Err(NotAllowed) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_removes_addresses_at_which_no_public_site_can_be() {
        let all = ["10.1.2.3", "127.0.0.1", "::1", "169.254.169.254", "2606:4700::1111"];
        let found = || all.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        let left = |name| -> Vec<String> {
            allowed(name, found()).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(left("www.example.com"), ["10.1.2.3", "2606:4700::1111"]);
        assert_eq!(left("localhost"), ["10.1.2.3", "127.0.0.1", "::1", "2606:4700::1111"]);
        assert_eq!(left("localhost.example.com"), ["10.1.2.3", "2606:4700::1111"]);
        let refused = allowed("www.example.com", found()[1..4].to_vec()).unwrap_err();
        assert!(is_not_allowed(&refused));
    }

    #[test]
    fn redirect_leads_to_no_address_at_which_no_public_site_can_be() {
        for (url, expected) in [
            ("https://www.example.com/robots.txt", true),
            ("http://10.0.0.1/", true),
            ("http://127.0.0.1/", false),
            ("http://0x7f.1/", false),
            ("http://2130706433/", false),
            ("http://169.254.169.254/latest", false),
            ("http://[::1]/", false),
            ("http://[::ffff:127.0.0.1]/", false),
            ("http://[fd00:ec2::254]/", false),
            ("http://localhost:8080/", false),
            ("ftp://www.example.com/", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(may_redirect_to(&url.parse().unwrap()), expected, "{url}");
        }
    }

    #[tokio::test]
    async fn name_without_addresses_is_a_dns_failure_and_not_a_refusal_by_ssrf_protection() {
        let nothing: LookUp = Arc::new(|_| Box::pin(async { Ok(Vec::new()) }));
        let error = SsrfGuard::new(nothing).resolve("x.example".parse().unwrap()).await;
        assert!(!is_not_allowed(&*error.err().unwrap()));
    }
}
