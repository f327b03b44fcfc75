//! Redirects: which document had a path before, what entries of the CMS say, where visitors are sent, and
//! lists of other systems.

pub mod entries;
pub mod history;
pub mod import;
pub mod redirects;
