//! `[server]`: addresses, CORS, `Cache-Control` and connections.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::Table;

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
    /// How long after SIGTERM connections are still accepted.
    pub drain_delay: Duration,
    /// The most connections at a time; 0: as many as the limit of file descriptors allows.
    pub connections: usize,
    /// Whether a change of a settings file reloads the settings.
    pub watch: bool,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct ServerToml {
    listen: String,
    admin_listen: String,
    cors_origins: Vec<String>,
    cache_control: String,
    cache_control_404: String,
    cache_control_url: String,
    cache_control_sitemap: String,
    drain_delay_ms: u64,
    connections: usize,
    watch: bool,
}

impl Default for ServerToml {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            admin_listen: "127.0.0.1:9090".to_owned(),
            cors_origins: Vec::new(),
            cache_control: "public, max-age=60, stale-if-error=86400".to_owned(),
            cache_control_404: "public, max-age=5".to_owned(),
            cache_control_url: "no-cache".to_owned(),
            cache_control_sitemap:
                "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400".to_owned(),
            drain_delay_ms: 5_000,
            connections: 0,
            watch: false,
        }
    }
}

pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Option<Server> {
    let toml: ServerToml = table::read(table, "server", problems);
    let listen = problems.take("server.listen", address(&toml.listen));
    let admin_listen = match toml.admin_listen.as_str() {
        "" => Some(None),
        text => problems.take("server.admin_listen", address(text)).map(Some),
    };
    if toml.drain_delay_ms > MAX_DRAIN_DELAY_MS {
        problems.add("server.drain_delay_ms", format_args!("must be at most {MAX_DRAIN_DELAY_MS}"));
    }
    let origin = |text: &String| problems.take("server.cors_origins", origin(text.trim()));
    // An environment variable that is empty is read as a list of one empty text.
    let raw_origins = toml.cors_origins.iter().filter(|text| !text.is_empty());
    let cors_origins = raw_origins.filter_map(origin).collect();
    let mut policy = |name, text| problems.take(name, cache_control(text));
    let cache_control = policy("server.cache_control", toml.cache_control);
    let cache_control_404 = policy("server.cache_control_404", toml.cache_control_404);
    let cache_control_url = policy("server.cache_control_url", toml.cache_control_url);
    let cache_control_sitemap = policy("server.cache_control_sitemap", toml.cache_control_sitemap);
    Some(Server {
        listen: listen?,
        admin_listen: admin_listen?,
        cors_origins,
        cache_control: cache_control?,
        cache_control_404: cache_control_404?,
        cache_control_url: cache_control_url?,
        cache_control_sitemap: cache_control_sitemap?,
        drain_delay: Duration::from_millis(toml.drain_delay_ms),
        connections: toml.connections,
        watch: toml.watch,
    })
}

/// The address to listen on, without the checks of the rest of the section.
pub(in crate::config) fn listen(table: &mut Table, problems: &mut Problems) -> Option<SocketAddr> {
    let toml: ServerToml = table::read(table, "server", problems);
    problems.take("server.listen", address(&toml.listen))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is not an address with a port, such as 127.0.0.1:8080 or [::]:8080")
    })
}

/// Only the characters of the value are checked, not its directives.
fn cache_control(text: String) -> Result<String, String> {
    let fine = !text.is_empty() && text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    if fine {
        Ok(text)
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
