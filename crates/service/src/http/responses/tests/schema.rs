//! Compares values with schemas, and notes which members have been seen: a validator would not say that an
//! example is missing. It reads the part of JSON Schema that decides about members and types; whether texts
//! have the form that a schema says, the examples of the description and schemathesis show.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// How a member has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Absent,
    Null,
    Present,
}

/// A description, and how each member of its schemas has been seen.
#[derive(Clone)]
pub(super) struct Compared<'d> {
    description: &'d Value,
    members: BTreeMap<String, BTreeSet<Seen>>,
    /// The members that have to be seen in several ways.
    expected: BTreeMap<String, BTreeSet<Seen>>,
}

/// What a reference leads to, or the value itself.
pub(super) fn resolve<'d>(description: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => {
            let target = description.pointer(&reference[1..]).expect(reference);
            resolve(description, target)
        }
        None => value,
    }
}

impl<'d> Compared<'d> {
    pub(super) fn with(description: &'d Value) -> Self {
        Self { description, members: BTreeMap::new(), expected: BTreeMap::new() }
    }

    /// Notes the members of a value that fits the schema.
    pub(super) fn check(&mut self, schema: &'d Value, value: &Value) -> Result<(), String> {
        let mut with = self.clone();
        with.compare(schema, value, "")?;
        *self = with;
        Ok(())
    }

    /// The members that no example has, or only in one way of several.
    pub(super) fn not_seen(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (member, expected) in &self.expected {
            let seen = self.members.get(member).cloned().unwrap_or_default();
            missing.extend(expected.difference(&seen).map(|seen| format!("{member}: {seen:?}")));
        }
        missing
    }

    fn compare(&mut self, schema: &'d Value, value: &Value, place: &str) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.compare(resolve(self.description, schema), value, reference);
        }
        for choices in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[choices].as_array() {
                return self.compare_one(choices, value, place);
            }
        }
        let expected = &schema["const"];
        if !expected.is_null() && expected != value {
            return Err(format!("{place}: {value} instead of {expected}"));
        }
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
        {
            return Err(format!("{place}: {value} is none of {words:?}"));
        }
        if !types(schema).is_empty() && !types(schema).iter().any(|name| is_of(name, value)) {
            return Err(format!("{place}: {value} is not of {}", schema["type"]));
        }
        match value {
            Value::Object(_) => self.compare_members(schema, value, place),
            Value::Array(items) => {
                let place = format!("{place}/items");
                self.expect(&place, [Seen::Present]);
                for item in items {
                    self.note(&place, Seen::Present);
                    self.compare(&schema["items"], item, &place)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Compares with the first choice that fits.
    fn compare_one(
        &mut self,
        choices: &'d [Value],
        value: &Value,
        place: &str,
    ) -> Result<(), String> {
        let mut problems = Vec::new();
        for choice in choices {
            let mut with = self.clone();
            match with.compare(choice, value, place) {
                Ok(()) => {
                    *self = with;
                    return Ok(());
                }
                Err(problem) => problems.push(problem),
            }
        }
        Err(problems.join("; or "))
    }

    fn compare_members(
        &mut self,
        schema: &'d Value,
        value: &Value,
        place: &str,
    ) -> Result<(), String> {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let own = schema["properties"].as_object();
        for (name, member) in own.into_iter().flatten() {
            let place = format!("{place}/{name}");
            let is_required = required.iter().any(|required| required == name);
            self.expect(&place, self.ways(member));
            if !is_required {
                self.expect(&place, [Seen::Absent]);
            }
            match value.get(name) {
                None if is_required => return Err(format!("{place}: absent")),
                None => self.note(&place, Seen::Absent),
                Some(value) => {
                    self.note(&place, if value.is_null() { Seen::Null } else { Seen::Present });
                    self.compare(member, value, &place)?;
                }
            }
        }
        let is_own = |name: &String| own.is_some_and(|own| own.contains_key(name));
        let others = value.as_object().into_iter().flatten().filter(|(name, _)| !is_own(name));
        for (name, value) in others {
            match &schema["additionalProperties"] {
                Value::Object(_) => self.compare(&schema["additionalProperties"], value, place)?,
                _ => return Err(format!("{place}: {name} is not described")),
            }
        }
        Ok(())
    }

    /// The ways in which a member has to be seen where it is: both of one that may be `null`.
    fn ways(&self, schema: &'d Value) -> Vec<Seen> {
        let schema = resolve(self.description, schema);
        let choices = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        let types: Vec<&str> = match choices {
            Some(choices) => choices
                .iter()
                .flat_map(|choice| match &types(resolve(self.description, choice))[..] {
                    [] => vec!["object"],
                    types => types.to_vec(),
                })
                .collect(),
            None => types(schema),
        };
        let way = |name: &&str| if *name == "null" { Seen::Null } else { Seen::Present };
        if types.is_empty() { vec![Seen::Present] } else { types.iter().map(way).collect() }
    }

    fn expect(&mut self, place: &str, ways: impl IntoIterator<Item = Seen>) {
        self.expected.entry(place.to_owned()).or_default().extend(ways);
    }

    fn note(&mut self, place: &str, seen: Seen) {
        self.members.entry(place.to_owned()).or_default().insert(seen);
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => panic!("{name}: add the type here"),
    }
}
