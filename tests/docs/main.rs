//! What the README, the pages of `docs/` and the example settings say, compared with the binary and
//! the repository.

mod instances;
mod openapi;
mod pages;
mod references;
mod responses;
mod settings;
mod snippets;
mod words;
