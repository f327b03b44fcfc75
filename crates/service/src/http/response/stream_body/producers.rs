//! The threads that produce the chunks of long bodies.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// How much lower the priority of these threads is, in steps of niceness: they get a tenth of the
/// share of other threads when there are not enough cores.
#[cfg(target_os = "linux")]
const LOWER_BY: i32 = 10;

/// Half as many threads as cores, so that of a thousand long bodies only a few are produced at the
/// same time.
pub(super) static PRODUCERS: LazyLock<Runtime> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, NonZero::get);
    start((cores / 2).max(1)).expect("the system has another thread")
});

/// Starts so many threads, whose priority is lower than that of the calling one. A chunk is short
/// work, but a client that reads in bursts causes milliseconds of it: without the priority, requests
/// would wait until the system interrupts these threads.
pub(super) fn start(threads: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("chunks")
        .on_thread_start(lower_priority)
        .build()
}

/// A system that refuses leaves the priority as it is, which costs only latency.
fn lower_priority() {
    // Elsewhere it would be the priority of the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(LOWER_BY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_of_producers_have_a_lower_priority() {
        let own = || rustix::process::getpriority_process(None).unwrap();
        let runtime = start(1).unwrap();
        let of_producer = runtime.block_on(runtime.spawn(async move { own() })).unwrap();
        assert_eq!(of_producer, (own() + LOWER_BY).min(19));
    }
}
