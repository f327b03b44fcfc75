//! Which public URLs exist, and which ones did.
//!
//! Pure: no clock, no file, no network, no thread.
//!
//! - [`site`]: the sites of the settings, with their rules, locales and hosts.
//! - [`snapshot`]: all public URLs of a content type of a site, compactly. Every answer is read from
//!   one. The result of a walk makes one; a difference of one by documents ([`snapshot::Delta`]) makes
//!   the next one.
//! - [`path_index`]: path to document, over the snapshots of a site.
//! - [`resolve`]: what a pathname resolves to, and what decided.
//! - [`changes`]: what differs between two snapshots, and the log of it, in order.
//! - [`moved`]: which document had a path before, where its visitors are sent, lists of other systems.
//! - [`misses`]: paths that visitors could not find, and which page was perhaps meant.
//! - [`sitemap`] and [`tables`]: the snapshots as lists, sitemap files, pages and problems.
//! - [`preview`]: what publishing, unpublishing and deleting a version would do.
//! - [`links`]: links in the content of documents, and what each leads to.
//! - [`json`]: the JSON of answers, written without a tree; [`hex`]: large numbers in JSON.
//! - [`explain`]: why a rule matches or not, for people.

pub mod changes;
pub mod explain;
pub mod hex;
pub mod json;
pub mod links;
pub mod misses;
pub mod moved;
pub mod path_index;
pub mod preview;
pub mod resolve;
pub mod site;
pub mod sitemap;
pub mod snapshot;
pub mod tables;
