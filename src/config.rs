//! The settings (D29, D30): built-in defaults, then the file, then the environment, checked as a
//! whole before anything else happens.

mod fingerprint;
mod problems;
mod restart;
mod secret;
mod sections;
mod sources;
mod table;
mod value;

pub use fingerprint::Fingerprint;
pub use problems::Problems;
pub use restart::RestartSettings;
pub use sections::auth::Auth;
pub use sections::cms::Cms;
pub use sections::limits::{DEFAULT_CMS_REQUESTS, DEFAULT_REQUESTS, Limits};
pub use sections::log::{Format, Log};
pub use sections::server::Server;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::app::Freshness;
use crate::site::Sites;
use crate::traces::Settings as Traces;
use crate::validator::runs::RunTimes;

/// The environment as the settings see it.
pub type Environment = HashMap<String, String>;

/// Checked settings.
#[derive(Debug)]
pub struct Config {
    /// Where to listen, and which browsers may ask.
    pub server: Server,
    /// Where documents come from.
    pub cms: Cms,
    /// The sites with their rules.
    pub sites: Sites,
    /// What is logged, and how.
    pub log: Log,
    /// Who takes traces of requests; without it there are none.
    pub traces: Option<Traces>,
    /// Deadlines and sizes.
    pub limits: Limits,
    /// What a hint that content has changed has to carry; without it there are no hints.
    pub webhook_secret: Option<SecretString>,
    /// How old copies of the public URLs may get.
    pub freshness: Freshness,
    /// How long runs of URL checks take, and how long their results are used.
    pub validation: RunTimes,
    /// What callers have to carry for what is not for everybody.
    pub auth: Auth,
    /// To tell whether other settings make the same.
    pub fingerprint: Fingerprint,
}

/// Reads and checks the settings: the file if there is one, then the environment over it.
///
/// # Errors
/// [`Problems`]: everything that is wrong, each with the place where it stands.
pub fn load(file: Option<&Path>, environment: &Environment) -> Result<Config, Problems> {
    let Some(path) = file else {
        return parse(None, Path::new("environment"), environment);
    };
    parse(Some(&text(path)?), path, environment)
}

/// The same for the text of a settings file; paths in it are relative to `path`'s folder.
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
    let mut problems = Problems::default();
    let here = path.parent().unwrap_or(Path::new(""));
    let server = sections::server::read(&mut table, &mut problems);
    let limits = sections::limits::read(&mut table, &mut problems);
    let cms = sections::cms::read(&mut table, (here, environment), limits.cms, &mut problems);
    let sites = sections::site::read(&mut table, environment, &mut problems);
    let log = sections::log::read(&mut table, &mut problems);
    let traces = sections::traces::read(&mut table, &mut problems);
    let webhook_secret = sections::hooks::read(&mut table, (here, environment), &mut problems);
    let freshness = sections::snapshots::read(&mut table, &mut problems);
    let validation = sections::validation::read(&mut table, &mut problems);
    let auth = sections::auth::read(&mut table, (here, environment), &mut problems);
    for key in table.keys() {
        problems.add(key, "is not a setting");
    }
    match (server, cms, sites) {
        (Some(server), Some(cms), Some(sites)) if problems.is_empty() => {
            let fingerprint = fingerprint::fingerprint(&written, &cms, &sites);
            let sites = Sites::new(sites);
            Ok(Config {
                server,
                cms,
                sites,
                log,
                traces,
                limits,
                webhook_secret,
                freshness,
                validation,
                auth,
                fingerprint,
            })
        }
        _ => Err(problems),
    }
}

/// Where the service listens, whatever else is in the settings. The file is not looked at where a
/// variable says it: a health check must not fail because somebody has broken the file.
///
/// # Errors
/// [`Problems`] with the file's syntax or the address.
pub fn listen(file: Option<&Path>, environment: &Environment) -> Result<SocketAddr, Problems> {
    let file = file.filter(|_| !environment.contains_key(sources::LISTEN));
    let text = file.map(text).transpose()?;
    let path = file.unwrap_or(Path::new("environment"));
    let mut table = sources::read(text.as_deref(), path, environment)?;
    let mut problems = Problems::default();
    sections::server::listen(&mut table, &mut problems).ok_or(problems)
}

/// The files that the settings name, and that are read with them.
///
/// # Errors
/// [`Problems`] with the file's syntax.
pub fn named_files(
    file: Option<&Path>,
    environment: &Environment,
) -> Result<Vec<PathBuf>, Problems> {
    let text = file.map(text).transpose()?;
    let path = file.unwrap_or(Path::new("environment"));
    let table = sources::read(text.as_deref(), path, environment)?;
    let here = path.parent().unwrap_or(Path::new(""));
    Ok(sources::named_files(&table).map(|file| here.join(file)).collect())
}

fn text(file: &Path) -> Result<String, Problems> {
    let text = std::fs::read_to_string(file);
    text.map_err(|error| Problems::one(&file.display().to_string(), error))
}

impl Config {
    /// What serving needs beyond settings without a fault: at least one site (D31).
    ///
    /// # Errors
    /// [`Problems`] when there is none.
    pub fn require_site(&self) -> Result<(), Problems> {
        match self.sites.iter().next() {
            Some(_) => Ok(()),
            None => Err(Problems::one("site", "there is no [[site]] to serve")),
        }
    }
}
