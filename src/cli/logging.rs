//! The log: lines on stderr, as text or JSON.

mod line_writer;
mod panic_hook;

use std::sync::Arc;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;

pub(super) use line_writer::LineWriter;

use crate::config::{Format, Log};
use crate::metrics::Metrics;

/// Starts the log of a command, which waits for each line to be written.
pub(super) fn start(settings: &Log) {
    init(settings, std::io::stderr);
}

/// Starts the log of the service, which never blocks on stderr: lines that do not fit into the buffer
/// are dropped and counted. Panics are logged as well. The writer waits for the last lines when it is
/// dropped, at most half a second.
pub(super) fn start_serving(settings: &Log, metrics: &Arc<Metrics>) -> std::io::Result<LineWriter> {
    let writer = LineWriter::start(std::io::stderr(), Arc::clone(metrics))?;
    init(settings, writer.make_writer());
    panic_hook::install(Arc::clone(metrics));
    Ok(writer)
}

/// `RUST_LOG` wins over the settings.
fn init(settings: &Log, writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static) {
    // An empty variable counts as unset: as a filter it would let nothing through.
    let directives = std::env::var("RUST_LOG").ok().filter(|directives| !directives.is_empty());
    let parsed = directives.as_deref().map(EnvFilter::try_new);
    let is_invalid = matches!(parsed, Some(Err(_)));
    let filter = match parsed {
        Some(Ok(filter)) => filter,
        _ => EnvFilter::new(&settings.level),
    };
    let lines = fmt().with_env_filter(filter).with_writer(writer);
    // An error about a lost line is printed to stderr: if that is full as well, it would panic.
    let lines = lines.log_internal_errors(false).with_ansi(false);
    match settings.format {
        Format::Text => lines.init(),
        Format::Json => lines.json().init(),
    }
    if is_invalid {
        tracing::warn!("RUST_LOG is not a valid filter and is ignored");
    }
}
