//! Starts the log: lines on stderr, as text or JSON.

mod line_writer;
mod panic_hook;

use std::sync::Arc;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;

pub(super) use line_writer::LineWriter;

use crate::config::{Format, Log};
use crate::metrics::Metrics;

/// Starts the log of a command: each line is written before it goes on.
pub(super) fn start(settings: &Log) {
    init(settings, std::io::stderr);
}

/// Starts the log of the service, which waits for nobody who reads it: what is not taken is dropped
/// and counted. Panics are lines of it, too. What is given back waits for the last lines when it is
/// dropped, for a moment.
pub(super) fn start_serving(settings: &Log, metrics: &Arc<Metrics>) -> std::io::Result<LineWriter> {
    let lines = LineWriter::start(std::io::stderr(), Arc::clone(metrics))?;
    init(settings, lines.writer());
    panic_hook::install(Arc::clone(metrics));
    Ok(lines)
}

/// `RUST_LOG` wins over the settings.
fn init(settings: &Log, writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static) {
    // An empty variable is none: it would be a filter that lets nothing through.
    let variable = std::env::var("RUST_LOG").ok().filter(|directives| !directives.is_empty());
    let wanted = variable.as_deref().map(EnvFilter::try_new);
    let ignored = matches!(wanted, Some(Err(_)));
    let filter = match wanted {
        Some(Ok(filter)) => filter,
        _ => EnvFilter::new(&settings.level),
    };
    let lines = fmt().with_env_filter(filter).with_writer(writer);
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
