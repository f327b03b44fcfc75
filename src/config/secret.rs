//! Secrets, which are read from an environment variable or a file of their own, never from the
//! settings file.

use std::path::Path;

use secrecy::SecretString;

use super::sources::Context;
use super::{Problems, file};

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
        let (place, text) = if let Some(text) = context.environment.get(self.variable) {
            (self.variable, text.clone())
        } else {
            let text = file::read_text(&context.base_dir.join(file?));
            (self.key, problems.take(self.key, text)?)
        };
        let (name, secret) = (self.name, text.trim());
        if secret.is_empty() {
            problems.add(
                place,
                format_args!("{name} is empty; if none is needed, remove this setting"),
            );
            return None;
        }
        if !secret.bytes().all(|b| b.is_ascii_graphic()) {
            let what =
                format_args!("{name} must have visible ASCII characters only, without spaces");
            problems.add(place, what);
            return None;
        }
        Some(SecretString::from(secret))
    }
}
