//! The operations in words, each with a request and its response.

use std::error::Error;
use std::io::Write as _;

use super::url_checks;
use crate::cli::output::terminal::{Colours, Style, prose_width};
use crate::cli::output::words::wrapped;
use crate::demo::{Addresses, OPERATIONS, Operation};
use frontend_map_platform::http_client;

const WELCOME: &str = "The service runs on built-in content: articles and pages in English and \
    German. It needs no CMS and reads no settings.";
const INDENT: &str = "   ";

/// Requests each operation and prints what it is for, the request and the response.
///
/// # Errors
/// When the service does not respond, or stdout is closed.
pub(super) async fn show(addresses: &Addresses, once: bool) -> Result<(), Box<dyn Error>> {
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
        if operation.checks_urls() {
            print(&format!("\n{}", url_checks::table(&response, colours, width)?))?;
        } else {
            print(&colours.apply(Style::Dim, response.trim_end()))?;
        }
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
