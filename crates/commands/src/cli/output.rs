//! What the output of commands is made of.

pub(super) mod destination;
pub(super) mod logging;
pub(super) mod sarif;
pub(super) mod terminal;
pub(super) mod words;
