//! Secrets, which are read from an environment variable or a file of their own, never from the
//! settings file.

use std::path::Path;

use secrecy::SecretString;

use super::Problems;
use super::sources::Context;

/// Where a secret is read from.
pub(super) struct Secret {
    /// Its name in problems.
    pub(super) name: &'static str,
    /// The environment variable, which wins over the file.
    pub(super) variable: &'static str,
    /// The setting with the path of the file.
    pub(super) key: &'static str,
}

impl Secret {
    /// White space around the secret is removed: files end with a line break.
    pub(super) fn read(
        &self,
        file: Option<&Path>,
        context: Context<'_>,
        problems: &mut Problems,
    ) -> Option<SecretString> {
        let variable =
            context.environment.get(self.variable).filter(|value| !value.is_empty()).cloned();
        let text = variable.or_else(|| {
            let path = context.base_dir.join(file?);
            let text = std::fs::read_to_string(&path);
            problems.take(self.key, text.map_err(|e| format!("{}: {e}", path.display())))
        })?;
        let secret = text.trim();
        if secret.is_empty() || !secret.bytes().all(|b| b.is_ascii_graphic()) {
            problems
                .add(self.name, "must not be empty and must have visible ASCII characters only");
            return None;
        }
        Some(SecretString::from(secret))
    }
}
