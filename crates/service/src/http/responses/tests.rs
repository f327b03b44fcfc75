//! The types of responses compared with the schemas of `docs/openapi.yaml`: an example with all members and
//! one with the fewest, of each response of each route.

mod examples;
mod schema;

use std::collections::BTreeMap;

use serde_json::Value;

use self::schema::Compared;
use crate::http::operations::openapi::description;
use crate::http::pipeline::routes::declared_methods;

/// The schemas of the JSON responses of an operation whose statuses have this property.
fn schemas<'d>(
    description: &'d Value,
    operation: &'d Value,
    has: impl Fn(&str) -> bool,
) -> Vec<&'d Value> {
    let mut schemas = Vec::new();
    for (status, response) in operation["responses"].as_object().unwrap() {
        let response = schema::resolve(description, response);
        let schema = &response["content"]["application/json"]["schema"];
        if has(status) && !schema.is_null() {
            schemas.push(schema);
        }
    }
    schemas
}

/// Each operation that a route has, as the description has it.
fn operations(description: &Value) -> BTreeMap<(String, &'static str), &Value> {
    let mut operations = BTreeMap::new();
    for (path, methods) in declared_methods() {
        let methods = methods.to_str().unwrap().to_lowercase();
        for method in methods.split(", ").filter(|method| !["head", "options"].contains(method)) {
            let operation = &description["paths"][path][method];
            assert!(operation.is_object(), "{method} {path} has no description");
            operations.insert((method.to_owned(), path), operation);
        }
    }
    operations
}

#[test]
fn responses_of_each_route_have_the_members_of_their_schema() {
    let description = description();
    let mut compared = Compared::with(&description);
    for ((method, path), operation) in operations(&description) {
        for schema in schemas(&description, operation, |status| status.starts_with('2')) {
            let examples = examples::of_route(&method, path);
            assert!(!examples.is_empty(), "{method} {path}: add examples of its response");
            for example in examples {
                let result = compared.check(schema, &example);
                assert_eq!(result, Ok(()), "{method} {path}: {example:#}");
            }
        }
    }
    assert_eq!(compared.not_seen(), Vec::<String>::new());
}

#[test]
fn data_of_events_and_webhooks_has_the_members_of_its_schema() {
    let description = description();
    let mut compared = Compared::with(&description);
    for (name, examples) in examples::of_components() {
        let schema = &description["components"]["schemas"][name];
        for example in examples {
            assert_eq!(compared.check(schema, &example), Ok(()), "{name}: {example:#}");
        }
    }
    assert_eq!(compared.not_seen(), Vec::<String>::new());
}

#[test]
fn each_error_is_one_that_is_described_and_each_described_one_occurs() {
    let description = description();
    let components = description["components"]["schemas"].as_object().unwrap();
    let described: Vec<&Value> = components
        .iter()
        .filter(|(name, _)| name.ends_with("Error"))
        .map(|(_, schema)| schema)
        .collect();
    let mut compared = Compared::with(&description);
    let mut unused = described.clone();
    for example in examples::errors() {
        let mut fitting = described.clone();
        fitting.retain(|schema| compared.check(schema, &example).is_ok());
        assert!(!fitting.is_empty(), "not described: {example:#}");
        unused.retain(|schema| !fitting.contains(schema));
    }
    assert_eq!(unused, Vec::<&Value>::new(), "without an example");
    assert_eq!(compared.not_seen(), Vec::<String>::new());
}
