//! The base URL of a site's frontend (D15).

use std::fmt;

use url::{Host, Url};

/// `http(s)://host[:port][/path]`: lower-case, IDN as punycode, no default port, no trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(String);

/// The longest label and the longest name of DNS (RFC 1035, section 2.3.4), in characters.
const MAX_LABEL: usize = 63;
const MAX_NAME: usize = 253;

/// The text is not a base URL. Text that a parser would have to repair is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// Another scheme, or none.
    #[error("must start with `http://` or `https://`")]
    Scheme,
    /// White space, a control character or a backslash.
    #[error("must not contain white space, control characters or backslashes")]
    Character,
    /// User name or password.
    #[error("must not contain a user name or password")]
    Userinfo,
    /// A query or a fragment.
    #[error("must not contain `?` or `#`")]
    QueryOrFragment,
    /// No host, or a host that a parser would change.
    #[error(
        "the host must be a name, a dotted decimal IPv4 address or an IPv6 address in brackets, without `%`"
    )]
    Host,
    /// A name that no DNS server or URL can hold, or that would end the text around it.
    #[error(
        "the host may have only letters, digits, `-`, `_` and `.`, at most {} characters between \
         two dots and {} in all",
        MAX_LABEL,
        MAX_NAME
    )]
    HostName,
    /// Not a number from 1 to 65535 in plain decimal.
    #[error("the port must be between 1 and 65535")]
    Port,
    /// Empty or dot segments, or characters that need encoding.
    #[error("the path must be percent-encoded and have no empty or dot segments")]
    Path,
}

impl BaseUrl {
    /// Parses a base URL. One trailing slash is dropped.
    ///
    /// # Errors
    /// [`BaseUrlError`]: what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(BaseUrlError::Character);
        }
        let (scheme, rest) = text.split_once("://").ok_or(BaseUrlError::Scheme)?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return Err(BaseUrlError::Scheme),
        };
        if rest.contains(['?', '#']) {
            return Err(BaseUrlError::QueryOrFragment);
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(BaseUrlError::Userinfo);
        }
        let (host, port) = split_port(authority)?;
        let port = port.filter(|port| *port != default_port);
        let port = port.map_or_else(String::new, |port| format!(":{port}"));
        let origin = format!("{scheme}://{}{port}", canonical_host(host)?);
        let path = checked_path(&origin, path)?;
        Ok(Self(origin + path))
    }

    /// The canonical text, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.0.split_once("://").map_or("", |(scheme, _)| scheme)
    }

    /// The host and, unless it is the scheme's default, the port: `example.com:8080`.
    pub fn host(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default()
    }

    /// The path, without a slash at its end.
    pub fn path(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').map_or("", |at| &rest[at..])
    }

    /// The part of an absolute path that is below the path of this URL, with a query or a fragment; `None`:
    /// it is not below it.
    pub fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.path())?;
        (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then_some(rest)
    }

    /// The absolute URL of an absolute path.
    pub fn join(&self, path: &str) -> String {
        [&self.0, path].concat()
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), BaseUrlError> {
    let in_brackets = authority.starts_with('[');
    let colon =
        if in_brackets { authority.find("]:").map(|at| at + 1) } else { authority.find(':') };
    let Some(at) = colon else {
        return Ok((authority, None));
    };
    let port = &authority[at + 1..];
    let plain = port.bytes().all(|b| b.is_ascii_digit()) && !port.starts_with('0');
    let port = if plain { port.parse().ok() } else { None };
    Ok((&authority[..at], Some(port.ok_or(BaseUrlError::Port)?)))
}

fn canonical_host(host: &str) -> Result<String, BaseUrlError> {
    let lower = host.to_lowercase();
    let parsed = if host.contains('%') { None } else { Host::parse(&lower).ok() };
    let parsed = parsed.ok_or(BaseUrlError::Host)?;
    let as_written = match &parsed {
        Host::Domain(name) => {
            let labels = name.strip_suffix('.').unwrap_or(name).split('.');
            let (unicode, readable) = idna::domain_to_unicode(name);
            let same = *name == lower || (readable.is_ok() && unicode == lower);
            same && labels.into_iter().all(|label| !label.is_empty())
        }
        ip => ip.to_string() == lower,
    };
    if !as_written {
        return Err(BaseUrlError::Host);
    }
    match &parsed {
        Host::Domain(name) if !is_host_name(name) => Err(BaseUrlError::HostName),
        _ => Ok(parsed.to_string()),
    }
}

/// Whether a name has only characters that need no escaping in a URL, JSON, XML or HTML, and the
/// lengths of DNS. The name is in ASCII, after IDNA processing.
fn is_host_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let is_label = |label: &str| label.len() <= MAX_LABEL && label.bytes().all(is_fine);
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

fn checked_path<'p>(origin: &str, path: &'p str) -> Result<&'p str, BaseUrlError> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let empty = path.strip_prefix('/').is_some_and(|p| p.split('/').any(str::is_empty));
    let malformed = crate::percent_decode(path).is_none();
    let unchanged = Url::parse(&format!("{origin}{path}/"))
        .is_ok_and(|url| url.path().strip_suffix('/') == Some(path));
    if empty || malformed || !unchanged { Err(BaseUrlError::Path) } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_is_canonical() {
        for (text, expected) in [
            ("https://www.example.com", "https://www.example.com"),
            ("https://www.example.com/", "https://www.example.com"),
            ("HTTPS://WWW.Example.COM/Shop/", "https://www.example.com/Shop"),
            ("http://h:80", "http://h"),
            ("http://h:443", "http://h:443"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("https://BÜCHER.example", "https://xn--bcher-kva.example"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("http://[2001:DB8::1]", "http://[2001:db8::1]"),
            ("http://h/caf%C3%A9", "http://h/caf%C3%A9"),
            ("http://a_b-c.example.", "http://a_b-c.example."),
        ] {
            assert_eq!(BaseUrl::parse(text).map(|base| base.0), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn base_url_that_needs_repair_is_refused() {
        use BaseUrlError::{
            Character, Host, HostName, Path, Port, QueryOrFragment, Scheme, Userinfo,
        };
        for (text, expected) in [
            ("", Scheme),
            ("www.example.com", Scheme),
            ("ftp://h", Scheme),
            ("http:/h", Scheme),
            (" http://h", Character),
            ("http://h/a b", Character),
            ("http:\\\\h", Character),
            ("http://h\n", Character),
            ("http://u@h", Userinfo),
            ("http://h/?", QueryOrFragment),
            ("http://h/#", QueryOrFragment),
            ("http://", Host),
            ("http:///h", Host),
            ("http://a..b", Host),
            ("http://exa%6Dple.com", Host),
            ("http://2130706433", Host),
            ("http://127.1", Host),
            ("http://0x7f.0.0.1", Host),
            ("http://127.0.0.01", Host),
            ("http://[::0:1]", Host),
            ("http://[::1", Host),
            ("http://::1", Port),
            ("http://ｗｗｗ.example.com", Host),
            ("http://soft\u{AD}hyphen.example", Host),
            ("https://{site}.example.com", HostName),
            ("https://a\"b.example", HostName),
            ("https://a&b.example", HostName),
            ("https://a,b.example", HostName),
            ("https://a`b.example", HostName),
            ("http://h:", Port),
            ("http://h:0", Port),
            ("http://h:080", Port),
            ("http://h:+80", Port),
            ("http://h:65536", Port),
            ("http://h//", Path),
            ("http://h//shop", Path),
            ("http://h/a/../b", Path),
            ("http://h/a/%2e%2E/b", Path),
            ("http://h/.", Path),
            ("http://h/é", Path),
            ("http://h/%zz", Path),
            ("http://h/a\"b", Path),
        ] {
            assert_eq!(BaseUrl::parse(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn host_has_the_lengths_of_dns() {
        let label = |length| "a".repeat(length);
        let name = |last| [label(63), label(63), label(63), label(last)].join(".");
        // The international label has 58 characters as punycode, without its prefix.
        for (host, is_fine) in [
            (label(63), true),
            (label(64), false),
            (format!("{}.example", label(64)), false),
            (name(61), true),
            (name(61) + ".", true),
            (name(62), false),
            (format!("{}ü.example", label(55)), true),
            (format!("{}ü.example", label(60)), false),
        ] {
            let parsed = BaseUrl::parse(&format!("https://{host}/x"));
            assert_eq!(parsed.is_ok(), is_fine, "{host}: {parsed:?}");
        }
    }
}
