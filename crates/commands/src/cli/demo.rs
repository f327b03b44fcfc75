//! `frontend-map demo`: shows each operation on built-in content, then serves until a signal.

use std::error::Error;
use std::io::Write as _;

use clap::Args;
use tokio::time::Instant;

use super::error::CommandError;
use super::output::logging;
use super::output::terminal::{Colours, Style, prose_width};
use super::output::words::wrapped;
use super::serve;
use super::shutdown::{Signals, stop};
use crate::demo::{self, Addresses, OPERATIONS, Operation};
use frontend_map_platform::http_client;
use frontend_map_service::server::GRACE_PERIOD;

const WELCOME: &str = "The service runs on built-in content: articles and pages in English and \
    German. It needs no CMS and reads no settings.";
const INDENT: &str = "   ";

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
            shown = show(&addresses, args.once) => {
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

/// Requests each operation and prints what it is for, the request and the response.
///
/// # Errors
/// When the service does not respond, or stdout is closed.
async fn show(addresses: &Addresses, once: bool) -> Result<(), Box<dyn Error>> {
    let (colours, width) = (Colours::of_stdout(), prose_width());
    let Addresses { service, frontend } = addresses;
    print(&colours.apply(Style::Heading, "frontend-map, a demo"))?;
    print(&wrapped(WELCOME, width, ""))?;
    print(&format!("\n{INDENT}service   http://{service}\n{INDENT}frontend  http://{frontend}"))?;
    let client = http_client::client_builder()?.build()?;
    for (at, operation) in OPERATIONS.iter().enumerate() {
        let Operation { question, about, target } = operation;
        let heading = wrapped(&format!("{}. {question}", at + 1), width, "");
        print(&format!("\n{}", colours.apply(Style::Heading, heading)))?;
        print(&wrapped(about, width, INDENT))?;
        let url = format!("http://{service}{target}");
        print(&format!("\n$ curl '{url}'"))?;
        let response = client.get(url).send().await?.text().await?;
        print(&colours.apply(Style::Dim, response.trim_end()))?;
    }
    print("")?;
    if once {
        print(&wrapped("To send requests of your own, run the demo without --once.", width, ""))?;
    } else {
        let invitation = format!("Open http://{service} in a browser. Ctrl-C stops the demo.");
        print(&wrapped(&invitation, width, ""))?;
    }
    Ok(())
}

/// Prints a line to stdout; a closed stdout is an error, not a panic.
fn print(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}
