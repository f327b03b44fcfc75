//! One file for each section of the settings: its keys, their defaults and their checks.

pub(super) mod auth;
pub(super) mod changes;
pub(super) mod cms;
pub(super) mod hooks;
pub(super) mod limits;
pub(super) mod log;
pub(super) mod moved;
pub(super) mod rule;
pub(super) mod server;
pub(super) mod shared;
pub(super) mod site;
pub(super) mod snapshots;
pub(super) mod store;
pub(super) mod traces;
pub(super) mod validation;

use frontend_map_catalog::site::Sites;

use super::fingerprint::{self, Written};
use super::section::Section;
use super::{Config, Lines};

/// Reads all sections; `None`: one of them has a problem. Without one there may be problems as well,
/// because a value with a problem may be left out.
pub(super) fn read(root: &mut Section<'_>, written: &Written) -> Option<Config> {
    let limits = root.section("limits", limits::read);
    let endpoints = cms::content_type::read(root);
    let (cms, admin_url) = root.section("cms", |cms| cms::read(cms, endpoints, limits.cms));
    let mut sites = site::read(root, cms.as_ref());
    let (moved, imports) = root.section("moved", moved::read);
    let content_fingerprint = match (&cms, &mut sites) {
        (Some(cms), Some(sites)) => fingerprint::set_fingerprints(written, cms, sites),
        _ => 0,
    };
    Some(Config {
        log: root.section("log", log::read),
        traces: root.section("traces", traces::read),
        webhook_secret: root.section("hooks", hooks::read),
        freshness: root.section("snapshots", snapshots::read),
        store: root.section("store", store::read),
        shared: root.section("shared", shared::read),
        validation: root.section("validation", validation::read),
        changes: root.section("changes", changes::read),
        notify: changes::notify::read(root, sites.as_deref()),
        auth: root.section("auth", auth::read),
        limits,
        admin_url,
        moved,
        imports,
        content_fingerprint,
        warnings: Vec::new(),
        lines: Lines::default(),
        // After the last section, so that the problems of all are found.
        server: root.section("server", server::read)?,
        cms: cms?,
        sites: Sites::new(sites?),
    })
}
