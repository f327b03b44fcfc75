//! One thread that runs the tasks of all URL checks.

use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// A runtime of one thread. There, a connection is back in the pool when the check that drained it
/// continues: the tasks of a connection are woken before that of the check, and run in the order of
/// their wake-ups. With several threads the next check may find no idle connection and open one
/// more than there are checks.
pub(super) struct EventLoop {
    handle: Handle,
    /// The thread ends when this is dropped.
    _running: oneshot::Sender<()>,
}

impl EventLoop {
    pub(super) fn start() -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (running, dropped) = oneshot::channel();
        thread::Builder::new().name("url-checks".to_owned()).spawn(move || {
            let _ = runtime.block_on(dropped);
            // A name look-up in progress blocks a thread that cannot be cancelled.
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, _running: running })
    }

    /// Runs a task to its end; dropping the returned future aborts it.
    pub(super) async fn run<T>(&self, task: impl Future<Output = T> + Send + 'static) -> T
    where
        T: Send + 'static,
    {
        // A set aborts its tasks when it is dropped.
        let mut tasks = JoinSet::new();
        tasks.spawn_on(task, &self.handle);
        let ended = tasks.join_next().await.expect("the set has one task");
        ended.expect("a check does not panic, and only this future aborts it")
    }
}
