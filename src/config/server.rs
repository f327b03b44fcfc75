//! `[server]`: where to listen, and which browsers may ask.

use std::net::SocketAddr;

use serde::Deserialize;
use url::Url;

use super::source::Table;
use super::{Problems, section};

/// Where the service is found.
#[derive(Clone, Debug)]
pub struct Server {
    /// Address and port; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// The origins of the browsers that may ask, exactly as they send them.
    pub cors_origins: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct Raw {
    listen: String,
    cors_origins: Vec<String>,
}

impl Default for Raw {
    fn default() -> Self {
        Self { listen: "127.0.0.1:8080".to_owned(), cors_origins: Vec::new() }
    }
}

pub(super) fn read(table: &mut Table, problems: &mut Problems) -> Option<Server> {
    let raw: Raw = section::read(table, "server", problems);
    let listen = raw.listen.parse().map_err(|_| {
        format!("`{}` is not an address and a port, like 127.0.0.1:8080 or [::]:8080", raw.listen)
    });
    let listen = problems.take("server.listen", listen);
    let origin = |text: &String| problems.take("server.cors_origins", origin(text.trim()));
    // A variable that is set to nothing is a list of one empty text.
    let raw_origins = raw.cors_origins.iter().filter(|text| !text.is_empty());
    let cors_origins = raw_origins.filter_map(origin).collect();
    Some(Server { listen: listen?, cors_origins })
}

/// An origin as a browser serialises it (RFC 6454, section 6.2).
fn origin(text: &str) -> Result<String, String> {
    let same = Url::parse(text).is_ok_and(|url| url.origin().ascii_serialization() == text);
    if same {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is not an origin as a browser sends it, like https://admin.example.com"
        ))
    }
}
