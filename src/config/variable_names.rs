//! The names of environment variables.

use super::known_keys::KnownKeys;

/// The environment variables of secrets, which are not settings of the file.
pub(super) const TOKEN: &str = "FRONTEND_MAP__CMS__TOKEN";
pub(super) const HOOK_SECRET: &str = "FRONTEND_MAP__HOOKS__SECRET";
pub(super) const VALIDATE_TOKEN: &str = "FRONTEND_MAP__AUTH__VALIDATE_TOKEN";
pub(super) const DRAFT_TOKEN: &str = "FRONTEND_MAP__AUTH__DRAFT_TOKEN";
pub(super) const SHARED_PASSWORD: &str = "FRONTEND_MAP__SHARED__PASSWORD";
/// The address to listen on, which the container image sets.
pub(super) const LISTEN: &str = "FRONTEND_MAP__SERVER__LISTEN";
pub(super) const SECRETS: [&str; 5] =
    [TOKEN, HOOK_SECRET, VALIDATE_TOKEN, DRAFT_TOKEN, SHARED_PASSWORD];

/// The beginning of each setting's variable. For a service of this name, Kubernetes sets variables
/// with a single underscore, such as `FRONTEND_MAP_PORT`.
const PREFIX: &str = "FRONTEND_MAP__";

/// Keys under which a secret may be written in the settings file by mistake: section, key, and the
/// variable to use instead.
const KEYS: [(&str, &str, &str); 5] = [
    ("cms", "token", TOKEN),
    ("hooks", "secret", HOOK_SECRET),
    ("auth", "validate_token", VALIDATE_TOKEN),
    ("auth", "draft_token", DRAFT_TOKEN),
    ("shared", "password", SHARED_PASSWORD),
];

/// The fix for a secret under this key of a section; `None`: the key is not that of a secret.
pub(super) fn fix_for_secret(section: &str, key: &str) -> Option<String> {
    let found = KEYS.iter().find(|(at, name, _)| *at == section && *name == key);
    found.map(|(_, key, variable)| {
        format!(": secrets are not written in the settings file; set {variable}, or `{key}_file` to the path of a file with the secret alone")
    })
}

/// The variable of a setting or secret that differs from this name only in the number of
/// underscores.
pub(super) fn similar_setting(name: &str, known: &KnownKeys) -> Option<String> {
    let words = |name: &str| name.to_uppercase().replace("__", "_");
    let settings = known.settings().map(|(section, key)| {
        format!("{PREFIX}{}__{}", section.to_uppercase(), key.to_uppercase())
    });
    let mut all = settings.chain(SECRETS.map(str::to_owned));
    all.find(|setting| words(setting) == words(name))
}
