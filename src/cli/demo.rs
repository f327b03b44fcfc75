//! `frontend-map demo`: shows each operation on built-in content, then serves until a signal.

mod tour;
mod url_checks;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::output::logging;
use super::shutdown::{Closing, Signals, until_stopped};
use super::{CommandError, serve};
use crate::demo;
use frontend_map_service::shared::{Backends, SharedState};

/// The content is a file.
const CMS_REQUESTS: usize = 1;

/// How long to run.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Exit after the operations instead of serving until a signal
    #[arg(long)]
    once: bool,
}

/// Runs the demo; without `once` it serves until a signal.
///
/// # Errors
/// As [`demo::run`], and when stdout is closed.
pub(super) fn run(args: &DemoArgs, verbose: bool) -> Result<(), CommandError> {
    serve::block_on(async {
        let signals = Signals::new().map_err(Box::from)?;
        let shared = SharedState::new(Arc::default(), CMS_REQUESTS, Backends::default());
        let shared = Arc::new(shared.map_err(Box::from)?);
        let demo_shared = Arc::clone(&shared);
        let demo = |closing: Closing| {
            let start_log = |log: &_| logging::start_if(verbose, log);
            let show = async |addresses: &demo::Addresses| tour::show(addresses, args.once).await;
            demo::run(args.once, start_log, demo_shared, show, closing.wait())
        };
        // There is no load balancer before a demo.
        let ended = until_stopped(signals, shared, || Duration::ZERO, demo).await;
        Ok(ended.unwrap_or(Ok(()))?)
    })?
}
