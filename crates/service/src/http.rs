//! HTTP, from the head of a request to the response. `operations` has one file for each operation,
//! which reads the request with `request` and builds the response with `response`; `pipeline` has all
//! routes in one file and calls the operations. `admin` has the pages of the admin listener.

mod admin;
mod operations;
mod pipeline;
mod request;
mod response;

pub use pipeline::admin_service::AdminService;
pub use pipeline::service::{RequestHandler, ResponseFuture, Service};
#[cfg(fuzzing)]
pub use request::query::fuzz_query;
pub use response::envelope::{HttpResponse, ResponseBody};
pub use response::guarded_body::guard_body;
