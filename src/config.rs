//! The settings (D29, D30): built-in defaults, overridden by the file, overridden by the
//! environment. They are checked as a whole before anything is started.
//!
//! # Design
//!
//! `config` reads everything into one table, removes and checks the sections one by one, and
//! collects all problems. A key that remains in the table is unknown, which is a problem as well. A
//! `Config` exists only if there are no problems, so the rest of the program does not check
//! settings again (D29). Sites and content types are lists (`[[site]]`), never maps by key: names
//! of environment variables are lower-cased when they are read, but a site's key must keep its
//! letter case.
//!
//! The token cannot be set in the settings file. It is stored in a `SecretString`, its header is
//! marked sensitive, and the text of an HTTP client error is never printed, because it contains
//! addresses.

mod deserialize;
mod file;
mod fingerprint;
mod known_keys;
mod lines;
mod problems;
mod restart;
mod secret;
mod sections;
mod sources;
mod table;
mod value;
mod variable_names;
mod variables;
mod warnings;

pub use file::search::SettingsFile;
pub use lines::Lines;
pub use problems::{Problem, Problems};
pub use restart::RestartSettings;
pub use sections::auth::Auth;
pub use sections::changes::Changes;
pub use sections::cms::Cms;
pub use sections::limits::{DEFAULT_CMS_REQUESTS, DEFAULT_REQUESTS, Limits};
pub use sections::log::{Format, Log};
pub use sections::moved::Moved;
pub use sections::server::Server;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use frontend_map_cache::Freshness;
use frontend_map_catalog::moved::import::ImportFile;
use frontend_map_catalog::site::Sites;
use frontend_map_cms::{AbsentType, StrapiSettings};
use frontend_map_fleet::redis;
use frontend_map_outbound::checks::runs::RunTimes;
use frontend_map_outbound::webhooks::Target;
use frontend_map_platform::traces::Settings as Traces;
use frontend_map_rules::ContentTypeUid;
use frontend_map_rules::frontend_url::BaseUrl;
use sources::Context;

/// The environment variables by name.
pub type Environment = HashMap<String, String>;

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
    let mut table = sources::read(text, path, environment)?;
    let written = fingerprint::written(&table);
    let lines = Lines::of(&table);
    let mut problems = Problems::of(&table);
    let context = Context { base_dir: base_dir(path), environment };
    let server = sections::server::read(&mut table, &mut problems);
    let limits = sections::limits::read(&mut table, &mut problems);
    let cms = sections::cms::read(&mut table, context, limits.cms, &mut problems);
    let sites = sections::site::read(&mut table, environment, &mut problems);
    let log = sections::log::read(&mut table, &mut problems);
    let traces = sections::traces::read(&mut table, &mut problems);
    let webhook_secret = sections::auth::hooks::read(&mut table, context, &mut problems);
    let freshness = sections::snapshots::read(&mut table, &mut problems);
    let store = sections::store::read(&mut table, context, &mut problems);
    let shared = sections::shared::read(&mut table, context, &mut problems);
    let validation = sections::validation::read(&mut table, &mut problems);
    let (moved, imports) = sections::moved::read(&mut table, context, &mut problems);
    let changes = sections::changes::read(&mut table, &mut problems);
    let notify =
        sections::changes::notify::read(&mut table, context, sites.as_deref(), &mut problems);
    let auth = sections::auth::read(&mut table, context, &mut problems);
    problems.add_unknown_sections(&table);
    problems.resolve_misplaced();
    if let (Some((cms, _)), Some(sites)) = (&cms, &sites) {
        sections::rule::row_ids::refuse(cms, sites, &mut problems);
    }
    match (server, cms, sites) {
        (Some(server), Some((cms, admin_url)), Some(mut sites)) if problems.is_empty() => {
            let warnings = warnings::find(&sites, &cms, environment, problems.known_keys(), &lines);
            let content_fingerprint = fingerprint::set_fingerprints(&written, &cms, &mut sites);
            let sites = Sites::new(sites);
            Ok(Config {
                server,
                cms,
                admin_url,
                sites,
                log,
                traces,
                limits,
                webhook_secret,
                freshness,
                store,
                shared,
                validation,
                moved,
                imports,
                changes,
                notify,
                auth,
                content_fingerprint,
                warnings,
                lines,
            })
        }
        _ => Err(problems),
    }
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
    let mut table = sources::read(text.as_deref(), path, environment)?;
    let mut problems = Problems::of(&table);
    sections::server::listen(&mut table, &mut problems).ok_or(problems)
}

/// The files that the settings refer to, such as the one with the token of the CMS.
///
/// # Errors
/// [`Problems`] of the file's syntax.
pub fn referenced_files(file: &Path, environment: &Environment) -> Result<Vec<PathBuf>, Problems> {
    let table = sources::read(Some(&text(file)?), file, environment)?;
    Ok(sources::referenced_files(&table).map(|path| base_dir(file).join(path)).collect())
}

/// Checks the address of a CMS, as `cms.url` is checked; returns it in its canonical form.
///
/// # Errors
/// What is wrong with it.
pub fn cms_url(text: &str) -> Result<String, String> {
    let url = sections::cms::url(text)?;
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The settings of a CMS at this address, for a command without a settings file: its token and the
/// limits of requests are those of the environment.
///
/// # Errors
/// [`Problems`] of the address or of the environment.
pub fn cms_at(url: &str, environment: &Environment) -> Result<StrapiSettings, Problems> {
    let file = Path::new("environment");
    let mut table = sources::read(None, file, environment)?;
    let mut problems = Problems::of(&table);
    let limits = sections::limits::read(&mut table, &mut problems);
    let context = Context { base_dir: base_dir(file), environment };
    sections::cms::at(url, &mut table, context, limits.cms, &mut problems).ok_or(problems)
}

/// Paths in a settings file are relative to its folder.
fn base_dir(settings_file: &Path) -> &Path {
    settings_file.parent().unwrap_or(Path::new(""))
}

fn text(file: &Path) -> Result<String, Problems> {
    file::read_text(file).map_err(Problems::one)
}

impl Config {
    /// What the content file lacks: each content type of a rule that it does not name.
    #[must_use]
    pub fn absent_types(&self) -> Vec<AbsentType> {
        let Cms::Files { content, name } = &self.cms else { return Vec::new() };
        let mut wanted: Vec<&ContentTypeUid> = Vec::new();
        for uid in self.sites.iter().flat_map(|site| site.rules.content_types()) {
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
