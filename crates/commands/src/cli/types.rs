//! `frontend-map types`: writes the sites of the settings as TypeScript, for `clients/js`.

mod declaration;

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::error::{CommandError, FAILED};
use super::output::destination::Output;
use super::selection;
use crate::config::Config;
use frontend_map_catalog::site::Site;

const AFTER_HELP: &str = "\
The file declares the interface `Sites` of the package `frontend-map-client`: a `switch` over the
content types of a site, or over the templates of one, that forgets one does not compile then. Nothing
is requested from the CMS. All names are sorted, so that the file changes only if the types do.

Exit status: 0 written or, with --check, the same; 1 with --check, the file differs or does not exist;
2 could not run, or invalid arguments; 78 invalid settings.";

/// Which sites to write, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct TypesArgs {
    /// Only the site with this key; may be given more than once
    #[arg(long = "site", value_name = "KEY")]
    sites: Vec<String>,
    /// The file for the types, such as frontend-map.d.ts; by default, or for `-`, stdout
    #[arg(long, visible_alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing; fail if FILE differs from what would be written
    #[arg(long, requires = "output")]
    check: bool,
}

/// Writes the types, or compares them with the file.
///
/// # Errors
/// When the arguments do not go together, there is no such site, or the file cannot be read or
/// written.
pub(super) fn run(config: &Config, args: &TypesArgs) -> Result<ExitCode, CommandError> {
    let sites = sites(config, &args.sites).map_err(CommandError::NotRun)?;
    if args.check && args.output.as_deref() == Some(Path::new("-")) {
        let problem = "--check compares a file: name it with --output";
        return Err(CommandError::Arguments(problem.to_owned()));
    }
    let text = declaration::of_sites(sites);
    let result = match args.output.as_deref() {
        Some(path) if args.check => compare(path, &text, &args.sites),
        output => write(output, &text),
    };
    result.map_err(CommandError::NotRun)
}

/// The sites with these keys; all if there are none.
fn sites<'c>(config: &'c Config, keys: &[String]) -> Result<Vec<&'c Arc<Site>>, Box<dyn Error>> {
    if keys.is_empty() {
        return Ok(config.sites.iter().collect());
    }
    keys.iter().map(|key| Ok(selection::site(&config.sites, key)?)).collect()
}

fn write(output: Option<&Path>, text: &str) -> Result<ExitCode, Box<dyn Error>> {
    Output::open(output)?.write(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Line breaks may be those of another system: a checkout of git changes them.
fn compare(path: &Path, text: &str, sites: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let name = path.display();
    let problem = match std::fs::read_to_string(path) {
        Ok(found) if found.replace("\r\n", "\n") == text => return Ok(ExitCode::SUCCESS),
        Ok(_) => "differs from the settings",
        Err(error) if error.kind() == ErrorKind::InvalidData => "differs from the settings",
        Err(error) if error.kind() == ErrorKind::NotFound => "does not exist",
        Err(error) => return Err(format!("{name}: {error}").into()),
    };
    let sites: Vec<&str> = sites.iter().flat_map(|key| [" --site ", key]).collect();
    // stderr may be closed; the exit status is enough then.
    let _ = writeln!(
        std::io::stderr(),
        "frontend-map: {name} {problem}: run `frontend-map types{} --output {name}`",
        sites.concat()
    );
    Ok(ExitCode::from(FAILED))
}
