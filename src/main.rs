//! The `frontend-map` command.
fn main() {}
