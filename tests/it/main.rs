//! Black-box tests of the real binary and the public core.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod demo;
mod outgoing;
mod support;
mod validator;
