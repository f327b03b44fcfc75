//! The commands, the settings that they read, and the composition of the service.
//!
//! - [`cli`]: the arguments, one file for each command, what they print, exit statuses.
//! - [`config`]: the settings, from a file and the environment, with every mistake in them.
//! - [`boot`]: builds everything from settings, at the start and at a reload.
//! - [`demo`]: the service on built-in content, with a small frontend.
//!
//! The binary is a package of its own, which only calls [`cli::run`]: the link optimizes all code at the
//! `opt-level` of the binary's package. That one is built for speed, this one for size.

pub mod boot;
pub mod cli;
pub mod config;
pub mod demo;
