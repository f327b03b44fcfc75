//! The `frontend-map` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    frontend_map::cli::run()
}
