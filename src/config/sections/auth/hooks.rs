//! `[hooks]`: the secret of the webhooks that report changed content.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use crate::config::Problems;
use crate::config::secret::Secret;
use crate::config::sources::Context;
use crate::config::table;
use crate::config::value::Table;
use crate::config::variable_names::HOOK_SECRET;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HooksToml {
    secret_file: Option<PathBuf>,
}

/// The secret that a webhook has to send; without one webhooks are refused.
pub(in crate::config) fn read(
    table: &mut Table,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<SecretString> {
    let toml: HooksToml = table::read(table, "hooks", problems);
    let secret = Secret {
        name: "the secret of the webhook",
        variable: HOOK_SECRET,
        key: "hooks.secret_file",
    };
    secret.read(toml.secret_file.as_deref(), context, problems)
}
