//! Tables of a site as JSON texts: all its pages, and the problems of its content. They are written
//! in chunks, so that the memory for a response does not depend on the number of rows.

mod chunks;
mod pages;
mod problems;
mod redirect_problems;
mod shared_paths;

/// At most this many rows of each kind are listed for a content type.
const MAX_ROWS: usize = 10_000;

pub use chunks::{Chunks, Form, Rows, Step};
pub use pages::{PageCount, PageFilter, PageRow, Pages};
pub use problems::{Problem, ProblemCount, Problems, VersionRow};
pub use redirect_problems::{RedirectProblem, RedirectProblems};
pub use shared_paths::SharedPaths;
