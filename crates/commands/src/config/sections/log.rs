//! `[log]`: the level and format of the log (D29).

use tracing_subscriber::EnvFilter;

use crate::config::section::Section;
use crate::config::value::{boolean, parsed, word};

/// The settings of the log. `RUST_LOG` wins over `level`.
#[derive(Clone, Debug)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug` or `trace`, or directives as in `RUST_LOG`.
    pub level: String,
    /// Text for people or JSON for machines.
    pub format: Format,
    /// Whether each request has a line as well.
    pub access: bool,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

pub(in crate::config) fn read(log: &mut Section<'_>) -> Log {
    Log {
        level: log.get("level", parsed(level)),
        format: log.get("format", word([("text", Format::Text), ("json", Format::Json)])),
        access: log.get("access", boolean),
    }
}

/// A level that is not one would silence the log, so it is a problem.
fn level(text: &str) -> Result<String, String> {
    let is_level = ["off", "error", "warn", "info", "debug", "trace"].contains(&text);
    if is_level || (text.contains('=') && EnvFilter::try_new(text).is_ok()) {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is not a level or a filter directive"))
}
