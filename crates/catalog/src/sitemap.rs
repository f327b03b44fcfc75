//! The public URLs of one content type as text: one list in JSON or XML (D22, D25), and sitemap
//! files for crawlers.

pub mod files;
mod hidden;
mod list;

pub use hidden::{HiddenUrls, ListedUrls};
pub use list::{Form, List};
