//! The body of a webhook: which document has changed, and how.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use frontend_map_fleet::cms_events::{CmsChange, CmsEvent, Invalidation};
use frontend_map_rules::{ContentTypeUid, is_document_id};

/// The events that say nothing about published versions if `publishedAt` is null.
const OF_DRAFTS: [&str; 3] = ["entry.create", "entry.update", "entry.draft-discard"];
/// The events after which a version is no longer published.
const OF_WITHDRAWALS: [&str; 2] = ["entry.unpublish", "entry.delete"];

/// The event that requests a refresh; the CMS sends none with this name.
const REFRESH: &str = "frontend-map.refresh";

/// The members of Strapi's event that are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    name: String,
    uid: String,
    document_id: String,
    /// `publishedAt: null`; an absent one says nothing.
    is_unpublished: bool,
}

/// The event of a body, which may break off behind these members; they are empty where it has none.
pub(super) fn read(body: &[u8]) -> Event {
    let mut event = Event::default();
    let mut reader = serde_json::Deserializer::from_slice(body);
    // An error comes behind the members that are known by then.
    let _ = Members { event: &mut event, is_entry: false }.deserialize(&mut reader);
    event
}

impl Event {
    /// Whether it requests a refresh.
    pub(super) fn is_refresh(&self) -> bool {
        self.name == REFRESH
    }

    /// What the event says about published versions: only these decide about URLs.
    pub(super) fn into_cms_event(self) -> CmsEvent {
        let (withdraws, is_draft) = (self.withdraws_public_version(), self.is_draft());
        let change = match self.named() {
            _ if is_draft => CmsChange::Nothing,
            Some((uid, document_id, is_withdrawn)) => {
                CmsChange::Document(Invalidation { uid, document_id, is_withdrawn })
            }
            None => CmsChange::Anything,
        };
        CmsEvent { withdraws, change, is_found: false }
    }

    /// Whether only a draft has changed.
    fn is_draft(&self) -> bool {
        self.names_document() && self.is_unpublished && OF_DRAFTS.contains(&&*self.name)
    }

    /// Whether a published version is withdrawn. Strapi sends `entry.delete` for each draft too,
    /// with `publishedAt: null`.
    fn withdraws_public_version(&self) -> bool {
        self.is_withdrawal() && !self.is_unpublished
    }

    /// Whether a version, published or not, is withdrawn.
    fn is_withdrawal(&self) -> bool {
        OF_WITHDRAWALS.contains(&&*self.name)
    }

    /// The document that may have changed, and whether a version of it was withdrawn; `None`: the
    /// event names none.
    fn named(self) -> Option<(String, String, bool)> {
        let (names_document, is_withdrawn) = (self.names_document(), self.is_withdrawal());
        names_document.then_some((self.uid, self.document_id, is_withdrawn))
    }

    fn names_document(&self) -> bool {
        let is_uid = (1..=ContentTypeUid::MAX_BYTES).contains(&self.uid.len());
        is_uid && is_document_id(&self.document_id)
    }
}

/// Reads an object: the event, or its `entry`.
struct Members<'e> {
    event: &'e mut Event,
    is_entry: bool,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { event, is_entry } = self;
        while let Some(key) = entries.next_key::<String>()? {
            match (is_entry, &*key) {
                (false, "event") => event.name = entries.next_value()?,
                (false, "uid") => event.uid = entries.next_value()?,
                (false, "entry") => {
                    entries.next_value_seed(Members { event: &mut *event, is_entry: true })?;
                }
                (true, "documentId") => event.document_id = entries.next_value()?,
                (true, "publishedAt") => {
                    event.is_unpublished = entries.next_value::<Option<IgnoredAny>>()?.is_none();
                }
                _ => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(event: &str, published_at: &str) -> String {
        format!(
            r#"{{"event":"{event}","createdAt":"x","model":"a","uid":"api::a.a","entry":{{"id":7,"documentId":"d1","slug":"s"{published_at},"locale":"en","articles":[{{"documentId":"d2","publishedAt":null}}]}}}}"#
        )
    }

    #[test]
    fn event_of_a_draft_says_nothing_about_published_versions() {
        let (null, date) = (r#","publishedAt":null"#, r#","publishedAt":"2026-01-01""#);
        for (event, published_at, is_draft) in [
            ("entry.create", null, true),
            ("entry.update", null, true),
            ("entry.draft-discard", null, true),
            ("entry.update", date, false),
            ("entry.update", "", false),
            ("entry.publish", null, false),
            ("entry.unpublish", null, false),
            ("entry.delete", null, false),
            ("media.update", null, false),
        ] {
            let event = read(body(event, published_at).as_bytes());
            assert_eq!(event.is_draft(), is_draft, "{event:?}");
        }
    }

    #[test]
    fn deleted_draft_withdraws_no_public_version() {
        let (null, date) = (r#","publishedAt":null"#, r#","publishedAt":"2026-01-01""#);
        for (event, published_at, is_public) in [
            ("entry.delete", null, false),
            ("entry.delete", date, true),
            ("entry.delete", "", true),
            ("entry.unpublish", date, true),
            ("entry.publish", date, false),
        ] {
            let found = read(body(event, published_at).as_bytes()).withdraws_public_version();
            assert_eq!(found, is_public, "{event}{published_at}");
        }
    }

    #[test]
    fn event_names_the_document_and_what_happened_to_it() {
        for (event, is_withdrawn) in [
            ("entry.publish", false),
            ("entry.update", false),
            ("entry.unpublish", true),
            ("entry.delete", true),
            ("anything", false),
        ] {
            let found = read(body(event, "").as_bytes()).into_cms_event().change;
            let (uid, document_id) = ("api::a.a".to_owned(), "d1".to_owned());
            let document = Invalidation { uid, document_id, is_withdrawn };
            assert_eq!(found, CmsChange::Document(document));
        }
    }

    #[test]
    fn event_that_breaks_off_behind_its_names_is_read() {
        let body = body("entry.publish", r#","publishedAt":null"#);
        let end = body.find("articles").unwrap();
        assert_eq!(read(&body.as_bytes()[..end]), read(body.as_bytes()));
        assert_eq!(read(&body.as_bytes()[..body.find("d1").unwrap()]).named(), None);
    }

    #[test]
    fn names_of_any_length_are_not_kept() {
        let body = |uid: usize, id: usize| {
            let (uid, id) = ("u".repeat(uid), "d".repeat(id));
            format!(r#"{{"event":"entry.update","uid":"{uid}","entry":{{"documentId":"{id}"}}}}"#)
        };
        for (uid, id, is_named) in
            [(128, 64, true), (129, 64, false), (128, 65, false), (500_000, 64, false)]
        {
            let event = read(body(uid, id).as_bytes());
            assert_eq!(event.named().is_some(), is_named, "{uid} {id}");
        }
    }

    #[test]
    fn body_without_a_well_formed_document_names_none() {
        for bad in [
            "",
            "x",
            "[]",
            "{}",
            r#"{"uid":"api::a.a"}"#,
            r#"{"uid":"api::a.a","entry":{"documentId":"a/b"}}"#,
            r#"{"uid":"api::a.a","entry":{"documentId":7}}"#,
            r#"{"entry":{"documentId":"d1"}}"#,
            r#"{"event":"media.update","media":{"documentId":"d1"}}"#,
        ] {
            let event = read(bad.as_bytes());
            assert!(event.into_cms_event().change == CmsChange::Anything, "{bad}");
        }
    }
}
