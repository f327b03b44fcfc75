//! Settings that are fixed until a restart: a reload leaves them as they are and names those that
//! have changed.

use secrecy::ExposeSecret;
use xxhash_rust::xxh3::xxh3_128;

use super::Config;

/// The values of the settings that a reload cannot apply, by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartSettings(Vec<(&'static str, String)>);

impl RestartSettings {
    /// The names of the settings whose values differ in `other`.
    pub fn changed(&self, other: &Self) -> Vec<&'static str> {
        let pairs = self.0.iter().zip(&other.0).filter(|(this, other)| this != other);
        pairs.map(|((name, _), _)| *name).collect()
    }
}

impl Config {
    /// The settings that need a restart, as they are written here.
    pub fn restart_settings(&self) -> RestartSettings {
        let (server, limits, log) = (&self.server, &self.limits, &self.log);
        let (traces, shared) = (self.traces.as_ref(), self.shared.as_ref());
        let password = shared.and_then(|shared| shared.password.as_ref());
        let key = shared.and_then(|shared| shared.key.as_ref());
        RestartSettings(vec![
            ("server.listen", server.listen.to_string()),
            ("server.admin_listen", format!("{:?}", server.admin_listen)),
            ("server.connections", server.connections.to_string()),
            ("limits.head_timeout_ms", format!("{:?}", limits.timeouts.head)),
            ("limits.idle_timeout_ms", format!("{:?}", limits.timeouts.idle)),
            ("limits.write_timeout_ms", format!("{:?}", limits.timeouts.write)),
            ("limits.requests", limits.requests.to_string()),
            ("limits.cms_requests", limits.cms_requests.to_string()),
            ("log.level", log.level.clone()),
            ("log.format", format!("{:?}", log.format)),
            ("store.path", format!("{:?}", self.store)),
            ("shared.url", format!("{:?}", shared.map(|shared| &shared.url))),
            ("shared.password_file", hash(password.map(|text| text.expose_secret().as_bytes()))),
            ("shared.prefix", format!("{:?}", shared.map(|shared| &shared.prefix))),
            ("shared.key_file", hash(key.map(ExposeSecret::expose_secret))),
            ("shared.ca_file", hash(shared.and_then(|shared| shared.ca.as_deref()))),
            ("traces.otlp_endpoint", format!("{:?}", traces.map(|traces| &traces.url))),
            ("traces.sample_ratio", format!("{:?}", traces.map(|traces| traces.sample_ratio))),
        ])
    }
}

/// Stands for a secret.
fn hash(secret: Option<&[u8]>) -> String {
    secret.map_or_else(String::new, |secret| xxh3_128(secret).to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Environment, parse};

    fn settings(text: &str) -> RestartSettings {
        parse(Some(text), Path::new("settings.toml"), &Environment::new())
            .unwrap()
            .restart_settings()
    }

    #[test]
    fn changed_names_each_setting_that_waits_for_a_restart_and_no_other() {
        const SITE: &str = "[[site]]\nkey = \"a\"\nlocales = [\"en\"]\n";
        let before = settings(SITE);
        for (section, line, expected) in [
            ("server", "connections = 7", "server.connections"),
            ("server", "admin_listen = \"\"", "server.admin_listen"),
            ("limits", "requests = 7", "limits.requests"),
            ("limits", "cms_requests = 7", "limits.cms_requests"),
            ("limits", "idle_timeout_ms = 7", "limits.idle_timeout_ms"),
            ("log", "level = \"debug\"", "log.level"),
            ("shared", "url = \"redis://localhost\"", "shared.url, shared.prefix"),
            ("limits", "walk_deadline_ms = 7", ""),
            ("server", "cache_control = \"no-store\"", ""),
        ] {
            let after = settings(&format!("[{section}]\n{line}\n{SITE}"));
            assert_eq!(before.changed(&after).join(", "), expected, "{line}");
        }
    }
}
