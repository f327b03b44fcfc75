//! The progress of the URL checks: a bar on a terminal, else a line every ten seconds.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::cli::output::words::{count, digits, duration};
use crate::cli::walk::{print_line, rate};
use frontend_map_outbound::checks::CheckResult;
use frontend_map_outbound::checks::report::{Class, Tally};

/// How often the bar is redrawn.
const TICK: Duration = Duration::from_millis(100);
/// How often a line is printed if stderr is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

const TEMPLATE: &str = "{wide_bar} {human_pos} of {human_len} URLs  {rate}  {time_left}\n{msg}";

/// In the order of `byClass`.
const CLASSES: [Class; 5] =
    [Class::Success, Class::Redirect, Class::ClientError, Class::ServerError, Class::Error];

/// The progress of the URL checks.
pub(super) struct Progress {
    bar: ProgressBar,
    tally: RefCell<Tally>,
    /// The number of URLs that wait for a retry.
    retries: Cell<u64>,
    started: Instant,
    last_line: Cell<Instant>,
}

impl Progress {
    /// If stderr is not a terminal, the bar is invisible.
    pub(super) fn new(urls: usize) -> Self {
        let style = ProgressStyle::with_template(TEMPLATE);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style.with_key("rate", rate).with_key("time_left", time_left);
        let bar = ProgressBar::new(urls as u64).with_style(style.progress_chars("━━╌"));
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        let now = Instant::now();
        Self {
            bar,
            tally: RefCell::default(),
            retries: Cell::new(0),
            started: now,
            last_line: Cell::new(now),
        }
    }

    /// A URL has its last result.
    pub(super) fn add(&self, checked: &CheckResult) {
        self.tally.borrow_mut().add(checked);
        self.bar.inc(1);
        self.update();
    }

    /// A URL will be requested again.
    pub(super) fn retry(&self) {
        self.retries.set(self.retries.get() + 1);
        self.update();
    }

    /// The next round of retries begins.
    pub(super) fn next_round(&self) {
        self.retries.set(0);
    }

    /// Prints the duration.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
        let (checked, took) = (self.tally.borrow().count, self.started.elapsed());
        print_line(&format!("checked {} in {}", count(checked, "URL"), duration(took)));
    }

    fn update(&self) {
        if !self.bar.is_hidden() {
            self.bar.set_message(self.counters());
        } else if self.last_line.get().elapsed() >= LINE_INTERVAL {
            self.last_line.set(Instant::now());
            let (pos, len) = (self.bar.position(), self.bar.length().unwrap_or(0));
            let speed = pos / self.started.elapsed().as_secs().max(1);
            let [pos, of, speed] = [pos, len, speed].map(digits);
            print_line(&format!("{pos} of {of} URLs, {speed}/s, {}", self.counters()));
        }
    }

    fn counters(&self) -> String {
        let classes = self.tally.borrow().by_class;
        let mut text = String::new();
        for class in CLASSES {
            let _ = write!(text, "{} {}  ", class.as_str(), digits(classes.get(class)));
        }
        if self.retries.get() > 0 {
            let _ = write!(text, "waiting for a retry {}", digits(self.retries.get()));
        }
        text.trim_end().to_owned()
    }
}

fn time_left(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    if state.pos() > 0 {
        let _ = write!(out, "{} left", duration(state.eta()));
    }
}
