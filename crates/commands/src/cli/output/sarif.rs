//! Findings as SARIF 2.1.0, which code hosts show as annotations of the settings file.
//!
//! Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, absolute};

use serde_json::{Value, json};
use url::Url;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A finding, located in the settings file.
pub(in crate::cli) struct Annotation {
    pub(in crate::cli) kind: Kind,
    pub(in crate::cli) level: Level,
    pub(in crate::cli) text: String,
    /// Counted from 1; without one it is the first line: each annotation needs a place.
    pub(in crate::cli) line: Option<usize>,
}

/// A kind of findings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cli) struct Kind {
    /// Its name, which does not change between versions.
    pub(in crate::cli) id: &'static str,
    pub(in crate::cli) description: &'static str,
}

#[derive(Clone, Copy)]
pub(in crate::cli) enum Level {
    Error,
    Warning,
    Note,
}

/// Writes the findings about this settings file.
///
/// # Errors
/// When the output cannot be written.
pub(in crate::cli) fn write(
    file: &Path,
    annotations: &[Annotation],
    out: &mut dyn Write,
) -> io::Result<()> {
    let kinds: BTreeMap<&str, &str> =
        annotations.iter().map(|one| (one.kind.id, one.kind.description)).collect();
    let rules: Vec<Value> = kinds
        .iter()
        .map(|(id, description)| json!({ "id": id, "shortDescription": { "text": description } }))
        .collect();
    let uri = uri(file)?;
    let results: Vec<Value> = annotations.iter().map(|one| result(&uri, one)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "frontend-map",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    writeln!(out, "{log}")
}

fn result(uri: &str, Annotation { kind, level, text, line }: &Annotation) -> Value {
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    json!({
        "ruleId": kind.id,
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri },
            "region": { "startLine": line.unwrap_or(1) },
        } }],
    })
}

/// The path relative to the working directory, which is that of the repository in a pipeline; the URL of
/// a file outside of it.
fn uri(file: &Path) -> io::Result<String> {
    let shown = file.display();
    let is_invalid = |()| io::Error::other(format!("{shown} has no URL"));
    // Without links and `..`, so that both are comparable.
    let file = absolute(file)?;
    let parent = file.parent().map(Path::canonicalize).transpose()?.unwrap_or_default();
    let file = parent.join(file.file_name().unwrap_or_default());
    let folder = std::env::current_dir()?.canonicalize()?;
    let folder = Url::from_directory_path(folder).map_err(is_invalid)?;
    let url = Url::from_file_path(file).map_err(is_invalid)?;
    let relative = url.as_str().strip_prefix(folder.as_str());
    Ok(relative.unwrap_or(url.as_str()).to_owned())
}
