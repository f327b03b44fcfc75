//! The rules of each content type, found without a search through all rules.

use rustc_hash::FxHashMap;

use crate::rule::Rule;
use crate::uid::ContentTypeUid;

/// The positions of the rules by content type.
#[derive(Clone, Debug)]
pub(super) struct Types {
    by_uid: FxHashMap<ContentTypeUid, Vec<u32>>,
    first: Vec<u32>,
}

impl Types {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let mut by_uid: FxHashMap<ContentTypeUid, Vec<u32>> = FxHashMap::default();
        let mut first = Vec::new();
        for (at, rule) in (0..).zip(rules) {
            let own = by_uid.entry(rule.content_type.clone()).or_default();
            if own.is_empty() {
                first.push(at);
            }
            own.push(at);
        }
        Self { by_uid, first }
    }

    /// The positions of a content type's rules, in the order of the settings.
    pub(super) fn of(&self, uid: &str) -> &[u32] {
        self.by_uid.get(uid).map_or(&[], Vec::as_slice)
    }

    /// The position of each content type's first rule, in the order of the settings.
    pub(super) fn first_rules(&self) -> impl Iterator<Item = usize> {
        self.first.iter().map(|at| *at as usize)
    }
}
