//! Writes log lines in a thread of its own. Logging never blocks: lines that do not fit into the
//! buffer are dropped and counted.
//!
//! `tracing-appender` does the same except at its end: if lines are left, it prints to stdout, which
//! panics if stdout is full, and it waits for longer than a shutdown should.

use std::io::{self, Write};
use std::mem::{swap, take};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use frontend_map_platform::metrics::Metrics;

/// The most lines in the buffer. The thread may be writing as many again.
const MAX_LINES: u64 = 4096;
/// The most bytes in the buffer.
const MAX_BYTES: usize = 4 << 20;
/// How long to wait for the last lines at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Writes log lines. Its drop waits for the last lines.
pub(in crate::cli) struct LineWriter(Arc<Queue>);

struct Queue {
    state: Mutex<State>,
    /// Signals new lines.
    more: Condvar,
    /// Signals that all lines are written.
    done: Condvar,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct State {
    text: Vec<u8>,
    lines: u64,
    /// Whether the thread is writing lines that it has taken.
    writing: bool,
}

impl LineWriter {
    /// Starts a thread that writes lines to `out`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(super) fn start(
        out: impl Write + Send + 'static,
        metrics: Arc<Metrics>,
    ) -> io::Result<Self> {
        let (more, done) = (Condvar::new(), Condvar::new());
        let queue = Arc::new(Queue { state: Mutex::default(), more, done, metrics });
        let thread_queue = Arc::clone(&queue);
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || thread_queue.write_to(out))?;
        Ok(Self(queue))
    }

    /// Makes a writer for each line.
    pub(super) fn make_writer(&self) -> impl Fn() -> OneLine + Send + Sync + 'static {
        let queue = Arc::clone(&self.0);
        move || OneLine(Arc::clone(&queue))
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        let is_unwritten = |state: &mut State| state.writing || !state.text.is_empty();
        // If stderr is still blocked after that, the lines are lost.
        self.0.done.wait_while_for(&mut self.0.state.lock(), is_unwritten, FLUSH_TIMEOUT);
    }
}

impl Queue {
    fn push(&self, line: &[u8]) {
        let mut state = self.state.lock();
        if state.lines == MAX_LINES || state.text.len() + line.len() > MAX_BYTES {
            drop(state);
            self.metrics.log_lines_dropped.inc();
            return;
        }
        state.text.extend_from_slice(line);
        state.lines += 1;
        drop(state);
        self.more.notify_one();
    }

    fn write_to(&self, mut out: impl Write) {
        let mut text = Vec::new();
        loop {
            let lines = self.next(&mut text);
            if out.write_all(&text).is_err() {
                self.metrics.log_lines_dropped.inc_by(lines);
            }
        }
    }

    /// Waits for lines and moves all of them into `text`; returns their number.
    fn next(&self, text: &mut Vec<u8>) -> u64 {
        text.clear();
        let mut state = self.state.lock();
        state.writing = false;
        if state.text.is_empty() {
            self.done.notify_all();
        }
        self.more.wait_while(&mut state, |state| state.text.is_empty());
        state.writing = true;
        swap(&mut state.text, text);
        take(&mut state.lines)
    }
}

/// Takes one line, in one call of `write`.
pub(super) struct OneLine(Arc<Queue>);

impl Write for OneLine {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Reports each write, and waits for a signal before it returns.
    struct Slow {
        got: Sender<Vec<u8>>,
        go_on: Receiver<()>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.got.send(bytes.to_vec());
            let _ = self.go_on.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn started() -> (LineWriter, Arc<Metrics>, Receiver<Vec<u8>>, Sender<()>) {
        let ((got, lines_got), (go, go_on)) = (channel(), channel());
        let metrics: Arc<Metrics> = Arc::default();
        let lines = LineWriter::start(Slow { got, go_on }, Arc::clone(&metrics)).unwrap();
        (lines, metrics, lines_got, go)
    }

    #[test]
    fn lines_beyond_the_buffer_are_dropped_and_counted() {
        let (lines, metrics, got, go) = started();
        let mut line = lines.make_writer()();
        line.write_all(b"first\n").unwrap();
        assert_eq!(got.recv().unwrap(), b"first\n", "the thread is blocked now");
        for _ in 0..MAX_LINES + 7 {
            line.write_all(b"x\n").unwrap();
        }
        assert_eq!(metrics.log_lines_dropped.get(), 7);
        line.write_all(&vec![b'y'; MAX_BYTES]).unwrap();
        assert_eq!(metrics.log_lines_dropped.get(), 8);
        // The drop does not wait for ever.
        drop(lines);
        go.send(()).unwrap();
        assert_eq!(got.recv().unwrap(), b"x\n".repeat(4096), "all in one write");
    }

    #[test]
    fn drop_waits_for_the_last_lines() {
        let (lines, _, got, go) = started();
        lines.make_writer()().write_all(b"one\n").unwrap();
        assert_eq!(got.recv().unwrap(), b"one\n");
        lines.make_writer()().write_all(b"last\n").unwrap();
        (0..2).for_each(|_| go.send(()).unwrap());
        drop(lines);
        assert_eq!(got.try_recv().unwrap(), b"last\n");
    }

    #[test]
    fn lines_that_fail_to_be_written_are_counted() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let metrics: Arc<Metrics> = Arc::default();
        let lines = LineWriter::start(Full, Arc::clone(&metrics)).unwrap();
        lines.make_writer()().write_all(b"x\n").unwrap();
        drop(lines);
        assert_eq!(metrics.log_lines_dropped.get(), 1);
    }
}
