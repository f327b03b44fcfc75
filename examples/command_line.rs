//! Writes man pages and completions of the shells to FOLDER, for packages:
//! `cargo run --example command_line -- FOLDER`.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use clap_complete::Shell;

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("FOLDER is missing")?.into();
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    let mut command = frontend_map_commands::cli::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "frontend-map", &completions)?;
    }
    // Anew: the generators above have added `help COMMAND`, whose pages would say nothing new.
    clap_mangen::generate_to(frontend_map_commands::cli::command(), man)?;
    Ok(())
}
