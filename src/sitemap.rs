//! The public URLs of one content type of a site (D22).

mod listing;
mod xml;

pub use listing::{Listing, Outcome, Sitemap, Skipped};
pub use xml::xml;
