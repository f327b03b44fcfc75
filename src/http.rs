//! HTTP, from a request's head to a response: `operations` (one file each) read requests with
//! `request` and make responses of `response`; `pipeline` calls them and has all routes on one page.
//! `admin` are the pages of the admin listener.

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
