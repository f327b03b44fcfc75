//! The content types of a project, from Strapi's content-type builder.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::strapi::endpoint::{Endpoint, EndpointKind, SchemaKind};
use crate::strapi::json::object;
use crate::strapi::targets::{Attribute, Attributes};
use frontend_map_rules::ContentTypeUid;

/// The plugins of Strapi itself, whose content types are not pages.
const OWN_PLUGINS: [&str; 5] =
    ["upload", "i18n", "users-permissions", "content-releases", "review-workflows"];

/// A content type as its schema describes it.
#[derive(Clone, Debug)]
pub struct TypeSchema {
    /// The content type.
    pub uid: ContentTypeUid,
    /// Its endpoint; `None`: its names cannot stand in a path.
    pub endpoint: Option<Endpoint>,
    /// Whether documents have versions by locale.
    pub is_localized: bool,
    /// The attributes that the CMS returns, by name.
    pub fields: Vec<FieldSchema>,
}

/// An attribute of a content type.
#[derive(Clone, Debug)]
pub struct FieldSchema {
    /// The name, which may be none that a template can have.
    pub name: String,
    /// The type in Strapi's words, such as `uid` or `string`.
    pub kind: String,
    /// Whether Strapi refuses a value that another document has.
    pub is_unique: bool,
    /// Whether it is a relation to one document of the same content type, as in a page tree.
    pub is_parent: bool,
    /// Whether it is a relation to one document of a content type.
    pub is_to_one: bool,
    /// The component that is its value, unless it is repeatable.
    pub component: Option<String>,
}

impl TypeSchema {
    /// Whether the service finds the endpoint with a token that may not read the schema.
    pub fn is_guessable(&self) -> bool {
        let guesses = [Endpoint::guess(&self.uid), Endpoint::guess_single(&self.uid)];
        self.endpoint.as_ref().is_some_and(|endpoint| guesses.contains(endpoint))
    }

    /// The endpoints at which the CMS may have the type, the likeliest first.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let Some(endpoint) = &self.endpoint else { return Vec::new() };
        // The router of a plugin may have an empty prefix.
        let last = endpoint.path().rsplit('/').next().unwrap_or_default();
        let without_plugin = Endpoint::new(last, endpoint.kind()).ok();
        let others = without_plugin.filter(|other| other != endpoint);
        [endpoint.clone()].into_iter().chain(others).collect()
    }
}

/// The content types in a response of the content-type builder, by UID, without those of Strapi
/// itself and hidden ones; `None`: it is no such response. Odd entries are left out.
pub(super) fn parse(json: &str) -> Option<Vec<TypeSchema>> {
    let response: Response<'_> = object(json)?;
    let mut types: Vec<TypeSchema> =
        response.data.iter().filter_map(|entry| content_type(entry.get())).collect();
    types.sort_by(|one, other| one.uid.cmp(&other.uid));
    Some(types)
}

/// The UIDs in a response of the content-type builder, also of Strapi's own types; `None`: it is no
/// such response.
pub(super) fn uids(json: &str) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Named {
        uid: String,
    }
    let response: Response<'_> = object(json)?;
    response.data.iter().map(|entry| Some(object::<Named>(entry.get())?.uid)).collect()
}

fn content_type(json: &str) -> Option<TypeSchema> {
    let Entry { uid, schema } = object(json)?;
    let uid = ContentTypeUid::parse(&uid).ok()?;
    let schema: Schema = object(schema.get())?;
    let is_own = uid.plugin().is_some_and(|plugin| OWN_PLUGINS.contains(&plugin));
    if is_own || !schema.visible {
        return None;
    }
    let kind: EndpointKind = schema.kind.into();
    let endpoint = Endpoint::of_names(&uid, kind, &schema.singular_name, &schema.plural_name);
    let fields = fields(uid.as_str(), schema.attributes);
    Some(TypeSchema { uid, endpoint, is_localized: schema.plugin_options.i18n.localized, fields })
}

/// The attributes of a content type or component that the CMS returns, by name.
pub(super) fn fields(uid: &str, attributes: Attributes) -> Vec<FieldSchema> {
    let visible = attributes.into_iter().filter(|(_, attribute)| !attribute.private);
    let mut fields: Vec<FieldSchema> =
        visible.map(|(name, attribute)| field(uid, name, attribute)).collect();
    fields.sort_by(|one, other| one.name.cmp(&other.name));
    fields
}

fn field(uid: &str, name: String, attribute: Attribute) -> FieldSchema {
    let (target, component) = attribute.leads_to();
    let is_to_one = target.is_some() && !attribute.is_list();
    let is_parent = is_to_one && target.is_some_and(|target| target == uid);
    let component = component.filter(|_| !attribute.is_list()).cloned();
    let is_unique = attribute.unique == Some(true);
    FieldSchema { name, kind: attribute.kind, is_unique, is_parent, is_to_one, component }
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    uid: String,
    #[serde(borrow)]
    schema: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    kind: SchemaKind,
    singular_name: String,
    plural_name: String,
    #[serde(default = "yes")]
    visible: bool,
    #[serde(default)]
    plugin_options: PluginOptions,
    attributes: Attributes,
}

fn yes() -> bool {
    true
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PluginOptions {
    i18n: Internationalization,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Internationalization {
    localized: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry with this part of a UID and these members of its schema.
    fn entry(uid: &str, more: &str) -> String {
        format!(
            r#"{{"uid":"{uid}","apiID":"x","schema":{{"kind":"collectionType","singularName":"page","pluralName":"pages","attributes":{{}}{more}}}}}"#
        )
    }

    fn uids(entries: &[String]) -> Vec<String> {
        let types = parse(&format!(r#"{{"data":[{}]}}"#, entries.join(","))).unwrap();
        types.iter().map(|found| found.uid.to_string()).collect()
    }

    #[test]
    fn parse_leaves_out_what_is_no_visible_type_of_the_project() {
        let entries = [
            entry("plugin::cms.b", ""),
            entry("api::b.b", r#","visible":true,"pluginOptions":{}"#),
            entry("api::a.a", r#","pluginOptions":{"i18n":{}}"#),
            entry("api::hidden.hidden", r#","visible":false"#),
            entry("plugin::upload.file", ""),
            entry("admin::user", ""),
            "7".to_owned(),
            "{}".to_owned(),
        ];
        assert_eq!(uids(&entries), ["api::a.a", "api::b.b", "plugin::cms.b"]);
        for other in ["[]", "{}", r#"{"data":{}}"#, "null", "<html>"] {
            assert!(parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn parse_reads_names_locales_and_fields() {
        let json = r#"{"data":[{"uid":"plugin::cms.page","schema":{"kind":"collectionType","singularName":"page","pluralName":"pages","pluginOptions":{"i18n":{"localized":true}},"attributes":{
            "slug":{"type":"uid"},
            "code":{"type":"string","unique":true},
            "parent":{"type":"relation","relation":"manyToOne","target":"plugin::cms.page"},
            "children":{"type":"relation","relation":"oneToMany","target":"plugin::cms.page"},
            "author":{"type":"relation","relation":"manyToOne","target":"api::author.author"},
            "secret":{"type":"string","private":true}}}}]}"#;
        let [page] = &parse(json).unwrap()[..] else { panic!("one type") };
        assert!(page.is_localized);
        let paths: Vec<String> =
            page.endpoints().iter().map(|endpoint| endpoint.path().to_owned()).collect();
        assert_eq!(paths, ["cms/pages", "pages"]);
        let fields = page.fields.iter().map(|field| {
            (field.name.as_str(), field.kind.as_str(), field.is_unique, field.is_parent)
        });
        let expected = [
            ("author", "relation", false, false),
            ("children", "relation", false, false),
            ("code", "string", true, false),
            ("parent", "relation", false, true),
            ("slug", "uid", false, false),
        ];
        assert_eq!(fields.collect::<Vec<_>>(), expected);
        let names = json.replace("\"pages\"", "\"a b\"");
        assert_eq!(parse(&names).unwrap()[0].endpoints(), [], "a name that is no path");
    }
}
