//! `[log]`: the level and format of the log (D29).

use serde::Deserialize;
use tracing_subscriber::EnvFilter;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::Table;

/// The settings of the log. `RUST_LOG` wins over `level`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug` or `trace`, or directives as in `RUST_LOG`.
    pub level: String,
    /// Text for people or JSON for machines.
    pub format: Format,
    /// Whether each request has a line as well.
    pub access: bool,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: Format::default(), access: false }
    }
}

/// A level that is not one would silence the log, so it is a problem.
pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Log {
    let log: Log = table::read(table, "log", problems);
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    let fine = levels.contains(&log.level.as_str())
        || (log.level.contains('=') && EnvFilter::try_new(&log.level).is_ok());
    if !fine {
        let level = &log.level;
        problems.add("log.level", format_args!("`{level}` is not a level or a filter directive"));
    }
    log
}
