//! The naive history: a map from each path to the version that had it last.

use std::collections::BTreeMap;

use super::world::{Publication, Version};

/// A version that had a path.
#[derive(Clone, Debug)]
pub(super) struct FormerVersion {
    pub(super) uid: String,
    pub(super) id: String,
    pub(super) locale: String,
    pub(super) last_seen: i64,
}

impl FormerVersion {
    /// Documents with an odd number are not localized.
    pub(super) fn is_localized(&self) -> bool {
        !self.id.ends_with(['1', '3'])
    }
}

#[derive(Debug, Default)]
pub(super) struct Naive(BTreeMap<String, FormerVersion>);

impl Naive {
    /// Enters the paths that a publication no longer gives to their versions.
    pub(super) fn enter(&mut self, publication: &Publication, now: i64) {
        let Publication { uid, before, after, .. } = publication;
        for (version, path) in &before.paths {
            // The only version of a document that is not localized is the same in each locale.
            let is_same = |(other, _): &(&Version, &String)| {
                other.id == version.id
                    && (other.locale == version.locale
                        || (!other.is_localized && !version.is_localized))
            };
            let now_at = after.paths.iter().find(is_same).map(|(_, path)| path);
            if now_at != Some(path) {
                let former = FormerVersion {
                    uid: uid.clone(),
                    id: version.id.clone(),
                    locale: version.locale.clone(),
                    last_seen: now,
                };
                self.0.insert(path.clone(), former);
            }
        }
    }

    pub(super) fn former(&self, path: &str) -> Option<&FormerVersion> {
        self.0.get(path)
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
