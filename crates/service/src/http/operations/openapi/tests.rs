//! `docs/openapi.yaml` compared with the routes, their methods and parameters, in both directions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::description;
use crate::http::operations::tables::{links, misses, pages, problems, redirects, validations};
use crate::http::operations::{
    build_sitemap, changes, document, frontend_url, frontend_urls, get_content_type,
    publish_preview, resolve,
};
use crate::http::pipeline::routes::declared_methods;
use crate::http::request::query::Param;

const WITHOUT_QUERY: [&str; 7] = [
    "/api/sites",
    "/sitemaps/{site}/{file}",
    "/sitemaps/{site}/{host}/{file}",
    "/hooks/cms",
    "/openapi.json",
    "/livez",
    "/readyz",
];

/// The parameters that the handler of a route reads from the query.
fn query_parameters(path: &str, method: &str) -> &'static [Param] {
    match (path, method) {
        (path, _) if WITHOUT_QUERY.contains(&path) => &[],
        ("/api/get-content-type", _) => &get_content_type::PARAMS,
        ("/api/document", _) => &document::PARAMS,
        ("/api/publish-preview", _) => &publish_preview::PARAMS,
        ("/api/resolve", _) => &resolve::PARAMS,
        ("/api/frontend-url", _) => &frontend_url::PARAMS,
        ("/api/frontend-urls", "post") => &frontend_urls::POST_PARAMS,
        ("/api/frontend-urls", _) => &frontend_urls::GET_PARAMS,
        ("/api/build-sitemap", _) => &build_sitemap::PARAMS,
        ("/api/changes", _) => &changes::PARAMS,
        ("/api/links", "post") => &links::POST_PARAMS,
        ("/api/links", _) => &links::PARAMS,
        ("/api/misses", "delete") => &misses::DELETE_PARAMS,
        ("/api/misses", _) => &misses::PARAMS,
        ("/api/pages", _) => &pages::PARAMS,
        ("/api/problems", _) => &problems::PARAMS,
        ("/api/redirects", _) => &redirects::PARAMS,
        ("/api/validations", _) => &validations::PARAMS,
        _ => panic!("{path}: add its list of parameters here"),
    }
}

/// The operations by path and method.
fn operations(description: &Value) -> BTreeMap<(String, String), &Value> {
    let mut operations = BTreeMap::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations.insert((path.clone(), method.clone()), operation);
        }
    }
    operations
}

/// The parameters of an operation, with their references resolved.
fn parameters<'d>(description: &'d Value, operation: &'d Value) -> Vec<&'d Value> {
    let listed = operation["parameters"].as_array().into_iter().flatten();
    let resolved = |parameter: &'d Value| match parameter["$ref"].as_str() {
        Some(reference) => description.pointer(&reference[1..]).expect(reference),
        None => parameter,
    };
    listed.map(resolved).collect()
}

fn names<'d>(parameters: &[&'d Value], place: &str) -> BTreeSet<&'d str> {
    let placed = parameters.iter().filter(|parameter| parameter["in"] == place);
    placed.map(|parameter| parameter["name"].as_str().unwrap()).collect()
}

/// HEAD and OPTIONS are described once for all: generated clients would have a function of each.
#[test]
fn paths_and_methods_are_those_of_the_routes() {
    let description = description();
    let described: BTreeSet<_> = operations(&description).into_keys().collect();
    let mut declared = BTreeSet::new();
    for (path, methods) in declared_methods() {
        let methods = methods.to_str().unwrap().split(", ");
        for method in methods.filter(|method| !["HEAD", "OPTIONS"].contains(method)) {
            declared.insert((path.to_owned(), method.to_lowercase()));
        }
    }
    assert_eq!(described, declared);
}

#[test]
fn parameters_are_those_of_the_query_lists_and_of_the_paths() {
    let description = description();
    for ((path, method), operation) in operations(&description) {
        let described = parameters(&description, operation);
        let queried = query_parameters(&path, &method).iter().map(|param| param.name).collect();
        assert_eq!(names(&described, "query"), queried, "{method} {path}");
        let parts = path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        assert_eq!(names(&described, "path"), parts, "{method} {path}");
        let places = ["query", "path", "header"].map(|place| names(&described, place).len());
        assert_eq!(places.iter().sum::<usize>(), described.len(), "{method} {path}: twice");
    }
}

#[test]
fn empty_values_are_allowed_where_a_parameter_may_be_absent() {
    let description = description();
    for (name, operation) in operations(&description) {
        let described = parameters(&description, operation);
        for parameter in described.iter().filter(|parameter| parameter["in"] == "query") {
            let (required, empty) = (&parameter["required"], &parameter["allowEmptyValue"]);
            assert_ne!(required == true, empty == true, "{name:?}: {}", parameter["name"]);
        }
    }
}

#[test]
fn lengths_of_parameters_are_those_of_the_query_lists() {
    let description = description();
    for ((path, method), operation) in operations(&description) {
        for param in query_parameters(&path, &method) {
            let described = parameters(&description, operation);
            let described = described.iter().find(|described| described["name"] == param.name);
            let schema = &described.expect("compared by another test")["schema"];
            let schema = match schema["$ref"].as_str() {
                Some(reference) => description.pointer(&reference[1..]).expect(reference),
                None => schema,
            };
            let longest = schema["maxLength"].as_u64().unwrap_or(usize::MAX as u64);
            assert_eq!(longest, param.max_bytes as u64, "{method} {path}: {}", param.name);
        }
    }
}

#[test]
fn each_operation_has_an_id_of_its_own_a_summary_and_a_tag_of_the_list() {
    let description = description();
    let tags = description["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]);
    let tags: Vec<_> = tags.collect();
    let mut ids = BTreeSet::new();
    for (name, operation) in operations(&description) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{name:?}");
        assert!(operation["summary"].as_str().unwrap().ends_with('.'), "{name:?}");
        let own = operation["tags"].as_array().unwrap();
        assert!(own.len() == 1 && tags.contains(&&own[0]), "{name:?}: {own:?}");
    }
}

#[test]
fn version_is_that_of_the_service() {
    assert_eq!(description()["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn each_reference_leads_somewhere_and_each_component_is_used() {
    let description = description();
    let mut used = BTreeSet::new();
    collect_references(&description, &mut used);
    for reference in &used {
        assert!(description.pointer(&reference[1..]).is_some(), "{reference}");
    }
    // Their data is in streams, or in the response to a method that is not described.
    let named_in_texts = ["FindingEvent", "ProgressEvent", "StoppedEvent", "MethodNotAllowedError"];
    for (kind, components) in description["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys() {
            let reference = format!("#/components/{kind}/{name}");
            let is_used = kind == "securitySchemes" || used.contains(&reference);
            assert_ne!(is_used, named_in_texts.contains(&name.as_str()), "{reference}");
        }
    }
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}
