//! `[hooks]`: the secret of the webhooks that report changed content.

use secrecy::SecretString;

use crate::config::section::Section;

/// The secret that a webhook has to send; without one webhooks are refused.
pub(in crate::config) fn read(hooks: &mut Section<'_>) -> Option<SecretString> {
    hooks.secret("the secret of the webhook", "secret", "secret_file")
}
