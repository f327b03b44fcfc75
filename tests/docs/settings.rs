//! The settings, the command line and the rules on the pages, compared with what the binary does.

use std::collections::{BTreeMap, BTreeSet};

use frontend_map_rules::{
    ContentTypeUid, Locale, LocalePrefix, Locales, Pathname, Rule, RuleSet, Template,
};

use toml::{Table, Value};

use crate::support::http;
use crate::support::service::Setup;
use crate::support::settings::site;

use super::pages::page;

const EXAMPLE: &str = include_str!("../../config/settings.example.toml");

#[test]
fn types_on_the_page_are_those_of_the_demo() {
    let page = page("docs/configuration.md");
    let blocks = page.blocks("console");
    let command = "$ frontend-map types --site main\n";
    let shown = blocks.iter().find_map(|block| block.strip_prefix(command)).expect("a block");
    let setup = Setup::new(include_str!("../../config/demo/settings.toml"));
    let ended = setup.run(&["types", "--site", "main"]);
    assert_eq!((ended.status, ended.stdout), (Some(0), format!("{shown}\n")));
}

#[test]
fn help_is_the_real_one() {
    let configuration = page("docs/configuration.md");
    let shown = configuration.blocks("console");
    let shown = shown.iter().find_map(|block| block.strip_prefix("$ frontend-map --help\n"));
    let ended = Setup::without_settings().unconfigured().run(&["--help"]);
    assert_eq!(Some(ended.stdout.trim_end()), shown);
}

#[test]
fn rules_are_chosen_as_the_table_says() {
    let rules = page("docs/rules.md");
    let rows = rules.table("Template");
    let content_type = ContentTypeUid::parse("api::a.a").unwrap();
    let rule = |row: &Vec<&str>| Rule::new(content_type.clone(), Template::parse(row[0]).unwrap());
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    // Backwards: the order of the settings decides nothing here.
    let reversed = rows.iter().rev().map(rule).collect();
    let set = RuleSet::new(locales, LocalePrefix::Always, reversed);
    let order: Vec<String> = set.in_order().map(|(_, template)| template.to_string()).collect();
    assert_eq!(order, rows.iter().map(|row| row[0]).collect::<Vec<_>>());
    for row in &rows {
        let pathname = Pathname::parse(row[1]);
        let found = set.find(&pathname).expect(row[1]);
        assert_eq!(found.template.to_string(), row[0], "{}", row[1]);
    }
}

#[test]
fn values_without_a_url_have_the_reason_that_the_table_says() {
    let urls = page("docs/urls.md");
    let rows = urls.table("`details.reason`");
    let rows: Vec<_> = rows.iter().filter(|row| row.len() > 2 && !row[2].is_empty()).collect();
    assert_eq!(rows.len(), 12, "one for each fault of a value");
    let document = |(at, row): (usize, &&Vec<&str>)| {
        format!(r#"{{"documentId": "d{at}", "slug": {}}}"#, row[2])
    };
    let documents: Vec<String> = rows.iter().enumerate().map(document).collect();
    let documents = documents.join(", ");
    let content = format!(r#"{{"api::one.one": [{documents}], "api::many.many": [{documents}]}}"#);
    let service = site("main")
        .rule("api::one.one", "/{slug}")
        .rule("api::many.many", "/many/{*slug}")
        .files(&content)
        .start();
    for (at, row) in rows.iter().enumerate() {
        let is_of_many = ["slug_empty_segment", "slug_ends_with_slash"].contains(&row[0]);
        let uid = if is_of_many { "api::many.many" } else { "api::one.one" };
        let target = format!("/api/frontend-url?uid={uid}&documentId=d{at}");
        let answer = http::get(service.addr(), &target).json();
        assert_eq!(answer["error"]["details"]["reason"], row[0], "{answer}");
    }
}

#[test]
fn each_example_of_a_rule_is_fine() {
    let pages = ["docs/rules.md", "docs/strapi.md"].map(page);
    let examples: Vec<&str> = pages.iter().flat_map(|page| page.blocks("toml")).collect();
    assert!(examples.len() >= 9, "one for each thing that a rule can say");
    for rule in examples {
        let site = site("main").without_front_end_url().locales(&["en", "de"]);
        let ended = site.set(rule).run(&["check"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{rule}");
    }
}

#[test]
fn each_complete_settings_file_is_valid() {
    for path in ["README.md", "docs/configuration.md"] {
        let page = page(path);
        let [settings] = page.blocks("toml")[..] else { panic!("{path} has one settings file") };
        // Without a CMS: its schema is not needed here.
        let settings = settings.replace("[cms]", "[cms]\nsource = \"files\"");
        let ended = Setup::new(&settings).run(&["check"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{path}");
    }
}

#[test]
fn example_settings_are_fine() {
    let ended = Setup::new(EXAMPLE).run(&["check"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn table_of_settings_has_the_keys_and_defaults_of_the_example() {
    let configuration = page("docs/configuration.md");
    let rows = configuration.table("Key");
    let example = example();
    let named: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    let keys: BTreeSet<&str> = example.keys().map(String::as_str).collect();
    assert_eq!(named, keys);
    for row in rows {
        let section = row[0].split('.').next().unwrap_or_default();
        let written_out =
            ["changes", "cms", "limits", "log", "moved", "server", "snapshots", "validation"]
                .contains(&section);
        let default = example[row[0]].as_ref().map_or("none", String::as_str);
        assert!(!written_out || row[1] == default || row[0] == "cms.path", "{}: {row:?}", row[0]);
    }
}

#[test]
fn each_setting_that_needs_a_restart_is_listed() {
    let configuration = page("docs/configuration.md");
    let (_, listed) = configuration.text.split_once("need a restart").expect("there is a list");
    let code = include_str!("../../crates/commands/src/config/restart.rs");
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let keys: BTreeSet<String> = example().into_keys().collect();
    let names = code.split('"').skip(1).step_by(2).filter(|text| keys.contains(*text));
    let names: Vec<&str> = names.collect();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let section = name.split('.').next().unwrap_or_default();
        let mentions = [format!("`{name}`"), format!("`[{section}]`")];
        assert!(mentions.iter().any(|mention| listed.contains(mention)), "{name}");
    }
}

#[test]
fn each_key_that_a_page_names_is_a_setting() {
    let keys: BTreeSet<String> = example().into_keys().collect();
    let sections: BTreeSet<&str> = keys.iter().filter_map(|key| key.split('.').next()).collect();
    let pages = super::pages::all();
    let spans = pages.iter().filter(|page| page.path != "docs/decisions.md");
    let spans = spans.flat_map(|page| page.text.split('`').skip(1).step_by(2));
    let settings = spans.filter(|span| {
        let known = span.split_once('.').is_some_and(|(section, _)| sections.contains(section));
        known && span.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'.')
    });
    let unknown: BTreeSet<_> = settings.filter(|key| !keys.contains(*key)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The keys of the example by section and name, those that are commented out as well; with the
/// value of those that are not.
fn example() -> BTreeMap<String, Option<String>> {
    let set = |line: &str| line.split_once(" = ").is_some_and(|(key, _)| is_key(key));
    let uncommented = |line: &'static str| match line.strip_prefix("# ") {
        Some(setting) if set(setting) || setting.starts_with("[[") => setting,
        _ => line,
    };
    let all: Vec<&str> = EXAMPLE.lines().map(uncommented).collect();
    let mut keys = BTreeMap::new();
    flatten("", &parsed(&all.join("\n")), &mut keys);
    let mut written_out = BTreeMap::new();
    flatten("", &parsed(EXAMPLE), &mut written_out);
    keys.into_keys()
        .map(|key| {
            let value = written_out.remove(&key).flatten();
            (key, value)
        })
        .collect()
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

fn parsed(text: &str) -> Table {
    toml::from_str(text).expect("TOML")
}

/// Lists of tables are sections like tables.
fn flatten(at: &str, table: &Table, keys: &mut BTreeMap<String, Option<String>>) {
    for (name, value) in table {
        let key = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let tables = match value {
            Value::Table(table) => vec![table],
            Value::Array(list) => list.iter().filter_map(Value::as_table).collect(),
            _ => Vec::new(),
        };
        // The keys of these tables are fields, locales and placeholders, not settings.
        let open = match key.as_str() {
            "site.rule.where"
            | "site.rule.exclude_when"
            | "site.rule.template"
            | "site.page.path" => Some(key.clone()),
            "site.rule.params" => Some(key.clone() + ".<name>"),
            _ => None,
        };
        if tables.is_empty() || open.is_some() {
            keys.insert(open.clone().unwrap_or(key.clone()), as_text(value));
        }
        for table in tables.into_iter().filter(|_| open.is_none()) {
            flatten(&key, table, keys);
        }
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(value) => Some(value.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}
