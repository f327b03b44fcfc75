//! `[hooks]`: who may say that content has changed.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde::Deserialize;

use crate::config::secret::Secret;
use crate::config::sources::HOOK_SECRET;
use crate::config::table::{self, Table};
use crate::config::{Environment, Problems};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Raw {
    secret_file: Option<PathBuf>,
}

/// The secret that a hint has to carry; without one there are no hints.
pub(in crate::config) fn read(
    table: &mut Table,
    (here, environment): (&Path, &Environment),
    problems: &mut Problems,
) -> Option<SecretString> {
    let raw: Raw = table::read(table, "hooks", problems);
    let secret = Secret {
        what: "the secret of the webhook",
        variable: HOOK_SECRET,
        key: "hooks.secret_file",
    };
    secret.read(raw.secret_file.as_deref(), (here, environment), problems)
}
