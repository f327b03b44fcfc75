//! What has changed between two probes of a content type and no event has announced.

use std::collections::{BTreeSet, HashSet};

use frontend_map_cms::{Newest, NewestVersion};

/// The changes that no event has announced.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unannounced {
    Nothing,
    /// These documents have changed.
    Documents(BTreeSet<String>),
    /// It is not known which documents have changed.
    Type,
}

impl Unannounced {
    /// Adds documents that have changed.
    pub(super) fn add(&mut self, documents: BTreeSet<String>) {
        match self {
            Self::Nothing if !documents.is_empty() => *self = Self::Documents(documents),
            Self::Documents(all) => all.extend(documents),
            Self::Nothing | Self::Type => {}
        }
    }
}

/// Compares two probes of a content type. `named`: the documents that events are known to have named
/// between them; each has versions in at most `locales` locales, or in those that the probes show. A
/// document that is missing there is read once more than necessary.
///
/// A change of fields in the database that leaves the date of the version as it is remains unnoticed.
pub(super) fn unannounced(
    before: &Newest,
    now: &Newest,
    named: &HashSet<String>,
    locales: usize,
) -> Unannounced {
    let new: Vec<&NewestVersion> =
        now.versions.iter().filter(|one| is_within(before, one) && !before.has(one)).collect();
    let is_moved = |one: &NewestVersion| {
        new.iter().any(|new| (&new.id, &new.locale) == (&one.id, &one.locale))
    };
    let mut gone = before.versions.iter().filter(|one| is_within(now, one) && !now.has(one));
    if gone.any(|one| !is_moved(one) && !named.contains(&one.id)) {
        return Unannounced::Type;
    }
    let unnamed: Vec<&&NewestVersion> = new.iter().filter(|new| !named.contains(&new.id)).collect();
    let has_more = now.is_partial() && new.len() == now.versions.len();
    let shown: HashSet<&str> =
        before.versions.iter().chain(&now.versions).map(|one| &*one.locale).collect();
    let most = named.len() * locales.max(shown.len()) + unnamed.len();
    if (has_more && !unnamed.is_empty()) || now.total.abs_diff(before.total) > most as u64 {
        return Unannounced::Type;
    }
    if unnamed.is_empty() {
        return Unannounced::Nothing;
    }
    Unannounced::Documents(unnamed.into_iter().map(|new| new.id.clone()).collect())
}

/// Whether a version would be among the newest of this probe if it had been there.
fn is_within(newest: &Newest, version: &NewestVersion) -> bool {
    let oldest = newest.versions.last().filter(|_| newest.is_partial());
    oldest.is_none_or(|oldest| version.date > oldest.date)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions `id@second`, the newest first.
    fn newest(total: u64, versions: &[&str]) -> Newest {
        let version = |text: &&str| {
            let (id, at) = text.split_once('@').unwrap();
            let date = format!("2026-01-01T00:00:{at:0>2}.000Z");
            NewestVersion { id: id.to_owned(), locale: "en".to_owned(), date }
        };
        let versions = versions.iter().map(version).collect();
        Newest { total, dated: total, field: "publishedAt", versions }
    }

    fn documents(ids: &[&str]) -> Unannounced {
        Unannounced::Documents(ids.iter().map(|id| (*id).to_owned()).collect())
    }

    #[test]
    fn changes_are_unannounced_unless_events_name_their_documents() {
        use Unannounced::{Nothing, Type};
        let before = newest(10, &["a@9", "b@8", "c@7"]);
        for (what, now, named, expected) in [
            ("nothing", newest(10, &["a@9", "b@8", "c@7"]), &[][..], Nothing),
            ("published again", newest(10, &["b@11", "a@9", "c@7"]), &["b"], Nothing),
            ("its event is lost", newest(10, &["b@11", "a@9", "c@7"]), &[], documents(&["b"])),
            ("an older one", newest(10, &["x@11", "a@9", "b@8"]), &[], documents(&["x"])),
            ("a new one", newest(11, &["x@11", "a@9", "b@8"]), &[], documents(&["x"])),
            (
                "one event of two is lost",
                newest(10, &["y@12", "x@11", "a@9"]),
                &["y"],
                documents(&["x"]),
            ),
            ("withdrawn", newest(9, &["b@8", "c@7", "d@6"]), &["a"], Nothing),
            ("its event is lost", newest(9, &["b@8", "c@7", "d@6"]), &[], Type),
            ("an old one is withdrawn", newest(9, &["a@9", "b@8", "c@7"]), &["d"], Nothing),
            ("its event is lost", newest(9, &["a@9", "b@8", "c@7"]), &[], Type),
            ("an import with old dates", newest(2010, &["a@9", "b@8", "c@7"]), &["d"], Type),
            ("an import", newest(2010, &["x@11", "y@11", "z@11"]), &[], Type),
            ("an older dump", newest(10, &["c@7", "a@6", "b@5"]), &[], Type),
            ("many were published again", newest(10, &["x@13", "y@12", "z@11"]), &["x"], Type),
        ] {
            let named = named.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(unannounced(&before, &now, &named, 1), expected, "{what}: {now:?}");
        }
    }

    #[test]
    fn all_versions_may_be_within_the_probe() {
        let before = newest(2, &["a@9", "b@8"]);
        let (none, all) = (HashSet::new(), newest(1, &["a@9"]));
        assert_eq!(unannounced(&before, &all, &none, 1), Unannounced::Type);
        let all = newest(3, &["a@9", "b@8", "old@1"]);
        assert_eq!(unannounced(&before, &all, &none, 1), documents(&["old"]));
        assert_eq!(unannounced(&newest(0, &[]), &all, &none, 1), documents(&["a", "b", "old"]));
    }

    #[test]
    fn named_document_may_change_the_number_in_each_locale() {
        let before = newest(10, &["a@9"]);
        let named = HashSet::from(["x".to_owned()]);
        assert_eq!(unannounced(&before, &newest(7, &["a@9"]), &named, 3), Unannounced::Nothing);
        assert_eq!(unannounced(&before, &newest(6, &["a@9"]), &named, 3), Unannounced::Type);
        // The CMS has more locales than the site.
        let mut now = newest(8, &["a@9", "b@8"]);
        now.versions[1].locale = "de".to_owned();
        assert_eq!(
            unannounced(&newest(10, &["a@9"]), &newest(8, &["a@9"]), &named, 1),
            Unannounced::Type
        );
        let before = Newest { total: 10, ..now.clone() };
        assert_eq!(unannounced(&before, &now, &named, 1), Unannounced::Nothing);
    }
}
