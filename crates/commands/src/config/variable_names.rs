//! The names of environment variables.

use super::known_keys::KnownKeys;

/// The address to listen on, which the container image sets.
pub(super) const LISTEN: &str = "FRONTEND_MAP__SERVER__LISTEN";

/// The beginning of each setting's variable. For a service of this name, Kubernetes sets variables
/// with a single underscore, such as `FRONTEND_MAP_PORT`.
pub(super) const PREFIX: &str = "FRONTEND_MAP__";

/// What variables have and the settings file must not have, by section and key.
const SECRETS: [(&str, &str); 5] = [
    ("cms", "token"),
    ("hooks", "secret"),
    ("auth", "validate_token"),
    ("auth", "draft_token"),
    ("shared", "password"),
];

/// The variable of a setting or secret.
pub(super) fn of(section: &str, key: &str) -> String {
    format!("{PREFIX}{section}__{key}").to_uppercase()
}

/// Whether a variable has a secret, which is not a setting of the file.
pub(super) fn is_secret(name: &str) -> bool {
    SECRETS.iter().any(|(section, key)| of(section, key) == name)
}

/// The fix for a secret under this key of a section; `None`: the key is not that of a secret.
pub(super) fn fix_for_secret(section: &str, key: &str) -> Option<String> {
    SECRETS.contains(&(section, key)).then(|| {
        let variable = of(section, key);
        format!(": secrets are not written in the settings file; set {variable}, or `{key}_file` to the path of a file with the secret alone")
    })
}

/// The variable of a setting or secret that differs from this name only in the number of
/// underscores.
pub(super) fn similar_setting(name: &str, known: &KnownKeys) -> Option<String> {
    let words = |name: &str| name.to_uppercase().replace("__", "_");
    let mut all = known.settings().chain(SECRETS).map(|(section, key)| of(section, key));
    all.find(|setting| words(setting) == words(name))
}
