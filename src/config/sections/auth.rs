//! `[auth]`: the tokens that restricted requests have to send.

pub(in crate::config) mod hooks;

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use crate::config::Problems;
use crate::config::secret::Secret;
use crate::config::sources::Context;
use crate::config::table;
use crate::config::value::Table;
use crate::config::variable_names::{DRAFT_TOKEN, VALIDATE_TOKEN};

/// Bearer tokens; a request whose token is not set here is open to all clients.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// For `validate=true`.
    pub validate: Option<SecretString>,
    /// For `status=draft`.
    pub draft: Option<SecretString>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AuthToml {
    validate_token_file: Option<PathBuf>,
    draft_token_file: Option<PathBuf>,
}

pub(in crate::config) fn read(
    table: &mut Table,
    context: Context<'_>,
    problems: &mut Problems,
) -> Auth {
    let toml: AuthToml = table::read(table, "auth", problems);
    let validate = Secret {
        name: "the token for validate=true",
        variable: VALIDATE_TOKEN,
        key: "auth.validate_token_file",
    };
    let draft = Secret {
        name: "the token for status=draft",
        variable: DRAFT_TOKEN,
        key: "auth.draft_token_file",
    };
    Auth {
        validate: validate.read(toml.validate_token_file.as_deref(), context, problems),
        draft: draft.read(toml.draft_token_file.as_deref(), context, problems),
    }
}
