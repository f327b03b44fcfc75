//! URL checks: `validate=true` and `frontend-map validate` with a scripted frontend that fails in every
//! way, and SSRF protection.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod content;
mod ssrf_guard;
mod validate;
mod validation;
mod validator;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;
