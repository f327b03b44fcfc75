//! What is counted while the service runs. Counters are here and outlive a reload; states, such as
//! the age of a snapshot, are read when somebody asks.
//!
//! Label values come from closed sets and from the settings, never from a request, so the number of
//! series does not depend on what is asked.

#[macro_use]
mod closed;

mod cms;
mod connections;
mod count;
mod latency;
mod page;
mod process;
mod reloads;
mod requests;
mod types;

pub use closed::Closed;
pub use cms::{Call, CmsCalls};
pub use connections::{Connections, Ended};
pub use count::{Count, Counts};
pub use latency::{Histogram, Latency};
pub use page::{CONTENT_TYPE, Page, number, page};
pub use reloads::{Reload, Reloads};
pub use requests::{Class, InFlight, Requests, Route};
pub use types::{TypeCounts, Types};

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use process::Process;

closed! {
    /// What became of a checked URL.
    pub enum CheckedClass {
        /// The page is there.
        Success => "2xx",
        /// It is elsewhere.
        Redirect => "3xx",
        /// It is not there.
        ClientError => "4xx",
        /// Its server failed.
        ServerError => "5xx",
        /// No answer.
        Error => "error",
    }
}

/// All counters of the process.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Requests of callers.
    pub requests: Requests,
    /// Connections of callers.
    pub connections: Arc<Connections>,
    /// Requests to the CMS.
    pub cms: CmsCalls,
    /// By site and content type.
    pub types: Types,
    /// Answers about a document that were the last good one, because the CMS failed.
    pub last_good: Count,
    /// Runs of URL checks that have ended.
    pub validations: Count,
    /// Runs that were refused because too many were under way.
    pub validations_refused: Count,
    /// URLs that were checked.
    pub checked: Counts<CheckedClass>,
    /// Reads of the settings while the service runs.
    pub reloads: Reloads,
    /// Panics, wherever they happened.
    pub panics: Count,
    /// Lines of the log that nobody took in time.
    pub log_lines_dropped: Count,
    /// Spans of traces that the collector did not get.
    pub traces_dropped: Count,
    process: Process,
}

impl Metrics {
    /// When the process began to count.
    #[must_use]
    pub fn started(&self) -> SystemTime {
        self.process.started
    }

    /// Writes all of them.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        self.requests.write(page)?;
        self.connections.write(page)?;
        self.cms.write(page)?;
        page.one_count(
            "last_good_answers",
            "Answers about a document that were the last good one because the CMS failed",
            &self.last_good,
        )?;
        page.one_count("validation_runs", "Runs of URL checks that have ended", &self.validations)?;
        page.one_count(
            "validation_runs_refused",
            "Runs of URL checks refused because too many were under way",
            &self.validations_refused,
        )?;
        page.counts("validation_urls", "URLs checked by what came of it", "class", &self.checked)?;
        self.reloads.write(page)?;
        page.one_count("panics", "Panics", &self.panics)?;
        page.one_count(
            "log_lines_dropped",
            "Lines of the log that nobody took in time",
            &self.log_lines_dropped,
        )?;
        page.one_count(
            "traces_dropped",
            "Spans of traces that the collector did not get",
            &self.traces_dropped,
        )?;
        self.process.write(page)
    }
}
