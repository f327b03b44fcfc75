//! What has changed: between two snapshots, and in order since a cursor.

pub mod difference;
pub mod log;
