//! The sources of the settings: the file, overridden by environment variables that start with
//! `FRONTEND_MAP__`.

use std::path::Path;

use config::{Environment as Variables, File, FileFormat};

use super::table::Table;
use super::{Environment, Problems};

/// What settings may refer to.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The folder of the settings file, to which paths are relative.
    pub(super) base_dir: &'a Path,
    pub(super) environment: &'a Environment,
}

/// The environment variables of secrets, which are not settings of the file.
pub(super) const TOKEN: &str = "FRONTEND_MAP__CMS__TOKEN";
pub(super) const HOOK_SECRET: &str = "FRONTEND_MAP__HOOKS__SECRET";
pub(super) const VALIDATE_TOKEN: &str = "FRONTEND_MAP__AUTH__VALIDATE_TOKEN";
pub(super) const DRAFT_TOKEN: &str = "FRONTEND_MAP__AUTH__DRAFT_TOKEN";
/// The address to listen on, which the container image sets.
pub(super) const LISTEN: &str = "FRONTEND_MAP__SERVER__LISTEN";
const SECRETS: [&str; 4] = [TOKEN, HOOK_SECRET, VALIDATE_TOKEN, DRAFT_TOKEN];

/// Reads the file and the environment into one table.
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

/// The error says where the text is not TOML, without the text, which may have a secret in it.
fn check_syntax(text: &str) -> Result<(), String> {
    let Err(error) = toml::from_str::<toml::Table>(text) else {
        return Ok(());
    };
    let span = error.span().unwrap_or_default();
    let before = text.get(..span.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    // The span of this error is the name of the key.
    let key = text.get(span).filter(|_| error.message() == "duplicate key").unwrap_or_default();
    Err(format!("line {line}, column {column}: not TOML: {} {key}", error.message()))
}

/// The settings whose value is a path.
const FILES: [(&str, &str); 5] = [
    ("cms", "token_file"),
    ("cms", "path"),
    ("hooks", "secret_file"),
    ("auth", "validate_token_file"),
    ("auth", "draft_token_file"),
];

/// The paths of the files that the settings refer to.
pub(super) fn referenced_files(table: &Table) -> impl Iterator<Item = String> {
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
