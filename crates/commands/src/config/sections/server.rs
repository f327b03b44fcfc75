//! `[server]`: addresses, CORS, `Cache-Control` and connections.

use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use crate::config::section::Section;
use crate::config::value::{boolean, millis, parsed, whole};
use frontend_map_service::app::CacheTags;

/// The longest delay of a shutdown: orchestrators kill after 30 s, and requests in flight need time
/// as well.
const MAX_DRAIN_DELAY_MS: u64 = 20_000;

/// How the service is reached.
#[derive(Clone, Debug)]
pub struct Server {
    /// Address and port; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Address and port of the admin routes; `None`: they are not served.
    pub admin_listen: Option<SocketAddr>,
    /// The origins that CORS allows, exactly as browsers send them.
    pub cors_origins: Vec<String>,
    /// `Cache-Control` of a response about a pathname that resolves.
    pub cache_control: String,
    /// `Cache-Control` of a response about a pathname that does not resolve.
    pub cache_control_404: String,
    /// `Cache-Control` of the URL of a published document.
    pub cache_control_url: String,
    /// `Cache-Control` of lists of URLs.
    pub cache_control_sitemap: String,
    /// The header with cache tags; `None`: responses have none.
    pub cache_tag_header: Option<CacheTags>,
    /// How long after SIGTERM connections are still accepted.
    pub drain_delay: Duration,
    /// The most connections at a time; 0: as many as the limit of file descriptors allows.
    pub connections: usize,
    /// Whether a change of a settings file reloads the settings.
    pub watch: bool,
}

pub(in crate::config) fn read(server: &mut Section<'_>) -> Option<Server> {
    Some(Server {
        admin_listen: server.get("admin_listen", parsed(optional_address)),
        cors_origins: server.each("cors_origins", origin),
        cache_control: server.get("cache_control", parsed(cache_control)),
        cache_control_404: server.get("cache_control_404", parsed(cache_control)),
        cache_control_url: server.get("cache_control_url", parsed(cache_control)),
        cache_control_sitemap: server.get("cache_control_sitemap", parsed(cache_control)),
        cache_tag_header: server.optional("cache_tag_header", parsed(CacheTags::of_header)),
        drain_delay: server.get("drain_delay_ms", millis(..=MAX_DRAIN_DELAY_MS)),
        connections: server.get("connections", whole(..)),
        watch: server.get("watch", boolean),
        listen: listen(server)?,
    })
}

/// The address to listen on, without the checks of the rest of the section.
pub(in crate::config) fn listen(server: &mut Section<'_>) -> Option<SocketAddr> {
    server.optional("listen", parsed(address))
}

fn optional_address(text: &str) -> Result<Option<SocketAddr>, String> {
    (!text.is_empty()).then(|| address(text)).transpose()
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is not an address with a port, such as 127.0.0.1:8080 or [::]:8080")
    })
}

/// Only the characters of the value are checked, not its directives.
fn cache_control(text: &str) -> Result<String, String> {
    let fine = !text.is_empty() && text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    if fine {
        Ok(text.to_owned())
    } else {
        Err(format!("`{}` is not a value of Cache-Control", text.escape_debug()))
    }
}

/// An origin as a browser serializes it (RFC 6454, section 6.2).
fn origin(text: &str) -> Result<String, String> {
    let same = Url::parse(text).is_ok_and(|url| url.origin().ascii_serialization() == text);
    if same {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is not an origin as browsers send it, such as https://admin.example.com"
        ))
    }
}
