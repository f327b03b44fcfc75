//! What a 400 of Strapi about a key of a query means: a name that does not exist, or a relation that
//! the token may not read.

use serde_json::Value;

use super::Strapi;
use crate::strapi::client::{InvalidKey, Reply};
use crate::strapi::endpoint_cache::ResolvedEndpoint;
use crate::strapi::query_string::{self, SampleOf};
use crate::{ContentError, ContentQuery, Projection, SetupProblem};
use frontend_map_rules::{ContentTypeUid, FieldPath, encode};

/// The error for a refused list. A key of a filter that leads on to a field is requested as a
/// relation: there Strapi refuses a name that does not exist, and leaves out what the token may not
/// read. A relation that the token may not read gets the type that it leads to.
pub(super) async fn explained(
    strapi: &Strapi,
    resolved: &ResolvedEndpoint,
    query: &str,
    problem: SetupProblem,
) -> ContentError {
    let problem = match problem {
        SetupProblem::UnknownKey { uid, key: Some(key), part } => {
            let path = relation_in_filters(query, &key);
            match path {
                Some(path) if is_left_out(strapi, resolved, &path).await => {
                    SetupProblem::AbsentKey { uid, path, is_relation: true, target: None }
                }
                _ => SetupProblem::UnknownKey { uid, key: Some(key), part },
            }
        }
        problem => problem,
    };
    match problem {
        SetupProblem::AbsentKey { uid, path, is_relation: true, target: None } => {
            let target = strapi.targets.get(&strapi.client, &uid, &path).await;
            SetupProblem::AbsentKey { uid, path, is_relation: true, target }
        }
        problem => problem,
    }
    .into()
}

/// Whether Strapi accepts a relation, and the first document lacks it.
async fn is_left_out(strapi: &Strapi, resolved: &ResolvedEndpoint, path: &FieldPath) -> bool {
    let Some(id) = FieldPath::parse(&format!("{path}.id")) else { return false };
    let query = ContentQuery::new(resolved.uid.clone(), Projection::new(vec![id]));
    let query = query_string::sample(&query, None, SampleOf::Type);
    let reply = strapi.client.list_page(resolved.endpoint.path(), &query).await;
    let Ok(Reply::Json(body)) = reply else { return false };
    let Ok(body) = serde_json::from_str::<Value>(&body) else { return false };
    let Some(rows) = body.get("data").and_then(Value::as_array) else { return false };
    lacks(rows.first(), path.segments())
}

/// Whether a path ends at a key that is absent. Without a row nothing but a lost permission is left.
fn lacks(row: Option<&Value>, path: &[Box<str>]) -> bool {
    let Some(mut level) = row else { return true };
    for name in path {
        // Each item of a list has the same keys.
        let item = level.as_array().and_then(|items| items.first()).unwrap_or(level);
        match item.get(&**name) {
            None => return item.is_object(),
            Some(next) => level = next,
        }
    }
    false
}

/// The path in filters up to this key, if it leads on to a field.
fn relation_in_filters(query: &str, key: &str) -> Option<FieldPath> {
    let key = encode(key);
    query.split('&').filter_map(|pair| pair.strip_prefix("filters[")).find_map(|filter| {
        let (name, _) = filter.split_once("]=")?;
        let words: Vec<&str> = name.split("][").collect();
        let is_field = |word: &&str| !word.starts_with('$') && word.parse::<usize>().is_err();
        let fields: Vec<&str> = words.into_iter().filter(is_field).collect();
        let at = fields.iter().position(|field| *field == key)?;
        (at + 1 < fields.len()).then(|| FieldPath::parse(&fields[..=at].join(".")))?
    })
}

/// The problem with a key of the query.
pub(super) fn refused_key(uid: ContentTypeUid, refused: InvalidKey, query: &str) -> SetupProblem {
    let InvalidKey { key, exists, part } = refused;
    let key = requested(query, &key).then(|| key.into());
    match (key, part) {
        (Some(key), Some(part)) if exists => SetupProblem::UnusableKey { uid, key, part },
        (key, part) => SetupProblem::UnknownKey { uid, key, part },
    }
}

/// Whether the query string names this key. Only then may an error repeat it: all texts are our
/// own.
fn requested(query: &str, key: &str) -> bool {
    query.split(['&', '=', '[', ']']).any(|word| word == key)
}

/// A path in the filters of a query string, and whether it leads on to a field. Only then may an
/// error repeat it.
pub(super) fn filtered(query: &str, path: &str) -> Option<(FieldPath, bool)> {
    let path = FieldPath::parse(path)?;
    let names: Vec<String> = path.segments().iter().map(|name| encode(name).into()).collect();
    let start = format!("[{}]", names.join("]["));
    let mut filters = query.split('&').filter(|pair| pair.starts_with("filters["));
    let rest = filters.find_map(|pair| pair.split_once(&start))?.1;
    Some((path, !rest.starts_with("[$")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relation_in_filters_is_the_path_to_a_key_that_leads_on() {
        let query = "filters[$or][0][category][slug][$eq]=a&filters[$or][1][$and][0][seo][section][slug][$eq]=b&fields[0]=slug&populate[author][fields][0]=name";
        for (key, expected) in [
            ("category", Some("category")),
            ("section", Some("seo.section")),
            ("seo", Some("seo")),
            ("slug", None),
            ("author", None),
        ] {
            let found = relation_in_filters(query, key).map(|path| path.to_string());
            assert_eq!(found.as_deref(), expected, "{key}");
        }
    }

    #[test]
    fn lacks_is_true_for_an_absent_key_alone() {
        let path = |text: &str| FieldPath::parse(text).unwrap();
        for (row, at, expected) in [
            (r#"{"slug":"s"}"#, "category", true),
            (r#"{"category":null}"#, "category", false),
            (r#"{"category":{"id":1}}"#, "category.section", true),
            (r#"{"category":null}"#, "category.section", false),
            (r#"{"category":{"section":null}}"#, "category.section", false),
        ] {
            let row: Value = serde_json::from_str(row).unwrap();
            assert_eq!(lacks(Some(&row), path(at).segments()), expected, "{row} {at}");
        }
        assert!(lacks(None, path("category").segments()));
    }

    #[test]
    fn requested_finds_whole_names_in_a_query_alone() {
        let query = "status=draft&fields[0]=slug&populate[category][fields][0]=name";
        for (key, expected) in
            [("slug", true), ("category", true), ("name", true), ("nam", false), ("secret", false)]
        {
            assert_eq!(requested(query, key), expected, "{key}");
        }
    }

    #[test]
    fn filtered_finds_paths_in_filters_alone() {
        let query = "filters[$or][0][tags][site][key][$eq]=a&filters[secret][$eq]=b&fields[0]=slug";
        for (path, expected) in [
            ("tags", Some(true)),
            ("tags.site", Some(true)),
            ("tags.site.key", Some(false)),
            ("secret", Some(false)),
            ("site.tags", None),
            ("slug", None),
            ("a b", None),
        ] {
            let found = filtered(query, path);
            assert_eq!(found.as_ref().map(|(_, leads_on)| *leads_on), expected, "{path}");
            assert!(found.is_none_or(|(found, _)| found.to_string() == path));
        }
    }
}
