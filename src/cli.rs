//! The command line: which command, with which settings, and the exit status.

mod check;
mod explain;
mod health;
mod logging;
mod serve;
mod shutdown;
mod sitemap;
mod validate;
mod walk;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{self, Config, Environment, Problems};

/// `EX_CONFIG` of sysexits.h: something is wrong with the settings.
const BAD_SETTINGS: u8 = 78;
/// Anything else that went wrong.
const FAILED: u8 = 1;
/// `validate` could not check: 1 means dead URLs there.
const NOT_CHECKED: u8 = 2;

/// Maps the content of a headless CMS to public frontend URLs, in both directions.
#[derive(Debug, Parser)]
#[command(version, about, after_help = AFTER_HELP)]
struct Arguments {
    /// The settings file (TOML)
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Settings are read from built-in defaults, then FILE, then the environment:
  FRONTEND_MAP__SERVER__LISTEN   any setting, by its section and name
  FRONTEND_MAP__CMS__TOKEN       the API token of the CMS (never in FILE)
  FRONTEND_MAP__HOOKS__SECRET    the secret of the webhook (never in FILE)
  FRONTEND_MAP__AUTH__VALIDATE_TOKEN, FRONTEND_MAP__AUTH__DRAFT_TOKEN
                                 who may have URLs checked, and ask for drafts
  FRONT_END_URL_<SITE>           the base URL of a site's frontend
  RUST_LOG                       what is logged

Exit status: 0 done, 1 failed, 2 wrong arguments, 78 wrong settings; of `validate`: 0 all fine,
1 dead URLs, 2 could not run.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service until SIGTERM or SIGINT
    Serve,
    /// Run the service on built-in content beside a small frontend, and show each operation
    Demo {
        /// End after the answers instead of serving on
        #[arg(long)]
        once: bool,
    },
    /// Read and check the settings, and tell which rules overlap
    Check {
        /// Fail where rules overlap or never match
        #[arg(long)]
        strict: bool,
    },
    /// Tell why a pathname or a document ends up where it does
    Explain(explain::Question),
    /// Write the sitemap files of a site to a folder
    Sitemap(sitemap::Order),
    /// Check every public URL of a site, and tell which documents the dead ones belong to
    Validate(validate::Order),
    /// Ask a running service whether it is alive (for container health checks)
    Health {
        /// What to ask; by default /livez at the settings' address
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
}

/// Runs the command that the arguments name.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    match execute(&arguments) {
        Ok(status) => status,
        Err(failure) => {
            // Nobody may be reading; the status tells as well.
            let _ = writeln!(std::io::stderr(), "frontend-map: {failure}");
            ExitCode::from(failure.status())
        }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Settings(#[from] Problems),
    #[error(transparent)]
    NotChecked(Box<dyn std::error::Error>),
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error>),
}

impl Failure {
    fn status(&self) -> u8 {
        match self {
            Self::Settings(_) => BAD_SETTINGS,
            Self::NotChecked(_) => NOT_CHECKED,
            Self::Other(_) => FAILED,
        }
    }
}

fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = arguments.config.as_deref();
    match &arguments.command {
        Command::Serve => {
            let path = arguments.config.clone();
            serve::run(file, move || settings(path.as_deref()))?;
        }
        Command::Demo { once } => serve::run_demo(*once)?,
        Command::Check { strict } => check::run(&settings(file)?, *strict)?,
        Command::Explain(question) => {
            let found = explain::run(settings(file)?, question)?;
            return Ok(if found { ExitCode::SUCCESS } else { ExitCode::from(FAILED) });
        }
        Command::Sitemap(order) => sitemap::run(settings(file)?, order)?,
        Command::Validate(order) => {
            return validate::run(settings(file)?, order).map_err(Failure::NotChecked);
        }
        Command::Health { url: Some(url) } => health::run(url)?,
        Command::Health { url: None } => {
            let listen = config::listen(file, &environment())?;
            health::run(&health::local_url(listen))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The settings as they are now, for a command that needs a site.
fn settings(file: Option<&Path>) -> Result<Config, Problems> {
    let config = config::load(file, &environment())?;
    config.require_site()?;
    Ok(config)
}

/// What is not UTF-8 gets a replacement character, which no setting accepts.
fn environment() -> Environment {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}
