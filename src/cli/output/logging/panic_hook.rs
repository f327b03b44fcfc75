//! Logs and counts panics.

use std::panic::PanicHookInfo;
use std::sync::Arc;

use frontend_map_platform::metrics::Metrics;

/// How much of a panic's message is logged, in characters: it may quote user data.
const MAX_MESSAGE: usize = 256;

/// Logs and counts each panic from now on, instead of the lines that Rust prints to stderr.
pub(super) fn install(metrics: Arc<Metrics>) {
    std::panic::set_hook(Box::new(move |panic| {
        metrics.panics.inc();
        log(panic);
    }));
}

fn log(panic: &PanicHookInfo<'_>) {
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
        install(Arc::clone(&metrics));
        let panicked = std::thread::spawn(|| panic!("provoked by a test")).join();
        std::panic::set_hook(before);
        assert!(panicked.is_err());
        // Tests that run at the same time may panic as well.
        assert!(metrics.panics.get() >= 1);
    }
}
