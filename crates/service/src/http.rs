//! HTTP, from the head of a request to the response. `operations` has one file for each operation,
//! which reads the request with `request` and builds the response with `response`; `responses` has the
//! types of all JSON texts; `pipeline` has all
//! routes in one file and calls the operations. `admin` has the pages of the admin listener.
//!
//! # Design
//!
//! - **Load shedding.** Requests that wait for the CMS or send long responses need a permit of
//!   `limits.requests`; lists get at most three quarters of them, because their clients wait for
//!   minutes. The limit never exceeds three quarters of the connections, so that pathnames,
//!   health checks and webhooks are still served. Batches of documents, which are served from
//!   memory as a rule, have permits of their own (D36). The limits are semaphores of fixed size.
//! - **Streamed bodies.** Long bodies are produced in chunks by threads of their own, half as
//!   many as there are cores and of a lower priority, so that they take no time from pathnames. A
//!   chunk takes at most a tenth of a millisecond: 64 KiB of URLs, 32 KiB of rows, 32 KiB to
//!   compress. A batch of chunks is produced while the one before is sent: one chunk, or up to
//!   three while the client waits for more, because waking another thread takes as long as
//!   producing a chunk. A connection yields after each chunk. Sitemap files are finished texts:
//!   they are sent in slices of at most 256 KiB, and a connection yields after each slice.
//! - **Compression.** Chunks are compressed independently, because the state of deflate is a
//!   third of a megabyte, and a thousand slow readers would need one each. Each thread has one
//!   state; the output is a few percent larger. Sitemap files are compressed once, on other
//!   threads.
//! - **Queries.** axum's extractors repair what they read: they turn `%FF` into U+FFFD, keep
//!   `%ZZ`, and take the last of repeated names. Here all three are a 400 (D1), so our own code
//!   parses the raw query, once.
//! - **Errors.** Every error response is an `ApiError`: status, name, message, details,
//!   `Retry-After`. `ContentError` and `NoUrl` are converted to it in a single place, so the set
//!   of statuses and names is closed. `ContentError` has no field for a body, an address or a
//!   token of the CMS (D27).

mod admin;
mod operations;
mod pipeline;
mod request;
mod response;
mod responses;

pub use pipeline::admin_service::AdminService;
pub use pipeline::service::{RequestHandler, ResponseFuture, Service};
#[cfg(fuzzing)]
pub use request::query::fuzz_query;
pub use response::envelope::{HttpResponse, ResponseBody};
pub use response::guard_body;
