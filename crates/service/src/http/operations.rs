//! The operations, one file each, named like its route. `no_match` is common to the two that
//! resolve a pathname, `resolved_by` to all that read a path index.

pub(super) mod build_sitemap;
pub(super) mod changes;
pub(super) mod cms_hook;
pub(super) mod document;
pub(super) mod frontend_url;
pub(super) mod frontend_urls;
pub(super) mod get_content_type;
pub(super) mod health;
mod no_match;
pub(super) mod openapi;
pub(super) mod publish_preview;
pub(super) mod resolve;
mod resolved_by;
pub(super) mod sitemap_files;
pub(super) mod sites;
pub(super) mod tables;
mod version_paths;
