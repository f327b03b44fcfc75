//! Finds the settings file: the one of `--config`, else that of a variable, else the one in the
//! working directory.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf, absolute};

use crate::config::Problems;
use crate::config::environment::Environment;

/// The settings file of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    path: PathBuf,
    named_by: NamedBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedBy {
    Argument,
    Variable,
    WorkingDirectory,
}

impl SettingsFile {
    /// The file in the working directory that is used if nothing names another one.
    pub const DEFAULT: &str = "frontend-map.toml";
    /// The variable with the path of the settings file. Empty counts as not set.
    pub const VARIABLE: &str = "FRONTEND_MAP_CONFIG";

    /// The file that `--config` names, else the one that the variable names, else the default one if
    /// it exists.
    ///
    /// # Errors
    /// [`Problems`]: there is none, or the one that the variable names does not exist.
    pub fn find(argument: Option<&Path>, environment: &Environment) -> Result<Self, Problems> {
        if let Some(path) = argument {
            return Ok(Self { path: path.to_owned(), named_by: NamedBy::Argument });
        }
        let variable = environment.get(Self::VARIABLE).filter(|path| !path.is_empty());
        if let Some(path) = variable.map(PathBuf::from) {
            return match fs::metadata(&path) {
                Ok(_) => Ok(Self { path, named_by: NamedBy::Variable }),
                Err(error) => Err(Problems::one(format_args!(
                    "{}: {}: {error}: correct the variable, or remove it",
                    Self::VARIABLE,
                    path.display()
                ))),
            };
        }
        // A file that exists and cannot be read is a problem, and not the same as no file.
        match fs::symlink_metadata(Self::DEFAULT) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Problems::one(format_args!(
                "no configuration: pass --config FILE, set {}, or write {} in the working \
                 directory; `frontend-map init --cms URL` writes one",
                Self::VARIABLE,
                Self::DEFAULT
            ))),
            _ => Ok(Self { path: Self::DEFAULT.into(), named_by: NamedBy::WorkingDirectory }),
        }
    }

    /// The path, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the command line names the file.
    pub fn is_argument(&self) -> bool {
        self.named_by == NamedBy::Argument
    }
}

/// The absolute path, and what has named it.
impl fmt::Display for SettingsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let named_by = match self.named_by {
            NamedBy::Argument => "--config",
            NamedBy::Variable => Self::VARIABLE,
            NamedBy::WorkingDirectory => "in the working directory",
        };
        write!(f, "{} ({named_by})", path.display())
    }
}
