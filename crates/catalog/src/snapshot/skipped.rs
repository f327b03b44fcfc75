//! Versions of documents without a URL, counted by reason.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use frontend_map_rules::Fault;

/// The reasons that do not name a placeholder.
const WITHOUT_PLACEHOLDER: [&str; 7] = [
    "locale_unknown",
    "locale_without_template",
    "not_published",
    "url_too_long",
    "path_taken_by_page",
    "not_a_document",
    "no_rule",
];

/// The number of versions without a URL, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped(BTreeMap<String, u64>);

impl Skipped {
    /// Counts `times` versions without a URL for one reason.
    pub fn count(&mut self, reason: &str, times: u64) {
        if times > 0 {
            let count = self.0.entry(reason.to_owned()).or_default();
            // Bytes from elsewhere may have any number.
            *count = count.saturating_add(times);
        }
    }

    /// Counts those of another part.
    pub(super) fn add(&mut self, other: &Self) {
        other.by_reason().for_each(|(reason, times)| self.count(reason, times));
    }

    /// The total: the value of `X-Skipped-Documents`.
    pub fn total(&self) -> u64 {
        self.0.values().fold(0, |total, count| total.saturating_add(*count))
    }

    /// Reasons and counts, ordered by reason.
    pub fn by_reason(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(reason, count)| (reason.as_str(), *count))
    }

    /// Counts by reason without the name of the placeholder. All reasons of the closed set are
    /// there, some with 0.
    pub fn by_kind(&self) -> impl Iterator<Item = (&'static str, u64)> {
        kinds().map(|kind| {
            let of_kind = self.by_reason().filter(move |(reason, _)| is_of(reason, kind));
            (kind, of_kind.fold(0_u64, |total, (_, count)| total.saturating_add(count)))
        })
    }
}

fn kinds() -> impl Iterator<Item = &'static str> {
    Fault::ALL.iter().copied().map(Fault::as_str).chain(WITHOUT_PLACEHOLDER)
}

/// Whether a reason is of a kind: `slug_missing` is of `missing`. No kind ends with another one.
fn is_of(reason: &str, kind: &str) -> bool {
    match reason.strip_suffix(kind) {
        Some("") => true,
        Some(placeholder) => placeholder.ends_with('_') && !WITHOUT_PLACEHOLDER.contains(&kind),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_kind_counts_each_document_once() {
        let mut skipped = Skipped::default();
        for kind in kinds() {
            let named = !WITHOUT_PLACEHOLDER.contains(&kind);
            skipped.count(&if named { format!("a.locale_{kind}") } else { kind.to_owned() }, 1);
        }
        skipped.count("no_rule_missing", 2);
        let kinds: Vec<_> = skipped.by_kind().collect();
        let counted: u64 = kinds.iter().map(|(_, count)| count).sum();
        assert_eq!((kinds.len(), counted), (23, 25));
        assert_eq!(kinds[0], ("missing", 3));
        assert!(kinds[1..].iter().all(|(_, count)| *count == 1), "{kinds:?}");
    }

    #[test]
    fn counts_from_bytes_do_not_overflow() {
        let mut skipped = Skipped::default();
        for reason in ["slug_missing", "no_rule"] {
            skipped.count(reason, u64::MAX);
            skipped.count(reason, 1);
        }
        assert_eq!(skipped.total(), u64::MAX);
    }
}
