//! Panics as lines of the log, counted.

use std::panic::PanicHookInfo;
use std::sync::Arc;

use crate::metrics::Metrics;

/// How much of a panic's text is logged, in characters: it may quote anything.
const MOST_TEXT: usize = 256;

/// Tells each panic from now on, in the place of the raw lines that Rust writes to stderr.
pub(super) fn install(metrics: Arc<Metrics>) {
    std::panic::set_hook(Box::new(move |panic| {
        metrics.panics.inc();
        log(panic);
    }));
}

fn log(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let text: String = panic.payload_as_str().unwrap_or_default().chars().take(MOST_TEXT).collect();
    let thread = std::thread::current();
    tracing::error!(location, thread = thread.name(), panic = text, "a panic");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_counted() {
        let metrics: Arc<Metrics> = Arc::default();
        let before = std::panic::take_hook();
        install(Arc::clone(&metrics));
        let panicked = std::thread::spawn(|| panic!("as wanted by a test")).join();
        std::panic::set_hook(before);
        assert!(panicked.is_err());
        // Other tests may panic meanwhile.
        assert!(metrics.panics.get() >= 1);
    }
}
