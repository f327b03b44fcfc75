//! Where the settings come from: the file, then variables that start with `FRONTEND_MAP__`.

use std::path::Path;

use config::{Environment as Variables, File, FileFormat, Map, Value};

use super::{Environment, Problems};

/// Settings by name, not yet checked.
pub(super) type Table = Map<String, Value>;

/// The variable of the token, which is no setting of the file.
pub(super) const TOKEN: &str = "FRONTEND_MAP__CMS__TOKEN";

/// Reads both into one table.
pub(super) fn read(
    text: Option<&str>,
    path: &Path,
    environment: &Environment,
) -> Result<Table, Problems> {
    let mut builder = config::Config::builder();
    if let Some(text) = text {
        builder = builder.add_source(File::from_str(text, FileFormat::Toml));
    }
    builder
        .add_source(variables(environment))
        .build()
        .and_then(config::Config::try_deserialize)
        .map_err(|error| Problems::one(&path.display().to_string(), error))
}

fn variables(environment: &Environment) -> Variables {
    let ours = environment.iter().filter(|(name, _)| *name != TOKEN);
    let ours = ours.map(|(name, value)| (name.clone(), value.clone())).collect();
    Variables::with_prefix("FRONTEND_MAP")
        .prefix_separator("__")
        .separator("__")
        .try_parsing(true)
        .list_separator(",")
        .with_list_parse_key("server.cors_origins")
        .source(Some(ours))
}
