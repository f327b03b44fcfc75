//! `frontend-map types`: writes the sites of the settings as TypeScript, for `clients/js`.

mod declaration;

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::output::destination::Output;
use super::{FAILED, refuse, selection};
use crate::config::Config;

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
/// When there is no such site, or the file cannot be read or written.
pub(super) fn run(config: &Config, args: &TypesArgs) -> Result<ExitCode, Box<dyn Error>> {
    let mut sites = Vec::new();
    for key in &args.sites {
        sites.push(selection::site(&config.sites, key)?);
    }
    if sites.is_empty() {
        sites.extend(config.sites.iter());
    }
    if args.check && args.output.as_deref() == Some(Path::new("-")) {
        refuse("--check compares a file: name it with --output");
    }
    let text = declaration::of_sites(sites);
    if let Some(path) = args.output.as_deref().filter(|_| args.check) {
        return compare(path, &text, &args.sites);
    }
    Output::open(args.output.as_deref())?.write(|out| out.write_all(text.as_bytes()))?;
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
