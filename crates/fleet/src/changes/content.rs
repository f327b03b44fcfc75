//! What decides the content of a fleet: the address of the CMS, and the base URLs of the sites.
//! Instances that differ in it share neither change logs nor webhooks.

use std::fmt::Write as _;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use frontend_map_catalog::site::{Site, Sites};

/// The most bytes of a description, without the hash at its end.
const MAX_DESCRIPTION: usize = 1_000;

/// A hash of what decides the content of a site: its key, its CMS and its base URLs by locale.
pub fn content_of(site: &Site) -> u128 {
    let mut hash = Xxh3::new();
    let mut add = |text: &str| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(&site.key);
    add(&format!("{:032x}", site.source));
    for at in 0..site.hosts.locales() {
        match site.hosts.base(at) {
            Some(base) => add(base.as_str()),
            None => add(""),
        }
    }
    hash.digest128()
}

/// The content of all sites in words, with a hash: the sites, their base URLs, and a hash of the
/// address of the CMS. Equal texts mean equal content.
pub fn describe(sites: &Sites) -> String {
    let (mut text, mut hash) = (String::new(), Xxh3::new());
    for site in sites.iter() {
        hash.update(&content_of(site).to_le_bytes());
        let bases: Vec<&str> = site.hosts.all().iter().map(|host| host.base.as_str()).collect();
        // Writing to a string cannot fail.
        let _ = write!(text, "site {} at {}; ", site.key, bases.join(", "));
    }
    text.truncate(text.floor_char_boundary(MAX_DESCRIPTION));
    let cms = sites.iter().next().map_or(0, |site| xxh3_64(&site.source.to_le_bytes()));
    format!("{text}CMS {:08x}; {:016x}", cms >> 32, hash.digest())
}
