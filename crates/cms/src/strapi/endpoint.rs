//! The REST endpoint of a content type: configured, from the schema, or guessed.

use serde::Deserialize;

use super::json::schema;
use frontend_map_rules::ContentTypeUid;

/// Whether a content type has many documents or one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndpointKind {
    /// Many documents: `/api/articles` and `/api/articles/<documentId>`.
    #[default]
    Collection,
    /// One document: `/api/homepage`.
    Single,
}

/// The REST endpoint of a content type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    path: Box<str>,
    kind: EndpointKind,
}

/// A text is not the path of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an endpoint must be a path below `/api` like `articles` or `cms/press-releases`: words of letters, digits, `-`, `_`, `.` and `~`, joined by `/`"
)]
pub struct EndpointError;

impl Endpoint {
    /// An endpoint by its path below `/api`, such as `cms/press-releases`.
    ///
    /// # Errors
    /// [`EndpointError`] when the path would need encoding, or has empty or dot segments.
    pub fn new(path: &str, kind: EndpointKind) -> Result<Self, EndpointError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
        let word = |word: &str| !["", ".", ".."].contains(&word) && word.bytes().all(plain);
        if path.split('/').all(word) {
            Ok(Self { path: path.into(), kind })
        } else {
            Err(EndpointError)
        }
    }

    /// A guess by the conventions of Strapi's generators: `<plural>`, below the plugin's name for a
    /// plugin.
    pub(super) fn guess(uid: &ContentTypeUid) -> Self {
        Self { path: below_plugin(uid, &plural(uid.name())).into(), kind: EndpointKind::Collection }
    }

    /// The guess for a single type: its own name, below the plugin's name for a plugin.
    pub(super) fn guess_single(uid: &ContentTypeUid) -> Self {
        Self { path: below_plugin(uid, uid.name()).into(), kind: EndpointKind::Single }
    }

    /// Whether a content type may be at this endpoint by the conventions of Strapi's generators.
    pub(super) fn may_be_of(&self, uid: &ContentTypeUid) -> bool {
        [Self::guess(uid), Self::guess_single(uid)].iter().any(|guess| guess.path == self.path)
    }

    /// The endpoint of `uid` from a response of Strapi's content-type builder; `None` when the text
    /// is no such response, or is about another content type.
    pub(super) fn from_schema(json: &str, uid: &ContentTypeUid) -> Option<Self> {
        let (own, schema): (_, Schema) = schema(json)?;
        let kind = schema.kind.into();
        let endpoint = Self::of_names(uid, kind, &schema.singular_name, &schema.plural_name);
        endpoint.filter(|_| own.as_deref() == Some(uid.as_str()))
    }

    /// The endpoint of a content type with these names; `None`: they cannot stand in a path.
    pub(super) fn of_names(
        uid: &ContentTypeUid,
        kind: EndpointKind,
        singular: &str,
        plural: &str,
    ) -> Option<Self> {
        let name = if kind == EndpointKind::Single { singular } else { plural };
        Self::new(&below_plugin(uid, name), kind).ok()
    }

    /// The path below `/api`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether the content type has one document or many.
    pub fn kind(&self) -> EndpointKind {
        self.kind
    }
}

/// `api::article.article` for `api::articles.article`: Strapi's generator gives an API the singular name
/// of its type. `None`: the name of the API is not the plural of the name of the type.
pub(super) fn with_singular_api(uid: &ContentTypeUid) -> Option<ContentTypeUid> {
    let (api, name) = uid.as_str().strip_prefix("api::")?.split_once('.')?;
    let likelier = (api == plural(name)).then(|| format!("api::{name}.{name}"))?;
    ContentTypeUid::parse(&likelier).ok()
}

/// The content types whose names are this one's in the singular or plural.
pub(super) fn other_numbers(uid: &ContentTypeUid) -> Vec<ContentTypeUid> {
    let Some((kind, path)) = uid.as_str().split_once("::") else { return Vec::new() };
    let Some((owner, name)) = path.split_once('.') else { return Vec::new() };
    let forms = |word: &str| -> Vec<String> {
        singulars(word).chain([word.to_owned(), plural(word)]).collect()
    };
    let names = forms(name);
    let all = forms(owner).into_iter().flat_map(|owner| {
        names.iter().map(move |name| format!("{kind}::{owner}.{name}")).collect::<Vec<_>>()
    });
    all.filter_map(|other| ContentTypeUid::parse(&other).ok())
        .filter(|other| other != uid)
        .collect()
}

fn below_plugin(uid: &ContentTypeUid, name: &str) -> String {
    uid.plugin().map_or_else(|| name.to_owned(), |plugin| format!("{plugin}/{name}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    kind: SchemaKind,
    singular_name: String,
    plural_name: String,
}

/// The kind of a content type in Strapi's words.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SchemaKind {
    CollectionType,
    SingleType,
}

impl From<SchemaKind> for EndpointKind {
    fn from(kind: SchemaKind) -> Self {
        match kind {
            SchemaKind::CollectionType => Self::Collection,
            SchemaKind::SingleType => Self::Single,
        }
    }
}

/// The plural of a kebab-case name: `-ies` for a consonant and `-y`, `-es` after `s`, `x`, `z`, `ch`
/// and `sh`, else `-s`. Strapi's generator knows irregular plurals as well; the endpoint of such a
/// type is read from its schema or configured.
fn plural(name: &str) -> String {
    if let Some(stem) = name.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'i', 'o', 'u'])
    {
        return format!("{stem}ies");
    }
    let takes_es = ["s", "x", "z", "ch", "sh"].iter().any(|end| name.ends_with(end));
    if takes_es { format!("{name}es") } else { format!("{name}s") }
}

/// The names of which this is the regular plural: `releases` is that of `releas` as well.
fn singulars(name: &str) -> impl Iterator<Item = String> {
    [("ies", "y"), ("es", ""), ("s", "")].into_iter().filter_map(move |(end, singular_end)| {
        let stem = name.strip_suffix(end).filter(|stem| !stem.is_empty())?;
        Some(format!("{stem}{singular_end}")).filter(|found| plural(found) == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid(text: &str) -> ContentTypeUid {
        ContentTypeUid::parse(text).unwrap()
    }

    #[test]
    fn with_singular_api_is_the_type_whose_plural_names_the_api() {
        for (given, expected) in [
            ("api::articles.article", Some("api::article.article")),
            ("api::categories.category", Some("api::category.category")),
            ("api::article.article", None),
            ("api::blog.article", None),
            ("api::news.news", None),
            ("plugin::articles.article", None),
        ] {
            let found = with_singular_api(&uid(given));
            assert_eq!(found.as_ref().map(ContentTypeUid::as_str), expected, "{given}");
        }
    }

    #[test]
    fn new_accepts_a_path_unchanged_or_refuses_it() {
        assert_eq!(
            Endpoint::new("cms/press-releases", EndpointKind::Single).unwrap().path(),
            "cms/press-releases"
        );
        for bad in ["", "/articles", "articles/", "a//b", "..", "a/../b", "a b", "a?x", "a%2f", "é"]
        {
            assert_eq!(Endpoint::new(bad, EndpointKind::Single), Err(EndpointError), "{bad}");
        }
    }

    #[test]
    fn guess_is_the_regular_plural_below_the_plugin() {
        for (text, path) in [
            ("api::article.article", "articles"),
            ("api::blog.category", "categories"),
            ("plugin::cms.press-release", "cms/press-releases"),
        ] {
            assert_eq!(Endpoint::guess(&uid(text)).path(), path);
        }
    }

    #[test]
    fn other_numbers_of_a_uid_are_its_singular_and_plural_forms() {
        let others = |text: &str| -> Vec<String> {
            other_numbers(&uid(text)).iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            others("api::departments.department"),
            [
                "api::department.department",
                "api::department.departments",
                "api::departments.departments",
                "api::departmentses.department",
                "api::departmentses.departments"
            ]
        );
        assert!(others("plugin::cms.pages").contains(&"plugin::cms.page".to_owned()));
    }

    #[test]
    fn endpoint_may_be_of_the_types_whose_guess_it_is() {
        let path = |path| Endpoint::new(path, EndpointKind::Collection).unwrap();
        for (endpoint, text, expected) in [
            ("departments", "api::departments.department", true),
            ("departments", "api::department.departments", true),
            ("cms/pages", "plugin::cms.page", true),
            ("cms/pages", "api::page.page", false),
            ("news", "api::department.department", false),
        ] {
            assert_eq!(path(endpoint).may_be_of(&uid(text)), expected, "{endpoint} {text}");
        }
    }

    #[test]
    fn from_schema_reads_kind_and_name_of_the_same_type_alone() {
        let response = |uid: &str, kind: &str| {
            format!(
                r#"{{"data":{{"uid":"{uid}","apiID":"x","schema":{{"kind":"{kind}","singularName":"homepage","pluralName":"homes"}}}}}}"#
            )
        };
        let read = |json: &str, text: &str| Endpoint::from_schema(json, &uid(text));
        let single = response("api::homepage.homepage", "singleType");
        let found = read(&single, "api::homepage.homepage").unwrap();
        assert_eq!((found.path(), found.kind()), ("homepage", EndpointKind::Single));
        let many = response("plugin::cms.homepage", "collectionType");
        assert_eq!(read(&many, "plugin::cms.homepage").unwrap().path(), "cms/homes");
        for bad in [&*many, "{}", "[]", "null", r#"{"data":[]}"#, r#"{"data":null}"#] {
            assert_eq!(read(bad, "api::homepage.homepage"), None, "{bad}");
        }
        let other = response("api::homepage.homepage", "component");
        assert_eq!(read(&other, "api::homepage.homepage"), None);
    }

    #[test]
    fn singulars_are_the_names_with_this_plural() {
        for name in ["article", "category", "address", "box", "day", "press-release", "branch"] {
            assert!(singulars(&plural(name)).any(|found| found == name), "{name}");
        }
        for name in ["article", "s", "people"] {
            assert_eq!(singulars(name).next(), None, "{name}");
        }
    }

    #[test]
    fn plural_follows_the_regular_endings() {
        for (name, expected) in [
            ("article", "articles"),
            ("category", "categories"),
            ("blog-category", "blog-categories"),
            ("day", "days"),
            ("page", "pages"),
            ("press-release", "press-releases"),
            ("address", "addresses"),
            ("box", "boxes"),
            ("branch", "branches"),
            ("wish", "wishes"),
            ("photo", "photos"),
            ("y", "ies"),
        ] {
            assert_eq!(plural(name), expected);
        }
    }

    #[test]
    fn plural_of_an_irregular_noun_is_regular() {
        for (name, expected) in [("person", "persons"), ("quiz", "quizes"), ("hero", "heros")] {
            assert_eq!(plural(name), expected);
        }
    }
}
