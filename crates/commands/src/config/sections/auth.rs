//! `[auth]`: the tokens that restricted requests have to send.

use secrecy::SecretString;

use crate::config::section::Section;

/// Bearer tokens; a request whose token is not set here is open to all clients.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// For `validate=true`.
    pub validate: Option<SecretString>,
    /// For `status=draft`.
    pub draft: Option<SecretString>,
}

pub(in crate::config) fn read(auth: &mut Section<'_>) -> Auth {
    let mut token = |name, key, file_key| auth.secret(name, key, file_key);
    Auth {
        validate: token("the token for validate=true", "validate_token", "validate_token_file"),
        draft: token("the token for status=draft", "draft_token", "draft_token_file"),
    }
}
