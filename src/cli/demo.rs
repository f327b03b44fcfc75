//! `frontend-map demo`: shows each operation on built-in content, then serves until a signal.

mod tour;
mod url_checks;

use clap::Args;
use tokio::time::Instant;

use super::output::logging;
use super::shutdown::{Signals, stop};
use super::{CommandError, serve};
use crate::demo;
use frontend_map_service::server::GRACE_PERIOD;

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
/// As [`demo::start`], and when stdout is closed.
pub(super) fn run(args: &DemoArgs, verbose: bool) -> Result<(), CommandError> {
    serve::block_on(async {
        let mut signals = Signals::new().map_err(Box::from)?;
        let (handle, addresses) = demo::start(|log| logging::start_if(verbose, log)).await?;
        let first = tokio::select! {
            shown = tour::show(&addresses, args.once) => {
                shown?;
                if args.once {
                    handle.close(Instant::now() + GRACE_PERIOD).await;
                    return Ok(());
                }
                signals.next().await
            }
            first = signals.next() => first,
        };
        stop(first, signals, handle).await;
        Ok(())
    })?
}
