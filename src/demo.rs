//! What `frontend-map demo` runs: the service on embedded content, with a small front end beside it.

pub mod front_end;
