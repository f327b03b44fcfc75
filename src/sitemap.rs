//! The public URLs of one content type as text: JSON and XML (D22, D25).

mod list;

pub use list::{Form, List};
