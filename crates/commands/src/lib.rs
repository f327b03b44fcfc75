//! The commands, the settings that they read, and the composition of the service.
//!
//! - [`cli`]: the arguments, one file for each command, what they print, exit statuses.
//! - [`config`]: the settings, from a file and the environment, with every mistake in them.
//! - [`boot`]: builds everything from settings, at the start and at a reload.
//! - [`demo`]: the service on built-in content, with a small frontend.
//!
//! The binary only calls [`cli::run`]. It is a package of its own, because its link optimizes all code as
//! that package says: for speed, and these commands are built for size.

pub mod boot;
pub mod cli;
pub mod config;
pub mod demo;
