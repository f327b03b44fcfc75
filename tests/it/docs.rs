//! What the README, the pages of `docs/` and the example settings say, compared with the binary and
//! the repository.

mod answers;
mod openapi;
mod pages;
mod references;
mod settings;
mod snippets;
mod words;
