//! What is told while URLs are checked: a moving bar on a terminal, now and then a line elsewhere.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::cli::walk::{say, urls};
use crate::validator::CheckResult;
use crate::validator::report::{Class, Tally};

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);
/// How often there is a line where nothing can move: enough to see that it goes on.
const LINE: Duration = Duration::from_secs(10);

const TEMPLATE: &str = "{wide_bar} {human_pos} of {human_len} URLs  {rate}  {time_left}\n{msg}";

/// As `byClass` has them.
const IN_ORDER: [Class; 5] =
    [Class::Success, Class::Redirect, Class::ClientError, Class::ServerError, Class::Error];

/// How far the checks are.
pub(super) struct Progress {
    bar: ProgressBar,
    tally: RefCell<Tally>,
    /// URLs that will be asked again.
    waiting: Cell<u64>,
    started: Instant,
    last_line: Cell<Instant>,
}

impl Progress {
    /// Where stderr is no terminal, the bar stays invisible.
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
            waiting: Cell::new(0),
            started: now,
            last_line: Cell::new(now),
        }
    }

    /// A URL has its last result.
    pub(super) fn add(&self, checked: &CheckResult) {
        self.tally.borrow_mut().add(checked);
        self.bar.inc(1);
        self.tell();
    }

    /// A URL will be asked again.
    pub(super) fn again(&self) {
        self.waiting.set(self.waiting.get() + 1);
        self.tell();
    }

    /// From now on those are asked that were to be asked again.
    pub(super) fn round(&self) {
        self.waiting.set(0);
    }

    /// Ends it with how long it took.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
        let (count, took) = (self.tally.borrow().count, self.started.elapsed());
        say(&format!("checked {} in {:.1} s", urls(count), took.as_secs_f64()));
    }

    fn tell(&self) {
        if !self.bar.is_hidden() {
            self.bar.set_message(self.counters());
        } else if self.last_line.get().elapsed() >= LINE {
            self.last_line.set(Instant::now());
            let (pos, len) = (self.bar.position(), self.bar.length().unwrap_or(0));
            let speed = pos / self.started.elapsed().as_secs().max(1);
            let [pos, of] = [pos, len].map(HumanCount);
            say(&format!("{pos} of {of} URLs, {speed}/s, {}", self.counters()));
        }
    }

    fn counters(&self) -> String {
        let classes = self.tally.borrow().by_class;
        let mut text = String::new();
        for class in IN_ORDER {
            let _ = write!(text, "{} {}  ", class.as_str(), HumanCount(classes.get(class)));
        }
        if self.waiting.get() > 0 {
            let _ = write!(text, "to be asked again {}", HumanCount(self.waiting.get()));
        }
        text.trim_end().to_owned()
    }
}

fn rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let _ = write!(out, "{:.0}/s", state.per_sec());
}

fn time_left(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    if state.pos() > 0 {
        let _ = write!(out, "{:#} left", HumanDuration(state.eta()));
    }
}
