//! The address of Redis, and the secrets that its use needs.

use std::fmt;

use secrecy::{SecretSlice, SecretString};
use url::{Host, Url};

/// The fewest bytes that a key of seals has.
pub const MIN_KEY_BYTES: usize = 32;

/// The port if the address has none.
const DEFAULT_PORT: u16 = 6379;

/// The settings of Redis's client. `Debug` does not show secrets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address.
    pub url: RedisUrl,
    /// The password of the user, if it has one.
    pub password: Option<SecretString>,
    /// The beginning of all keys.
    pub prefix: String,
    /// The key of seals, at least [`MIN_KEY_BYTES`]; without one, seals are checksums only.
    pub key: Option<SecretSlice<u8>>,
    /// The root certificates in PEM, in place of those of the system.
    pub ca: Option<Vec<u8>>,
}

impl Settings {
    /// The settings with this address and prefix, without secrets.
    pub fn new(url: RedisUrl, prefix: &str) -> Self {
        Self { url, password: None, prefix: prefix.to_owned(), key: None, ca: None }
    }
}

/// The address of a Redis, such as `redis://redis.example:6379/0`. It has no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisUrl {
    /// Whether TLS is used (`rediss`).
    pub tls: bool,
    /// The user, if it is not the default one.
    pub user: Option<String>,
    /// A name or an IP address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The number of the database.
    pub database: i64,
}

/// Why an address is refused. The texts do not have the address, which may have a password in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedisUrlError {
    /// Not a URL of a known scheme.
    #[error("must be a URL such as redis://host:6379 or rediss://host:6379")]
    Scheme,
    /// A password in it.
    #[error("must not have a password: set FRONTEND_MAP__SHARED__PASSWORD, or `password_file`")]
    Password,
    /// No host, or an empty one.
    #[error("must have a host")]
    Host,
    /// A user that is not UTF-8 once decoded.
    #[error("the user must be UTF-8")]
    User,
    /// A path that is not the number of a database.
    #[error("the path must be the number of a database, such as /0")]
    Database,
    /// A query or a fragment.
    #[error("must not have a query or a fragment")]
    Query,
}

impl RedisUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// [`RedisUrlError`], whose text does not have the address.
    pub fn parse(text: &str) -> Result<Self, RedisUrlError> {
        let url = Url::parse(text).map_err(|_| RedisUrlError::Scheme)?;
        let tls = match url.scheme() {
            "redis" => false,
            "rediss" => true,
            _ => return Err(RedisUrlError::Scheme),
        };
        if url.password().is_some() {
            return Err(RedisUrlError::Password);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(RedisUrlError::Query);
        }
        let user = percent_encoding::percent_decode_str(url.username());
        let user = user.decode_utf8().map_err(|_| RedisUrlError::User)?.into_owned();
        Ok(Self {
            tls,
            user: Some(user).filter(|user| !user.is_empty()),
            host: host(&url)?,
            port: url.port().unwrap_or(DEFAULT_PORT),
            database: database(url.path())?,
        })
    }
}

fn host(url: &Url) -> Result<String, RedisUrlError> {
    match url.host() {
        Some(Host::Domain(name)) if !name.is_empty() => Ok(name.to_owned()),
        Some(Host::Ipv4(address)) => Ok(address.to_string()),
        Some(Host::Ipv6(address)) => Ok(address.to_string()),
        _ => Err(RedisUrlError::Host),
    }
}

fn database(path: &str) -> Result<i64, RedisUrlError> {
    let digits = path.strip_prefix('/').unwrap_or(path);
    if digits.is_empty() {
        return Ok(0);
    }
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok());
    number.flatten().ok_or(RedisUrlError::Database)
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "rediss" } else { "redis" };
        let Self { host, port, database, .. } = self;
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}/{database}")
        } else {
            write!(f, "{scheme}://{host}:{port}/{database}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_each_part_of_an_address() {
        for (text, shown, user) in [
            ("redis://localhost", "redis://localhost:6379/0", None),
            ("redis://localhost/", "redis://localhost:6379/0", None),
            ("rediss://redis.example:7000/3", "rediss://redis.example:7000/3", None),
            ("redis://map@10.0.0.1:1", "redis://10.0.0.1:1/0", Some("map")),
            ("redis://a%20b@[::1]:2/15", "redis://[::1]:2/15", Some("a b")),
        ] {
            let url = RedisUrl::parse(text).unwrap();
            assert_eq!((url.to_string().as_str(), url.user.as_deref()), (shown, user), "{text}");
        }
    }

    #[test]
    fn parse_refuses_other_addresses_without_their_text() {
        for (text, expected) in [
            ("", RedisUrlError::Scheme),
            ("localhost:6379", RedisUrlError::Scheme),
            ("http://localhost", RedisUrlError::Scheme),
            ("redis+unix:///tmp/x", RedisUrlError::Scheme),
            ("redis://:hunter2@localhost", RedisUrlError::Password),
            ("redis://map:hunter2@localhost", RedisUrlError::Password),
            ("redis:///0", RedisUrlError::Host),
            ("redis://localhost/x", RedisUrlError::Database),
            ("redis://localhost/-1", RedisUrlError::Database),
            ("redis://localhost/0/1", RedisUrlError::Database),
            ("redis://localhost/99999999999999999999", RedisUrlError::Database),
            ("redis://localhost?db=1", RedisUrlError::Query),
            ("redis://localhost#1", RedisUrlError::Query),
            ("redis://%FF@localhost", RedisUrlError::User),
        ] {
            let error = RedisUrl::parse(text).unwrap_err();
            assert_eq!(error, expected, "{text}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
