//! Where the settings come from: the file, then variables that start with `FRONTEND_MAP__`.

use std::path::Path;

use config::{Environment as Variables, File, FileFormat};

use super::table::Table;
use super::{Environment, Problems};

/// The variables of the secrets, which are no settings of the file.
pub(super) const TOKEN: &str = "FRONTEND_MAP__CMS__TOKEN";
pub(super) const HOOK_SECRET: &str = "FRONTEND_MAP__HOOKS__SECRET";
pub(super) const VALIDATE_TOKEN: &str = "FRONTEND_MAP__AUTH__VALIDATE_TOKEN";
pub(super) const DRAFT_TOKEN: &str = "FRONTEND_MAP__AUTH__DRAFT_TOKEN";
/// Where an image without a settings file of its own is told to listen.
pub(super) const LISTEN: &str = "FRONTEND_MAP__SERVER__LISTEN";
const SECRETS: [&str; 4] = [TOKEN, HOOK_SECRET, VALIDATE_TOKEN, DRAFT_TOKEN];

/// Reads both into one table.
pub(super) fn read(
    text: Option<&str>,
    path: &Path,
    environment: &Environment,
) -> Result<Table, Problems> {
    let mut builder = config::Config::builder();
    if let Some(text) = text {
        check_syntax(text).map_err(|what| Problems::one(&path.display().to_string(), what))?;
        builder = builder.add_source(File::from_str(text, FileFormat::Toml));
    }
    builder
        .add_source(variables(environment))
        .build()
        .and_then(config::Config::try_deserialize)
        .map_err(|error| Problems::one(&path.display().to_string(), error))
}

/// Where the text is not TOML, without the text: it may hold what nobody should read in a log.
fn check_syntax(text: &str) -> Result<(), String> {
    let Err(error) = toml::from_str::<toml::Table>(text) else {
        return Ok(());
    };
    let span = error.span().unwrap_or_default();
    let before = text.get(..span.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    // Of a key that stands twice, the name is what is pointed at.
    let key = text.get(span).filter(|_| error.message() == "duplicate key").unwrap_or_default();
    Err(format!("line {line}, column {column}: not TOML: {} {key}", error.message()))
}

/// The settings that name a file.
const FILES: [(&str, &str); 5] = [
    ("cms", "token_file"),
    ("cms", "path"),
    ("hooks", "secret_file"),
    ("auth", "validate_token_file"),
    ("auth", "draft_token_file"),
];

/// The files that these settings name.
pub(super) fn named_files(table: &Table) -> impl Iterator<Item = String> {
    FILES.iter().filter_map(|(section, key)| {
        let section = table.get(*section)?.clone().into_table().ok()?;
        section.get(*key)?.clone().into_string().ok()
    })
}

fn variables(environment: &Environment) -> Variables {
    let ours = environment.iter().filter(|(name, _)| !SECRETS.contains(&name.as_str()));
    let ours = ours.map(|(name, value)| (name.clone(), value.clone())).collect();
    Variables::with_prefix("FRONTEND_MAP")
        .prefix_separator("__")
        .separator("__")
        .try_parsing(true)
        .list_separator(",")
        .with_list_parse_key("server.cors_origins")
        .source(Some(ours))
}
