//! Former paths: which document had a path, where its visitors are sent, and lists of other systems.

pub mod history;
pub mod import;
pub mod redirects;
