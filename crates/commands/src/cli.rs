//! The command line: its arguments, the settings and the exit status.

mod check;
mod demo;
mod error;
mod explain;
mod init;
mod output;
mod selection;
mod serve;
mod service;
mod settings;
mod shutdown;
mod sitemap;
mod tables;
mod types;
mod validate;
mod walk;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use self::error::CommandError;
use self::output::logging;
use self::service::{health, refresh};
use crate::config::{self, Config, Problems, SettingsFile, environment};

/// Maps the content of a headless CMS to public frontend URLs, in both directions.
#[derive(Debug, Parser)]
#[command(name = "frontend-map", version, after_help = AFTER_HELP)]
struct Arguments {
    /// The settings file (TOML); by default that of `FRONTEND_MAP_CONFIG`, else ./frontend-map.toml
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print log lines as well; `serve` always does
    #[arg(short, long, global = true)]
    verbose: bool,

    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Settings come from FILE and from the environment, which wins:
  FRONTEND_MAP_CONFIG            FILE, if --config is not given
  FRONTEND_MAP__SERVER__LISTEN   any setting, by its section and name
  FRONTEND_MAP__CMS__TOKEN       the API token of the CMS (never in FILE)
  FRONTEND_MAP__HOOKS__SECRET    the secret of the webhook (never in FILE)
  FRONTEND_MAP__AUTH__VALIDATE_TOKEN, FRONTEND_MAP__AUTH__DRAFT_TOKEN
                                 the bearer tokens for validate=true and status=draft
  FRONTEND_MAP__SHARED__PASSWORD the password of Redis (never in FILE)
  FRONT_END_URL_<SITE>           the base URL of a site's frontend
  FRONT_END_URL_<SITE>_<LOCALE>  the base URL of one of its locales, which wins
  RUST_LOG                       the level of the log

Exit status: 0 success, 1 failure, 2 invalid arguments, 78 invalid settings; of `explain`: 1 no rule
matches or no URL, 2 could not run; of `validate`: 0 no dead URL, 1 dead URLs, faulty pages or
robots.txt, or broken links, 2 could not run; of `links`: 1 broken links, 2 could not run; of `diff`:
1 too many paths change, 2 could not run; of `types --check`: 1 the file differs, 2 could not run.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service until SIGTERM or SIGINT
    Serve,
    /// Show each operation on built-in content, without a CMS or settings
    Demo(demo::DemoArgs),
    /// Write a settings file with a rule for each content type of a CMS
    Init(init::InitArgs),
    /// Check the settings, compare them with the CMS, and list the rules that overlap
    Check(check::CheckArgs),
    /// Explain which rule a pathname matches, or which URL a document has
    Explain(explain::ExplainArgs),
    /// Write the sitemap files of a site to a folder
    Sitemap(sitemap::SitemapArgs),
    /// Write all public pages of a site with their documents, for a static build
    Pages(tables::pages::PagesArgs),
    /// List the documents of a site without a URL, and the paths that several documents have
    Problems(tables::problems::ProblemsArgs),
    /// List the paths that visitors of a site could not find, with the pages that were perhaps meant
    Misses(tables::misses::MissesArgs),
    /// List the links in the content of a site, with the verdict about each
    Links(tables::links::LinksArgs),
    /// Write the redirects of a site, for a static host or a proxy
    Redirects(tables::redirects::RedirectsArgs),
    /// List the paths that change if these settings replace others
    Diff(tables::diff::DiffArgs),
    /// Write the sites, locales, content types and params of the settings for the JavaScript client
    Types(types::TypesArgs),
    /// Check every public URL of a site, and list the dead ones with their documents
    Validate(validate::ValidateArgs),
    /// Let a running service read content types again, after an import into the CMS's database
    Refresh(refresh::RefreshArgs),
    /// Check that a running service is alive (for container health checks)
    Health {
        /// The URL to check; by default /livez at the address in the settings
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
}

/// The description of the command line, from which man pages and completions are made.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the command in the arguments of the process.
pub fn run() -> ExitCode {
    execute(&Arguments::parse()).unwrap_or_else(|error| {
        report(&error);
        ExitCode::from(error.status())
    })
}

fn report(error: &CommandError) {
    // stderr may be closed; the exit status is enough then.
    let _ = match error {
        // As clap reports the mistakes that it finds.
        CommandError::Arguments(problem) => {
            Arguments::command().error(ErrorKind::ArgumentConflict, problem).print()
        }
        error if error.is_closed_pipe() => Ok(()),
        error => writeln!(std::io::stderr(), "frontend-map: {error}"),
    };
}

fn execute(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let (file, verbose) = (arguments.config.as_deref(), arguments.verbose);
    let environment = environment::of_process();
    let find = || {
        let file = SettingsFile::find(file, &environment)?;
        if !file.is_argument() {
            settings::print_file(&file);
        }
        Ok::<_, Problems>(file)
    };
    let load = || settings::read(&find()?);
    match &arguments.command {
        Command::Serve => serve::run(SettingsFile::find(file, &environment)?, settings::read)?,
        Command::Demo(args) => {
            if file.is_some() {
                let problem = "the demo reads no settings: leave --config out, or run `serve`";
                return Err(CommandError::Arguments(problem.to_owned()));
            }
            demo::run(args, verbose)?;
        }
        Command::Init(args) => {
            if file.is_some() {
                let problem =
                    "init reads no settings: write `--out FILE` to name the file that it writes";
                return Err(CommandError::Arguments(problem.to_owned()));
            }
            init::run(args, verbose)?;
        }
        Command::Check(args) => {
            let file = find()?;
            let config = match settings::read(&file) {
                Ok(config) => with_log_if_verbose(config, verbose),
                Err(problems) => {
                    // Why the settings are invalid is on stderr, too.
                    let _ = check::refuse(&problems, file.path(), args);
                    return Err(problems.into());
                }
            };
            check::run(&config, file.path(), args)?;
        }
        Command::Explain(args) => {
            let config = with_log_if_verbose(load()?, verbose);
            return explain::run(config, args).map_err(CommandError::NotRun);
        }
        Command::Sitemap(args) => sitemap::run(load()?, args, verbose)?,
        Command::Pages(args) => tables::pages::run(load()?, args, verbose)?,
        Command::Problems(args) => {
            let file = find()?;
            tables::problems::run(settings::read(&file)?, file.path(), args, verbose)?;
        }
        Command::Misses(args) => {
            tables::misses::run(&with_log_if_verbose(load()?, verbose), args)?;
        }
        Command::Links(args) => {
            let config = with_log_if_verbose(load()?, verbose);
            return tables::links::run(&config, args).map_err(CommandError::NotRun);
        }
        Command::Redirects(args) => tables::redirects::run(load()?, args, verbose)?,
        Command::Diff(args) => {
            let config = load()?;
            let against = config::load(&args.against, &environment);
            let against = against.inspect_err(|_| settings::print_file(&args.against.display()))?;
            return tables::diff::run(config, &against, args, verbose)
                .map_err(CommandError::NotRun);
        }
        Command::Types(args) => {
            return types::run(&load()?, args);
        }
        Command::Validate(args) => {
            return validate::run(load()?, args, verbose).map_err(CommandError::NotRun);
        }
        Command::Refresh(args) => refresh::run(&with_log_if_verbose(load()?, verbose), args)?,
        Command::Health { url: Some(url) } => health::run(url)?,
        Command::Health { url: None } => {
            let listen = config::listen(file, &environment)?;
            health::run(&health::livez_url(listen))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts the log of a command that prints log lines only with `-v`; returns the settings.
fn with_log_if_verbose(config: Config, verbose: bool) -> Config {
    logging::start_if(verbose, &config.log);
    config
}
