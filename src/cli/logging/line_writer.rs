//! Lines on their way out, written by a thread of their own: whoever logs never waits, and what
//! nobody takes is dropped and counted.
//!
//! `tracing-appender` does the same but for its end: where lines still wait it prints to stdout,
//! which is a panic where that is full, and waits for longer than a stop should.

use std::io::{self, Write};
use std::mem::{swap, take};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::metrics::Metrics;

/// The most lines that wait to be written, and as many again may be in the hands of the writer.
const MOST_LINES: u64 = 4096;
/// The most bytes of them.
const MOST_BYTES: usize = 4 << 20;
/// How long the last lines are waited for at the end.
const LAST: Duration = Duration::from_millis(500);

/// The way out. Dropped, it waits a moment for the last lines.
pub(in crate::cli) struct LineWriter(Arc<Queue>);

struct Queue {
    state: Mutex<State>,
    /// There is more to write.
    more: Condvar,
    /// Everything is written.
    done: Condvar,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct State {
    text: Vec<u8>,
    lines: u64,
    /// Whether the writer has some in its hands.
    writing: bool,
}

impl LineWriter {
    /// Begins to write what comes to `out`.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub(super) fn start(
        out: impl Write + Send + 'static,
        metrics: Arc<Metrics>,
    ) -> io::Result<Self> {
        let (more, done) = (Condvar::new(), Condvar::new());
        let queue = Arc::new(Queue { state: Mutex::default(), more, done, metrics });
        let written = Arc::clone(&queue);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || written.write_to(out))?;
        Ok(Self(queue))
    }

    /// What makes writers of single lines.
    pub(super) fn writer(&self) -> impl Fn() -> OneLine + Send + Sync + 'static {
        let queue = Arc::clone(&self.0);
        move || OneLine(Arc::clone(&queue))
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        let unwritten = |state: &mut State| state.writing || !state.text.is_empty();
        // Who does not read by now will not.
        self.0.done.wait_while_for(&mut self.0.state(), unwritten, LAST);
    }
}

impl Queue {
    /// What is guarded is whole after every step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn push(&self, line: &[u8]) {
        let mut state = self.state();
        if state.lines == MOST_LINES || state.text.len() + line.len() > MOST_BYTES {
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

    /// Waits for lines and takes all of them in the place of those that are written; says how many.
    fn next(&self, text: &mut Vec<u8>) -> u64 {
        text.clear();
        let mut state = self.state();
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

/// Takes one line, in one go.
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

    /// Says what it gets and waits to be told to go on.
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
    fn what_nobody_takes_is_dropped_and_counted() {
        let (lines, metrics, got, go) = started();
        let mut line = lines.writer()();
        line.write_all(b"first\n").unwrap();
        assert_eq!(got.recv().unwrap(), b"first\n", "the writer waits now");
        for _ in 0..MOST_LINES + 7 {
            line.write_all(b"x\n").unwrap();
        }
        assert_eq!(metrics.log_lines_dropped.get(), 7);
        line.write_all(&vec![b'y'; MOST_BYTES]).unwrap();
        assert_eq!(metrics.log_lines_dropped.get(), 8);
        // The end does not wait for ever.
        drop(lines);
        go.send(()).unwrap();
        assert_eq!(got.recv().unwrap(), b"x\n".repeat(4096), "all in one go");
    }

    #[test]
    fn the_end_waits_for_the_last_lines() {
        let (lines, _, got, go) = started();
        lines.writer()().write_all(b"one\n").unwrap();
        assert_eq!(got.recv().unwrap(), b"one\n");
        lines.writer()().write_all(b"last\n").unwrap();
        (0..2).for_each(|_| go.send(()).unwrap());
        drop(lines);
        assert_eq!(got.try_recv().unwrap(), b"last\n");
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
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
        lines.writer()().write_all(b"x\n").unwrap();
        drop(lines);
        assert_eq!(metrics.log_lines_dropped.get(), 1);
    }
}
