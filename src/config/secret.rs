//! Secrets: from a variable or from a file, never from the settings themselves.

use std::path::Path;

use secrecy::SecretString;

use super::{Environment, Problems};

/// A secret, and where it may be found.
pub(super) struct Secret {
    /// What it is called in problems.
    pub(super) what: &'static str,
    /// The variable, which wins over the file.
    pub(super) variable: &'static str,
    /// The setting that names the file.
    pub(super) key: &'static str,
}

impl Secret {
    /// White space around it is not part of it: files end with a line break.
    pub(super) fn read(
        &self,
        file: Option<&Path>,
        (here, environment): (&Path, &Environment),
        problems: &mut Problems,
    ) -> Option<SecretString> {
        let variable = environment.get(self.variable).filter(|value| !value.is_empty()).cloned();
        let text = variable.or_else(|| {
            let path = here.join(file?);
            let text = std::fs::read_to_string(&path);
            problems.take(self.key, text.map_err(|e| format!("{}: {e}", path.display())))
        })?;
        let secret = text.trim();
        if secret.is_empty() || !secret.bytes().all(|b| b.is_ascii_graphic()) {
            problems.add(self.what, "it is empty, or has characters that no token has");
            return None;
        }
        Some(SecretString::from(secret))
    }
}
