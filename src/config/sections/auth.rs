//! `[auth]`: what callers have to carry for what is not for everybody.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde::Deserialize;

use crate::config::secret::Secret;
use crate::config::sources::{DRAFT_TOKEN, VALIDATE_TOKEN};
use crate::config::table::{self, Table};
use crate::config::{Environment, Problems};

/// Bearer tokens; what has none is open to all.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// For `validate=true`.
    pub validate: Option<SecretString>,
    /// For `status=draft`.
    pub draft: Option<SecretString>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Raw {
    validate_token_file: Option<PathBuf>,
    draft_token_file: Option<PathBuf>,
}

pub(in crate::config) fn read(
    table: &mut Table,
    (here, environment): (&Path, &Environment),
    problems: &mut Problems,
) -> Auth {
    let raw: Raw = table::read(table, "auth", problems);
    let validate = Secret {
        what: "the token for validate=true",
        variable: VALIDATE_TOKEN,
        key: "auth.validate_token_file",
    };
    let draft = Secret {
        what: "the token for status=draft",
        variable: DRAFT_TOKEN,
        key: "auth.draft_token_file",
    };
    let place = (here, environment);
    Auth {
        validate: validate.read(raw.validate_token_file.as_deref(), place, problems),
        draft: draft.read(raw.draft_token_file.as_deref(), place, problems),
    }
}
