//! The settings (D29, D30): built-in defaults, overridden by the file, overridden by the
//! environment. They are checked as a whole before anything is started.
//!
//! # Design
//!
//! `sources` puts the layers above each other, into one table in which each value knows its line or its
//! variable. `section` takes the values out of it, each with what it is read by (`value`) in the line
//! that fills the field of a struct, and collects all problems. A key that nothing takes is unknown,
//! which is a problem as well. A [`Config`] exists only if there are no problems, so the rest of the
//! program does not check settings again (D29). Sites and content types are lists (`[[site]]`), never
//! maps by key: names of environment variables have any letter case, but a site's key keeps its own.
//!
//! The token cannot be set in the settings file. It is stored in a `SecretString`, its header is
//! marked sensitive, and the text of an HTTP client error is never printed, because it contains
//! addresses.

pub(crate) mod environment;
mod file;
mod fingerprint;
mod known_keys;
mod problems;
mod restart;
mod section;
mod sections;
mod sources;
mod value;
mod variable_names;
mod warnings;

pub use environment::Environment;
pub use file::search::SettingsFile;
pub use problems::{Problem, Problems};
pub use restart::RestartSettings;
pub use section::Lines;
pub use sections::auth::Auth;
pub use sections::changes::Changes;
pub use sections::cms::Cms;
pub use sections::limits::{DEFAULT_REQUESTS, Limits};
pub use sections::log::{Format, Log};
pub use sections::moved::Moved;
pub use sections::server::Server;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use frontend_map_cache::Freshness;
use frontend_map_catalog::moved::import::ImportFile;
use frontend_map_catalog::site::Sites;
use frontend_map_cms::AbsentType;
use frontend_map_fleet::redis;
use frontend_map_outbound::checks::runs::RunTimes;
use frontend_map_outbound::webhooks::Target;
use frontend_map_platform::traces::Settings as Traces;
use frontend_map_rules::ContentTypeUid;
use frontend_map_rules::frontend_url::BaseUrl;
use section::Reader;

/// Checked settings.
#[derive(Debug)]
pub struct Config {
    /// Addresses, CORS, `Cache-Control` and connections.
    pub server: Server,
    /// The source of the documents.
    pub cms: Cms,
    /// The URL of the CMS's admin panel, for links to documents.
    pub admin_url: Option<BaseUrl>,
    /// The sites with their rules.
    pub sites: Sites,
    /// The level and format of the log.
    pub log: Log,
    /// The collector of traces; without it requests are not traced.
    pub traces: Option<Traces>,
    /// Timeouts, deadlines and sizes.
    pub limits: Limits,
    /// The secret that a webhook has to send; without it webhooks are refused.
    pub webhook_secret: Option<SecretString>,
    /// How old a cached snapshot may get.
    pub freshness: Freshness,
    /// The file in which snapshots survive the process.
    pub store: Option<PathBuf>,
    /// Redis that several instances share.
    pub shared: Option<redis::Settings>,
    /// The deadline of a URL check, and how long its results are reused.
    pub validation: RunTimes,
    /// How paths are redirected that documents had before.
    pub moved: Moved,
    /// Redirects of other systems.
    pub imports: Vec<ImportFile>,
    /// How many changes are kept.
    pub changes: Changes,
    /// The targets of webhooks that are sent.
    pub notify: Vec<Target>,
    /// The tokens that restricted requests have to send.
    pub auth: Auth,
    /// Equal for settings with the same content source and the same limits toward it.
    pub content_fingerprint: u128,
    /// Settings that are accepted although they are probably a mistake.
    pub warnings: Vec<Problem>,
    /// Where the sites and rules are written.
    pub lines: Lines,
}

/// Reads and checks the settings: the file, and the environment, which wins.
///
/// # Errors
/// [`Problems`]: all problems, each with the name of the setting.
pub fn load(file: &Path, environment: &Environment) -> Result<Config, Problems> {
    parse(Some(&text(file)?), file, environment)
}

/// The settings from the text of a settings file. Paths in it are relative to the folder of `path`.
///
/// # Errors
/// As [`load`].
pub fn parse(
    text: Option<&str>,
    path: &Path,
    environment: &Environment,
) -> Result<Config, Problems> {
    let table = sources::read(text, path, environment)?;
    let written = fingerprint::written(&table);
    let reader = Reader::new(base_dir(path), environment);
    let mut root = reader.root(table);
    let config = sections::read(&mut root, &written);
    root.finish();
    let (problems, known, lines) = reader.finish();
    let mut config = config.filter(|_| problems.0.is_empty()).ok_or(problems)?;
    config.warnings = warnings::find(&config.sites, &config.cms, environment, &known, &lines);
    config.lines = lines;
    Ok(config)
}

/// The address of the service, whatever else is in the settings. The file is not read if an
/// environment variable has the address: a health check of a running service must not fail because
/// the file has been broken since.
///
/// # Errors
/// [`Problems`] of the file's syntax or the address.
pub fn listen(file: Option<&Path>, environment: &Environment) -> Result<SocketAddr, Problems> {
    let file = file.filter(|_| !environment.contains_key(variable_names::LISTEN));
    let text = file.map(text).transpose()?;
    let path = file.unwrap_or(Path::new("environment"));
    let reader = Reader::new(base_dir(path), environment);
    let mut root = reader.root(sources::read(text.as_deref(), path, environment)?);
    let listen = root.section("server", sections::server::listen);
    listen.ok_or_else(|| reader.problems())
}

/// The files that the settings refer to, such as the one with the token of the CMS.
///
/// # Errors
/// [`Problems`] of the file's syntax.
pub fn referenced_files(file: &Path, environment: &Environment) -> Result<Vec<PathBuf>, Problems> {
    let table = sources::read(Some(&text(file)?), file, environment)?;
    let files = sources::referenced_files(&table).into_iter();
    Ok(files.map(|path| base_dir(file).join(path)).collect())
}

/// Checks the address of a CMS, as `cms.url` is checked; returns it in its canonical form.
///
/// # Errors
/// What is wrong with it.
pub fn cms_url(text: &str) -> Result<String, String> {
    let url = sections::cms::url(text)?;
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Settings without a file, with the CMS at this address, whatever address the environment has.
///
/// # Errors
/// [`Problems`] of the address or of the environment.
pub fn without_file(cms_url: &str, environment: &Environment) -> Result<Config, Problems> {
    let mut environment = environment.clone();
    for (key, text) in [("source", "strapi"), ("url", cms_url)] {
        environment.insert(variable_names::of("cms", key), text.to_owned());
    }
    parse(None, Path::new("environment"), &environment)
}

/// Paths in a settings file are relative to its folder.
fn base_dir(settings_file: &Path) -> &Path {
    settings_file.parent().unwrap_or(Path::new(""))
}

fn text(file: &Path) -> Result<String, Problems> {
    file::read_text(file).map_err(Problems::one)
}

impl Config {
    /// What the content file lacks: each content type of a rule or of links that it does not name.
    pub fn absent_types(&self) -> Vec<AbsentType> {
        let Cms::Files { content, name } = &self.cms else { return Vec::new() };
        let mut wanted: Vec<&ContentTypeUid> = Vec::new();
        let linking = self.sites.iter().flat_map(|site| &site.links);
        let linking = linking.map(|source| &source.content_type);
        for uid in self.sites.iter().flat_map(|site| site.all_content_types()).chain(linking) {
            if !wanted.contains(&uid) {
                wanted.push(uid);
            }
        }
        content.absent_types(&wanted, name)
    }

    /// Logs the settings that are probably a mistake.
    pub fn log_warnings(&self) {
        let absent = self.absent_types();
        let absent = absent.iter().map(|absent| &absent.text);
        for warning in self.warnings.iter().map(|warning| &warning.text).chain(absent) {
            tracing::warn!(warning, "a setting is probably a mistake");
        }
    }

    /// Requires what serving needs beyond valid settings: at least one site (D31).
    ///
    /// # Errors
    /// [`Problems`] when there is none.
    pub fn require_site(&self) -> Result<(), Problems> {
        match self.sites.iter().next() {
            Some(_) => Ok(()),
            None => Err(Problems::one("site: at least one [[site]] is required")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::value::Table;
    use super::*;
    use ::config::{Value, ValueKind};

    const EXAMPLE: &str = include_str!("../../../config/settings.example.toml");

    /// The example with the settings that it has as comments.
    fn whole_example() -> String {
        let is_setting = |line: &str| {
            let key = line.split_once(" = ").map_or("", |(key, _)| key);
            let is_key = key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            line.starts_with("[[") || (!key.is_empty() && is_key)
        };
        let uncommented = |line: &'static str| {
            line.strip_prefix("# ").filter(|rest| is_setting(rest)).unwrap_or(line)
        };
        EXAMPLE.lines().map(uncommented).collect::<Vec<_>>().join("\n")
    }

    /// The keys of a table and of the tables in it.
    fn keys_of(table: &Table, section: &str, keys: &mut BTreeSet<String>) {
        for (key, Value { kind, .. }) in table {
            let name = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
            if !section.is_empty() {
                keys.insert(name.clone());
            }
            // Fields, locales and placeholders.
            let has_keys_of_its_own =
                ["where", "exclude_when", "params", "template", "path"].contains(&key.as_str());
            let tables = match kind {
                ValueKind::Array(list) => list.iter().map(|value| &value.kind).collect(),
                kind => vec![kind],
            };
            for kind in tables.into_iter().filter(|_| !has_keys_of_its_own) {
                if let ValueKind::Table(table) = kind {
                    keys_of(table, &name, keys);
                }
            }
        }
    }

    #[test]
    fn each_setting_that_is_read_is_in_the_example_and_no_other() {
        let environment = Environment::new();
        let path = Path::new("settings.toml");
        let table = sources::read(Some(&whole_example()), path, &environment).unwrap();
        let mut of_example = BTreeSet::new();
        keys_of(&table, "", &mut of_example);
        let written = fingerprint::written(&table);
        let reader = Reader::new(base_dir(path), &environment);
        let mut root = reader.root(table);
        sections::read(&mut root, &written);
        root.finish();
        let (problems, known, _) = reader.finish();
        let is_unknown = |problem: &&Problem| problem.text.contains("is not a setting");
        assert_eq!(problems.iter().find(is_unknown), None);
        // A table for one placeholder, which the page describes as one setting.
        let read: BTreeSet<String> =
            known.all().filter(|key| !key.starts_with("site.rule.params.")).collect();
        assert_eq!(read, of_example);
    }

    #[test]
    fn default_of_requests_is_that_of_the_example() {
        let defaults = parse(None, Path::new("settings.toml"), &Environment::new()).unwrap();
        assert_eq!(defaults.limits.requests, DEFAULT_REQUESTS);
    }
}
