//! The settings of a command, and which file they are from.

use std::fmt::Display;
use std::io::Write;

use crate::config::{self, Config, Problems, SettingsFile, environment};

/// Reads the settings for a command that needs a site.
pub(super) fn read(file: &SettingsFile) -> Result<Config, Problems> {
    let config = config::load(file.path(), &environment::of_process())?;
    config.require_site()?;
    Ok(config)
}

/// Says which settings file is used, on stderr: stdout has the result of the command.
pub(super) fn print_file(file: &impl Display) {
    // stderr may be closed.
    let _ = writeln!(std::io::stderr(), "settings: {file}");
}
