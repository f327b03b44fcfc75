//! `[shared]`: Redis that several instances share (D51).

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use secrecy::{ExposeSecret, SecretSlice};
use serde::Deserialize;

use crate::config::Problems;
use crate::config::secret::Secret;
use crate::config::sources::Context;
use crate::config::table;
use crate::config::value::Table;
use crate::config::variable_names::SHARED_PASSWORD;
use frontend_map_fleet::redis::{self, MIN_KEY_BYTES, RedisUrl};

const DEFAULT_PREFIX: &str = "frontend-map";

/// The longest prefix of keys, in bytes: each key has it.
const MAX_PREFIX: usize = 64;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SharedToml {
    url: Option<String>,
    password_file: Option<PathBuf>,
    prefix: Option<String>,
    key_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
}

/// `None`: the service works alone.
pub(in crate::config) fn read(
    table: &mut Table,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<redis::Settings> {
    let toml: SharedToml = table::read(table, "shared", problems);
    let Some(url) = toml.url.as_deref() else {
        let files = [&toml.password_file, &toml.key_file, &toml.ca_file];
        if toml.prefix.is_some() || files.iter().any(|file| file.is_some()) {
            problems.add("shared.url", "must be set if [shared] has other settings");
        }
        return None;
    };
    // An empty variable turns off what the file turns on.
    if url.is_empty() {
        return None;
    }
    let url = problems.take("shared.url", RedisUrl::parse(url));
    let password = Secret {
        name: "the password of Redis",
        variable: SHARED_PASSWORD,
        key: "shared.password_file",
    };
    let password = password.read(toml.password_file.as_deref(), context, problems);
    let prefix = problems.take("shared.prefix", prefix(toml.prefix.as_deref()));
    let key = toml.key_file.map(|path| key(&context.base_dir.join(path)));
    let key = key.and_then(|key| problems.take("shared.key_file", key));
    let ca = toml.ca_file.map(|path| certificates(&context.base_dir.join(path)));
    let ca = ca.and_then(|ca| problems.take("shared.ca_file", ca));
    if ca.is_some() && url.as_ref().is_some_and(|url| !url.tls) {
        problems.add("shared.ca_file", "needs a `shared.url` that begins with rediss://");
    }
    Some(redis::Settings { url: url?, password, prefix: prefix?, key, ca })
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
fn prefix(text: Option<&str>) -> Result<String, String> {
    let text = text.unwrap_or(DEFAULT_PREFIX);
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
