//! The sources of the settings: the file, overridden by environment variables that start with
//! `FRONTEND_MAP__`.

use std::path::Path;

use super::value::{Table, Value};
use super::{Environment, Problems, file, variables};

/// What settings may refer to.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The folder of the settings file, to which paths are relative.
    pub(super) base_dir: &'a Path,
    pub(super) environment: &'a Environment,
}

/// Reads the file and the environment into one table.
pub(super) fn read(
    text: Option<&str>,
    path: &Path,
    environment: &Environment,
) -> Result<Table, Problems> {
    let parsed = text.map(file::parse).transpose();
    let parsed = parsed.map_err(|problem| {
        Problems::at_line(problem.line, format_args!("{}: {problem}", path.display()))
    })?;
    let mut table = parsed.unwrap_or_default();
    variables::add(&mut table, environment);
    Ok(table)
}

/// The settings whose value is a path.
const FILES: [(&str, &str); 7] = [
    ("cms", "token_file"),
    ("cms", "path"),
    ("hooks", "secret_file"),
    ("auth", "validate_token_file"),
    ("auth", "draft_token_file"),
    ("shared", "password_file"),
    ("shared", "key_file"),
];

/// The paths of the files that the settings refer to.
pub(super) fn referenced_files(table: &Table) -> impl Iterator<Item = String> {
    let of_sections = FILES.iter().filter_map(|(section, key)| {
        Some(table.get(*section)?.table()?.get(*key)?.text()?.to_owned())
    });
    let targets = table.get("notify").and_then(Value::list).unwrap_or_default();
    let of_targets =
        targets.iter().filter_map(|one| Some(one.table()?.get("secret_file")?.text()?.to_owned()));
    let imports = table.get("moved").and_then(|moved| moved.table()?.get("import")?.list());
    let imports = imports.unwrap_or_default().iter();
    let imports = imports.filter_map(|path| Some(path.text()?.to_owned()));
    of_sections.chain(of_targets).chain(imports)
}
