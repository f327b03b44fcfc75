//! `[shared]`: Redis that several instances share (D51).

use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use secrecy::{ExposeSecret, SecretSlice};

use crate::config::section::Section;
use crate::config::value::{parsed, text};
use frontend_map_fleet::redis::{self, MIN_KEY_BYTES, RedisUrl};

const DEFAULT_PREFIX: &str = "frontend-map";

/// The longest prefix of keys, in bytes: each key has it.
const MAX_PREFIX: usize = 64;

/// `None`: the service works alone.
pub(in crate::config) fn read(shared: &mut Section<'_>) -> Option<redis::Settings> {
    let others = ["password_file", "prefix", "key_file", "ca_file"];
    let url = shared.optional("url", text);
    // An empty variable turns off what the file turns on.
    if let Some(url) = url.as_deref().filter(|url| !url.is_empty()) {
        return connection(shared, url);
    }
    let others = others.map(|key| shared.optional(key, text).is_some());
    if url.is_none() && others.contains(&true) {
        shared.problem("url", "must be set if [shared] has other settings");
    }
    None
}

fn connection(shared: &mut Section<'_>, url: &str) -> Option<redis::Settings> {
    let url = shared.check("url", RedisUrl::parse(url));
    let password = shared.secret("the password of Redis", "password", "password_file");
    let prefix = shared.optional("prefix", parsed(prefix));
    let prefix = prefix.unwrap_or_else(|| DEFAULT_PREFIX.to_owned());
    let key = shared.file("key_file", key);
    let ca = shared.file("ca_file", certificates);
    if ca.is_some() && url.as_ref().is_some_and(|url| !url.tls) {
        shared.problem("ca_file", "needs a `shared.url` that begins with rediss://");
    }
    Some(redis::Settings { url: url?, password, prefix, key, ca })
}

/// The file, if it has certificates in PEM that can be trusted.
fn certificates(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let added = certificate
            .map_err(|error| error.to_string())
            .and_then(|certificate| roots.add(certificate).map_err(|error| error.to_string()));
        added.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if roots.is_empty() {
        return Err(format!("{}: there is no certificate in PEM in it", path.display()));
    }
    Ok(bytes)
}

/// Characters without a meaning in patterns of keys and in access rules.
fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    if text.is_empty() || text.len() > MAX_PREFIX || !text.bytes().all(is_plain) {
        return Err(format!(
            "must be 1 to {MAX_PREFIX} letters, digits and the characters - _ . :"
        ));
    }
    Ok(text.to_owned())
}

/// The bytes of the file without line breaks at its end, which editors add.
fn key(path: &Path) -> Result<SecretSlice<u8>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let end = bytes.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
    let key = SecretSlice::from(bytes[..end].to_vec());
    if key.expose_secret().len() < MIN_KEY_BYTES {
        return Err(format!("the key must have at least {MIN_KEY_BYTES} bytes"));
    }
    Ok(key)
}
