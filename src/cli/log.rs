//! Starts the log: lines on stderr, as text or JSON.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::config::{Format, Log};

/// Starts the log. `RUST_LOG` wins over the settings.
pub(super) fn start(settings: &Log) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(&settings.level));
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // When stdout and stderr are both full, an error about a lost line would be a panic.
    let lines = lines.log_internal_errors(false).with_ansi(false);
    match settings.format {
        Format::Text => lines.init(),
        Format::Json => lines.json().init(),
    }
}
