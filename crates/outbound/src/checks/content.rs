//! The content of pages: what they say about themselves beside what the site's map says of them.
//!
//! A run that judges pages reads at most [`MAX_PAGE_BYTES`] of each page that answers 200, in the request
//! that checks its URL. Before, it reads `robots.txt` once for each host, and requests paths that cannot
//! exist: one for each host, and one for each rule and locale with many URLs. What decides is pure:
//! [`html`] reads a page, `judge` compares it.

mod body;
mod charset;
#[cfg(test)]
mod corpus;
mod fault;
pub mod html;
mod judge;
mod link_header;
mod page_judge;
mod page_url;
mod robots_meta;
mod robots_txt;
mod soft_404;

pub(in crate::checks) use body::{Page, read_page};
pub use fault::{Fault, FaultKind, FaultTally};
pub use judge::Expected;
pub use page_judge::{Judged, PageJudge, UnreadableRobots, mark_dead_canonicals};
pub(in crate::checks) use page_judge::{dead_canonicals, mark_dead};
pub(in crate::checks) use robots_txt::MAX_BYTES as MAX_ROBOTS_BYTES;

/// Bytes of a page that are read, after decompression: more than the head of any page that people write.
pub const MAX_PAGE_BYTES: usize = 128 * 1024;
