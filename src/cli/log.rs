//! Starts the log: lines on stderr, as text or JSON.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::config::{Format, Log};

/// Starts the log. `RUST_LOG` wins over the settings.
pub(super) fn start(settings: &Log) {
    // An empty variable is none: it would be a filter that lets nothing through.
    let variable = std::env::var("RUST_LOG").ok().filter(|directives| !directives.is_empty());
    let wanted = variable.as_deref().map(EnvFilter::try_new);
    let ignored = matches!(wanted, Some(Err(_)));
    let filter = match wanted {
        Some(Ok(filter)) => filter,
        _ => EnvFilter::new(&settings.level),
    };
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // When stdout and stderr are both full, an error about a lost line would be a panic.
    let lines = lines.log_internal_errors(false).with_ansi(false);
    match settings.format {
        Format::Text => lines.init(),
        Format::Json => lines.json().init(),
    }
    if ignored {
        tracing::warn!("RUST_LOG is not a list of filter directives and is ignored");
    }
}
