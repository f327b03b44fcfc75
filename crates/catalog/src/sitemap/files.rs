//! Sitemap files for crawlers (sitemaps.org, protocol 0.9): the assignment of documents to files, and
//! the text of the files.

mod frame;
mod index;
mod layout;
mod name;
mod write;

pub use frame::Frame;
pub use index::{index, robots};
pub use layout::{File, Layout};
pub use name::{INDEX, ROBOTS, SITEMAP, file_name, parse_name};
pub use write::write;

#[cfg(test)]
mod tests;
