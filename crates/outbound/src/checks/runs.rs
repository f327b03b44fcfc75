//! Runs of URL checks: at most one at a time for a content type of a site, shared by all
//! subscriptions, and aborted with the last one.

mod faults;
mod last_run;
mod publisher;
mod registry;
mod results;
mod run;
mod run_key;
mod stored;

pub use last_run::{Dead, LastRun};
pub use registry::{RunRegistry, RunTimes, Subscription, TooManyRuns};
pub use run::{Run, RunFailed};
pub use run_key::{RunKey, RunKind};
