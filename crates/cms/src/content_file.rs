//! Documents from a JSON file: `{"<uid>": [document, …]}` (D30, D31).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use crate::{ContentQuery, Document, DocumentLocale, Projection, Status, Versions};
use frontend_map_platform::spelling::closest;
use frontend_map_rules::{ContentTypeUid, FieldPath, FieldValue, Locale};

/// The documents of a content file: its text, and 32 bytes a document.
#[derive(Clone, Debug, Default)]
pub struct ContentFile(Arc<Contents>);

#[derive(Debug, Default)]
struct Contents {
    text: String,
    by_type: HashMap<String, Vec<StoredDocument>>,
    hash: u128,
}

/// A document in the text.
#[derive(Debug)]
struct StoredDocument {
    /// The hash of its `documentId`.
    id: u64,
    status: Status,
    json: Range<usize>,
}

/// A problem of a content file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages document the variants")]
pub enum ContentFileError {
    #[error("it is not a JSON object of lists of documents: {0}")]
    NotJson(String),
    #[error("`{0}` is not a content-type UID")]
    BadUid(String),
    #[error("`{0}` is listed twice")]
    RepeatedUid(String),
    #[error("document {position} of `{uid}` is not an object with a `documentId`")]
    NoDocumentId { uid: String, position: usize },
    #[error("document {position} of `{uid}` has a `status` other than `draft` and `published`")]
    BadStatus { uid: String, position: usize },
    #[error(
        "document {position} of `{uid}` repeats documentId, locale and status of an earlier one"
    )]
    Repeated { uid: String, position: usize },
}

/// A content type of the rules that a content file does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentType {
    /// Its UID.
    pub uid: ContentTypeUid,
    /// What to do about it.
    pub text: String,
}

impl ContentFile {
    /// Parses the text of a content file.
    ///
    /// # Errors
    /// All problems of the text; positions count from 1.
    pub fn parse(text: String) -> Result<Self, Vec<ContentFileError>> {
        let Members(members) = serde_json::from_str(&text)
            .map_err(|error| vec![ContentFileError::NotJson(error.to_string())])?;
        let mut problems = Vec::new();
        let mut by_type = HashMap::new();
        for (uid, items) in members {
            if ContentTypeUid::parse(&uid).is_err() {
                problems.push(ContentFileError::BadUid(uid.clone()));
            }
            let documents = read_type(&uid, &text, &items, &mut problems);
            if by_type.insert(uid.clone(), documents).is_some() {
                problems.push(ContentFileError::RepeatedUid(uid));
            }
        }
        if problems.is_empty() {
            let hash = xxh3_128(text.as_bytes());
            Ok(Self(Arc::new(Contents { text, by_type, hash })))
        } else {
            Err(problems)
        }
    }

    /// A hash of the text.
    pub fn hash(&self) -> u128 {
        self.0.hash
    }

    /// One version of a document. A document that is not localized is found in every locale.
    pub fn document(
        &self,
        query: &ContentQuery,
        id: &str,
        locale: &Locale,
        status: Status,
    ) -> Option<Document<'static>> {
        let (hash, keys) = (xxh3_64(id.as_bytes()), Projection::new(Vec::new()));
        let found = self.stored(&query.uid).iter().find(|stored| {
            if stored.id != hash || stored.status != status {
                return false;
            }
            let own = self.read(stored, &keys);
            own.id == id && own.locale.is_in(locale.as_str())
        });
        found.map(|stored| self.read(stored, &query.projection).into_owned())
    }

    /// All published documents of a type, in the order of the file.
    ///
    /// The fields are decoded here, because the rules decide which ones are needed.
    pub fn published<'a>(
        &'a self,
        query: &'a ContentQuery,
    ) -> impl Iterator<Item = Document<'a>> + 'a {
        let published = self.stored(&query.uid).iter().filter(|s| s.status == Status::Published);
        published.map(|stored| self.read(stored, &query.projection))
    }

    /// The versions of the query's selection, or of all documents.
    pub fn versions(&self, query: &ContentQuery, status: Status) -> Versions {
        let stored = self.stored(&query.uid).iter().filter(|stored| stored.status == status);
        let read = stored.map(|stored| self.read(stored, &query.projection));
        let selected = |document: &Document<'_>| {
            query.selection.as_ref().is_none_or(|selection| selection.has(document))
        };
        let documents = read.filter(selected).map(Document::into_owned).collect();
        Versions { documents, are_all: true }
    }

    /// Whether a content type has at most one document, in whatever versions.
    pub fn has_at_most_one_document(&self, uid: &ContentTypeUid) -> bool {
        let ids: HashSet<u64> = self.stored(uid).iter().map(|stored| stored.id).collect();
        ids.len() <= 1
    }

    /// The content types among these that the file does not have, each with a sentence that names the most
    /// similar one of the others. A list without documents says that there are none.
    pub fn absent_types(&self, wanted: &[&ContentTypeUid], name: &str) -> Vec<AbsentType> {
        let is_wanted = |uid: &str| wanted.iter().any(|wanted| wanted.as_str() == uid);
        let uids = self.0.by_type.keys().map(String::as_str);
        let mut others: Vec<&str> = uids.filter(|uid| !is_wanted(uid)).collect();
        others.sort_unstable();
        let absent = wanted.iter().filter(|uid| !self.0.by_type.contains_key(uid.as_str()));
        let absent_type = |uid: &&ContentTypeUid| {
            let remedy = match closest(uid.as_str(), others.iter().copied()) {
                Some(other) => format!("did you mean `{other}`?"),
                None => format!("if there are none, add `\"{uid}\": []`"),
            };
            let text = format!("no documents of `{uid}` in {name}; {remedy}");
            AbsentType { uid: ContentTypeUid::clone(uid), text }
        };
        absent.map(absent_type).collect()
    }

    fn stored(&self, uid: &ContentTypeUid) -> &[StoredDocument] {
        self.0.by_type.get(uid.as_str()).map_or(&[], Vec::as_slice)
    }

    /// A file has no permissions: an absent key is a missing value (D32).
    fn read<'a>(&'a self, stored: &StoredDocument, projection: &'a Projection) -> Document<'a> {
        let document = projection.decode(&self.0.text[stored.json.clone()]);
        document.expect("a document, whatever fields are read of it").without_absent()
    }
}

fn read_type(
    uid: &str,
    text: &str,
    items: &[&RawValue],
    problems: &mut Vec<ContentFileError>,
) -> Vec<StoredDocument> {
    let projection = Projection::new(FieldPath::parse("status").into_iter().collect());
    let mut seen = HashSet::new();
    let mut documents = Vec::with_capacity(items.len());
    for (at, json) in items.iter().enumerate() {
        let (uid, position) = (uid.to_owned(), at + 1);
        let Ok(document) = projection.decode(json.get()) else {
            problems.push(ContentFileError::NoDocumentId { uid, position });
            continue;
        };
        let Some(status) = status(&document) else {
            problems.push(ContentFileError::BadStatus { uid, position });
            continue;
        };
        if !seen.insert(identity(&document, status)) {
            problems.push(ContentFileError::Repeated { uid, position });
            continue;
        }
        let id = xxh3_64(document.id.as_bytes());
        let start = json.get().as_ptr().addr() - text.as_ptr().addr();
        documents.push(StoredDocument { id, status, json: start..start + json.get().len() });
    }
    documents
}

fn status(document: &Document<'_>) -> Option<Status> {
    match &document.values[..] {
        [FieldValue::Missing | FieldValue::NullAt(_) | FieldValue::Absent(_)] => {
            Some(Status::Published)
        }
        [FieldValue::Text(text)] if text == "published" => Some(Status::Published),
        [FieldValue::Text(text)] if text == "draft" => Some(Status::Draft),
        _ => None,
    }
}

/// A hash of what no two documents of a type have in common.
fn identity(document: &Document<'_>, status: Status) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&(document.id.len() as u64).to_le_bytes());
    hash.update(document.id.as_bytes());
    hash.update(&[u8::from(status == Status::Draft)]);
    if let DocumentLocale::Named(code) = &document.locale {
        hash.update(b" ");
        hash.update(code.as_bytes());
    }
    hash.digest128()
}

/// Every member of the file's outermost object, in the order of the file. A map would silently keep the
/// last of two lists for one type.
struct Members<'t>(Vec<(String, Vec<&'t RawValue>)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of lists of documents")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Members<'de>, A::Error> {
        let mut found = Vec::new();
        while let Some(member) = entries.next_entry()? {
            found.push(member);
        }
        Ok(Members(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reports_all_problems() {
        let text = r#"{"api::a.a": [{"documentId": "d"}, {"documentId": "d", "status": "published"},
            {"documentId": "d", "locale": "en"}, {"documentId": "d", "status": "modified"}, "x"], "nope": []}"#;
        let problems = ContentFile::parse(text.to_owned()).unwrap_err();
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let expected = [
            "document 2 of `api::a.a` repeats documentId, locale and status of an earlier one",
            "document 4 of `api::a.a` has a `status` other than `draft` and `published`",
            "document 5 of `api::a.a` is not an object with a `documentId`",
            "`nope` is not a content-type UID",
        ];
        assert_eq!(messages, expected);
        assert!(matches!(
            &ContentFile::parse("[]".to_owned()).unwrap_err()[..],
            [ContentFileError::NotJson(_)]
        ));
    }

    #[test]
    fn absent_types_have_the_most_similar_type_that_no_rule_names() {
        let text = r#"{"api::shops.shop": [{"documentId": "a"}], "api::cafe.cafe": [],
            "api::cafes.cafe": [{"documentId": "b"}], "api::unused.unused": [{"documentId": "c"}]}"#;
        let file = ContentFile::parse(text.to_owned()).unwrap();
        let uids = ["api::shop.shop", "api::cafe.cafe", "api::x.x"]
            .map(|uid| ContentTypeUid::parse(uid).unwrap());
        let wanted: Vec<&ContentTypeUid> = uids.iter().collect();
        let absent = file.absent_types(&wanted, "content.json");
        let texts: Vec<&str> = absent.iter().map(|one| &*one.text).collect();
        assert_eq!(
            texts,
            [
                "no documents of `api::shop.shop` in content.json; did you mean `api::shops.shop`?",
                "no documents of `api::x.x` in content.json; if there are none, add `\"api::x.x\": []`",
            ]
        );
        assert_eq!(file.absent_types(&wanted[1..2], "content.json"), []);
    }

    #[test]
    fn document_finds_one_version_and_published_lists_the_published_ones() {
        let text = r#"{"api::a.a": [{"documentId": "d", "locale": "en", "slug": "x"},
            {"documentId": "d", "locale": "en", "slug": "y", "status": "draft"}, {"documentId": "e", "slug": "z"}]}"#;
        let file = ContentFile::parse(text.to_owned()).unwrap();
        let fields = FieldPath::parse("slug").into_iter().collect();
        let uid = ContentTypeUid::parse("api::a.a").unwrap();
        let query = ContentQuery::new(uid, Projection::new(fields));
        let [en, de] = ["en", "de"].map(|code| Locale::parse(code).unwrap());
        let slug = |id, locale, status| {
            file.document(&query, id, locale, status).map(|document| document.values)
        };
        let text = |text: &'static str| Some(vec![FieldValue::Text(text.into())]);
        assert_eq!(slug("d", &en, Status::Published), text("x"));
        assert_eq!(slug("d", &en, Status::Draft), text("y"));
        assert_eq!(slug("d", &de, Status::Published), None);
        assert_eq!(slug("e", &de, Status::Published), text("z"));
        assert_eq!(slug("e", &de, Status::Draft), None);
        let published: Vec<_> =
            file.published(&query).map(|document| document.id.into_owned()).collect();
        assert_eq!(published, ["d", "e"]);
    }
}
