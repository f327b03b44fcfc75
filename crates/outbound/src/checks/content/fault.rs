//! What is wrong with a page that answers 200.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Characters of a detail that are kept.
const DETAIL_CHARS: usize = 500;

/// A fault of a page, or a hint at one. A page has at most one of each kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// What the page says, and what the sitemap says; visible characters alone. Empty where the kind
    /// says it all.
    #[serde(skip_serializing_if = "str::is_empty", default)]
    pub detail: Box<str>,
}

/// What is wrong with a page. Reports have this order: faults first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The page asks search engines not to list it.
    Noindex,
    /// `robots.txt` forbids search engines to read it.
    RobotsDisallowed,
    /// It has the title and the text of a page that cannot exist.
    #[serde(rename = "soft_404")]
    Soft404,
    /// Its canonical link leads to a listed URL whose status is not 200.
    CanonicalDead,
    /// Its canonical link leads to another URL.
    CanonicalElsewhere,
    /// It has several canonical links that differ.
    CanonicalConflict,
    /// It has no canonical link.
    CanonicalMissing,
    /// It has links to other languages, and one to a version is missing.
    HreflangMissing,
    /// A link to another language leads to another URL than the version has.
    HreflangWrong,
    /// It has a link to a language in which there is no version.
    HreflangExtra,
    /// The `lang` of `<html>` is another language than that of the version.
    LangDiffers,
    /// A hint: its canonical link is relative.
    CanonicalRelative,
    /// A hint: the title of the document is nowhere in the page.
    TitleAbsent,
    /// A hint: the page could not be read to the end of its head, or not decoded.
    Unread,
}

impl FaultKind {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Noindex => "noindex",
            Self::RobotsDisallowed => "robots_disallowed",
            Self::Soft404 => "soft_404",
            Self::CanonicalDead => "canonical_dead",
            Self::CanonicalElsewhere => "canonical_elsewhere",
            Self::CanonicalConflict => "canonical_conflict",
            Self::CanonicalMissing => "canonical_missing",
            Self::HreflangMissing => "hreflang_missing",
            Self::HreflangWrong => "hreflang_wrong",
            Self::HreflangExtra => "hreflang_extra",
            Self::LangDiffers => "lang_differs",
            Self::CanonicalRelative => "canonical_relative",
            Self::TitleAbsent => "title_absent",
            Self::Unread => "unread",
        }
    }

    /// Its meaning in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Noindex => "the page asks search engines not to list it",
            Self::RobotsDisallowed => "robots.txt forbids search engines to read the page",
            Self::Soft404 => "status 200 with the content of a page that does not exist",
            Self::CanonicalDead => {
                "the canonical link leads to a listed URL whose status is not 200"
            }
            Self::CanonicalElsewhere => "the canonical link leads to another URL",
            Self::CanonicalConflict => "the page has several canonical links that differ",
            Self::CanonicalMissing => "the page has no canonical link",
            Self::HreflangMissing => "no hreflang link to a version of the document",
            Self::HreflangWrong => {
                "an hreflang link has another URL than the version of the document"
            }
            Self::HreflangExtra => "an hreflang link to a language that the document does not have",
            Self::LangDiffers => "the lang of <html> contradicts the locale",
            Self::CanonicalRelative => "the canonical link is relative",
            Self::TitleAbsent => "the title of the document is not in the page",
            Self::Unread => "the content of the page could not be read",
        }
    }

    /// Whether it may be as it should be: a hint is no failure.
    pub fn is_hint(self) -> bool {
        self >= Self::CanonicalRelative
    }
}

impl Fault {
    /// The name of its kind.
    pub(in crate::checks) fn name(&self) -> &'static str {
        self.kind.as_str()
    }

    /// A fault with a detail, of which the first characters are kept.
    pub fn new(kind: FaultKind, detail: &str) -> Self {
        let visible = |c| {
            if frontend_map_rules::is_visible(c) { c } else { char::REPLACEMENT_CHARACTER }
        };
        let detail: String = detail.chars().take(DETAIL_CHARS).map(visible).collect();
        Self { kind, detail: detail.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())?;
        match &*self.detail {
            "" => Ok(()),
            detail => write!(f, ": {detail}"),
        }
    }
}

/// How many pages were read, and how many of them have a fault of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultTally {
    /// Pages that were read.
    pub read: u64,
    /// Pages with at least one fault; hints do not count.
    pub faulty: u64,
    /// The faults and hints that pages have, each with the number of pages, in the order of reports.
    pub kinds: BTreeMap<FaultKind, u64>,
}

impl FaultTally {
    /// Counts a page that was read, with its faults.
    pub fn add(&mut self, is_read: bool, faults: &[Fault]) {
        self.read += u64::from(is_read);
        self.faulty += u64::from(faults.iter().any(|fault| !fault.kind.is_hint()));
        for fault in faults {
            *self.kinds.entry(fault.kind).or_default() += 1;
        }
    }

    /// Adds the counters of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.read += other.read;
        self.faulty += other.faulty;
        for (kind, pages) in &other.kinds {
            *self.kinds.entry(*kind).or_default() += pages;
        }
    }

    /// Counts a page that was counted with the fault `from` with the fault `to` instead.
    pub(in crate::checks) fn recount(&mut self, from: FaultKind, to: FaultKind) {
        *self.kinds.entry(from).or_default() -= 1;
        self.kinds.retain(|_, pages| *pages > 0);
        *self.kinds.entry(to).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [FaultKind; 14] = [
        FaultKind::Noindex,
        FaultKind::RobotsDisallowed,
        FaultKind::Soft404,
        FaultKind::CanonicalDead,
        FaultKind::CanonicalElsewhere,
        FaultKind::CanonicalConflict,
        FaultKind::CanonicalMissing,
        FaultKind::HreflangMissing,
        FaultKind::HreflangWrong,
        FaultKind::HreflangExtra,
        FaultKind::LangDiffers,
        FaultKind::CanonicalRelative,
        FaultKind::TitleAbsent,
        FaultKind::Unread,
    ];

    #[test]
    fn kinds_are_in_order_and_named_alike_everywhere() {
        assert!(ALL.is_sorted_by(|one, next| one < next));
        for (at, kind) in ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("{:?}", kind.as_str()));
        }
    }

    #[test]
    fn tally_counts_pages_by_kind_and_hints_are_no_faults() {
        let mut tally = FaultTally::default();
        let hint = Fault::new(FaultKind::TitleAbsent, "");
        tally.add(true, &[]);
        tally.add(true, std::slice::from_ref(&hint));
        tally.add(true, &[Fault::new(FaultKind::Noindex, "x"), hint]);
        tally.add(false, &[Fault::new(FaultKind::RobotsDisallowed, "/")]);
        assert_eq!(
            serde_json::to_string(&tally).unwrap(),
            r#"{"read":3,"faulty":2,"kinds":{"noindex":1,"robots_disallowed":1,"title_absent":2}}"#
        );
    }
}
