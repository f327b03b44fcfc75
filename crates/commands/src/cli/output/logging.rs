//! The log: lines on stderr, as text or JSON.
//!
//! - **Log lines** are written by a thread of their own: stderr is often a pipe, and a reader
//!   that stops reading would block the service. Lines that do not fit into two buffers are
//!   dropped and counted.

mod line_writer;

use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::sync::Arc;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;

pub(in crate::cli) use line_writer::LineWriter;

use crate::config::{Format, Log};
use frontend_map_cache::FAILED_WALK;
use frontend_map_platform::metrics::Metrics;

/// The variable with the filter of the log, which wins over the settings.
const RUST_LOG: &str = "RUST_LOG";

/// How much of a panic's message is logged, in characters: it may quote user data.
const MAX_MESSAGE: usize = 256;

/// An empty variable counts as unset: as a filter it would let nothing through.
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Starts the log of a command other than `serve`: with `-v` as in the settings, else with warnings,
/// and on a terminal without any line, because the command itself reports there what has failed.
pub(in crate::cli) fn start(verbose: bool, settings: &Log) {
    let is_terminal = std::io::stderr().is_terminal();
    if verbose || is_set(RUST_LOG) {
        init(settings, std::io::stderr);
    } else if !is_terminal {
        let level = format!("warn,{FAILED_WALK}=off");
        init(&Log { level, ..settings.clone() }, std::io::stderr);
    }
}

/// Starts the log of a command that has none unless `-v` is given.
pub(in crate::cli) fn start_if(verbose: bool, settings: &Log) {
    if verbose || is_set(RUST_LOG) {
        init(settings, std::io::stderr);
    }
}

/// Starts the log of the service, which never blocks on stderr: lines that do not fit into the buffer
/// are dropped and counted. Panics are logged as well. The writer waits for the last lines when it is
/// dropped, at most half a second.
pub(in crate::cli) fn start_serving(
    settings: &Log,
    metrics: &Arc<Metrics>,
) -> std::io::Result<LineWriter> {
    let writer = LineWriter::start(std::io::stderr(), Arc::clone(metrics))?;
    init(settings, writer.make_writer());
    install_panic_hook(Arc::clone(metrics));
    Ok(writer)
}

/// `RUST_LOG` wins over the settings.
fn init(settings: &Log, writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static) {
    let directives = std::env::var(RUST_LOG).ok().filter(|directives| !directives.is_empty());
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

/// Logs and counts each panic from now on, instead of the lines that Rust prints to stderr.
fn install_panic_hook(metrics: Arc<Metrics>) {
    std::panic::set_hook(Box::new(move |panic| {
        metrics.panics.inc();
        log_panic(panic);
    }));
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let message: String =
        panic.payload_as_str().unwrap_or_default().chars().take(MAX_MESSAGE).collect();
    let thread = std::thread::current();
    tracing::error!(location, thread = thread.name(), panic = message, "a panic");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_counted() {
        let metrics: Arc<Metrics> = Arc::default();
        let before = std::panic::take_hook();
        install_panic_hook(Arc::clone(&metrics));
        let panicked = std::thread::spawn(|| panic!("provoked by a test")).join();
        std::panic::set_hook(before);
        assert!(panicked.is_err());
        // Tests that run at the same time may panic as well.
        assert!(metrics.panics.get() >= 1);
    }
}
