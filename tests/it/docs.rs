//! What the README and the example settings say, compared with what the binary does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use config::{File, FileFormat, Map, Value, ValueKind};
use frontend_map::config::Environment;
use frontend_map::rules::{
    ContentTypeUid, Locale, LocalePrefix, Locales, Pathname, Rule, RuleSet, Template,
};

use crate::support::http;
use crate::support::service::{Service, Setup};

const README: &str = include_str!("../../README.md");
const EXAMPLE: &str = include_str!("../../config/settings.example.toml");
const DEMO: &str = include_str!("../../config/demo/settings.toml");

/// The lines of all code blocks, with an empty line after each block.
fn code_lines() -> Vec<&'static str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in README.lines() {
        if line.starts_with("```") {
            inside = !inside;
            lines.push("");
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

/// The target of each `curl` of the demo, and the answer that the README shows below it.
fn curls() -> Vec<(&'static str, String)> {
    let lines = code_lines();
    let at = lines.iter().enumerate().filter(|(_, line)| line.starts_with("$ curl "));
    at.map(|(at, command)| {
        let target = command.strip_prefix("$ curl 'http://127.0.0.1:8080");
        let target = target.and_then(|rest| rest.strip_suffix('\'')).expect(command);
        let answer: Vec<&str> =
            lines[at + 1..].iter().take_while(|line| !line.is_empty()).copied().collect();
        (target, answer.join("\n"))
    })
    .collect()
}

/// The cells of the table whose first heading is this.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let start = format!("| {heading} |");
    let rows = README.lines().skip_while(|line| !line.starts_with(&start)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<_>> = rows
        .map(|row| row.trim_matches('|').split('|').map(|cell| code(cell.trim())).collect())
        .collect();
    assert!(!rows.is_empty(), "there is no table {heading:?}");
    rows
}

/// The text of a cell that is code, else the cell.
fn code(cell: &str) -> &str {
    cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')).unwrap_or(cell)
}

fn demo() -> Service {
    Setup::new(DEMO).env("FRONTEND_MAP__SERVER__LISTEN", "127.0.0.1:0").start()
}

#[test]
fn each_curl_gives_exactly_the_answer_shown() {
    let service = demo();
    let curls = curls();
    assert!(curls.len() >= 3, "the README shows {} of them", curls.len());
    for (target, answer) in curls {
        assert_eq!(http::get(service.addr(), target).text(), answer, "{target}");
    }
}

#[test]
fn the_help_is_the_real_one() {
    let ended = Setup::without_settings().unconfigured().run(&["--help"]);
    let shown = help_block();
    assert_eq!(ended.stdout.trim_end(), shown);
}

/// The help has empty lines, so it lasts until its block ends.
fn help_block() -> &'static str {
    let (_, rest) = README.split_once("$ frontend-map --help\n").expect("the README has the help");
    rest.split_once("\n```").expect("its block ends").0
}

#[test]
fn the_two_commands_stand_in_a_code_block_once() {
    let commands: Vec<&str> =
        code_lines().iter().map(|line| line.split('#').next().unwrap_or("").trim()).collect();
    for (start, command) in [
        ("cargo run --release -- demo", "cargo run --release -- demo --once"),
        ("cargo test", "cargo test"),
    ] {
        let found: Vec<_> = commands.iter().filter(|line| line.starts_with(start)).collect();
        assert_eq!(found, [&command]);
    }
}

#[test]
fn rules_are_chosen_as_the_table_says() {
    let rows = table("Template");
    let content_type = ContentTypeUid::parse("api::a.a").unwrap();
    let rule = |row: &Vec<&str>| Rule::new(content_type.clone(), Template::parse(row[0]).unwrap());
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    // Backwards: the order of the settings decides nothing here.
    let rules = rows.iter().rev().map(rule).collect();
    let rules = RuleSet::new(locales, LocalePrefix::Always, rules);
    let order: Vec<String> = rules.in_order().map(|(_, template)| template.to_string()).collect();
    assert_eq!(order, rows.iter().map(|row| row[0]).collect::<Vec<_>>());
    for row in &rows {
        let pathname = Pathname::parse(row[1]);
        let found = rules.find(&pathname).expect(row[1]);
        assert_eq!(found.template.to_string(), row[0], "{}", row[1]);
    }
}

#[test]
fn values_without_a_url_have_the_reason_that_the_table_says() {
    let rows = table("`details.reason`");
    let rows: Vec<_> = rows.iter().filter(|row| !row[2].is_empty()).collect();
    assert_eq!(rows.len(), 11, "one for each fault of a value");
    let document = |(at, row): (usize, &&Vec<&str>)| {
        format!(r#"{{"documentId": "d{at}", "slug": {}}}"#, row[2])
    };
    let documents: Vec<String> = rows.iter().enumerate().map(document).collect();
    let documents = documents.join(", ");
    let content = format!(r#"{{"api::one.one": [{documents}], "api::many.many": [{documents}]}}"#);
    let service = Setup::new(
        "[server]\nlisten = \"127.0.0.1:0\"\n[cms]\nsource = \"files\"\npath = \"content.json\"\n\
         [[site]]\nkey = \"main\"\nlocales = [\"en\"]\n\
         [[site.rule]]\ncontent_type = \"api::one.one\"\ntemplate = \"/{slug}\"\n\
         [[site.rule]]\ncontent_type = \"api::many.many\"\ntemplate = \"/many/{*slug}\"\n",
    )
    .file("content.json", &content)
    .start();
    for (at, row) in rows.iter().enumerate() {
        let uid = if row[0] == "slug_empty_segment" { "api::many.many" } else { "api::one.one" };
        let target = format!("/api/frontend-url?uid={uid}&documentId=d{at}");
        let answer = http::get(service.addr(), &target).json();
        assert_eq!(answer["error"]["details"]["reason"], row[0], "{answer}");
    }
}

#[test]
fn each_example_of_a_rule_is_fine() {
    let examples: Vec<&str> = README.split("```toml\n").skip(1).collect();
    assert!(examples.len() >= 6, "one for each thing that a rule can say");
    for example in examples {
        let rule = example.split("```").next().unwrap_or_default();
        let site =
            "[cms]\nsource = \"files\"\n[[site]]\nkey = \"main\"\nlocales = [\"en\", \"de\"]\n";
        let ended = Setup::new(&format!("{site}{rule}")).run(&["check"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{rule}");
    }
}

#[test]
fn the_example_settings_are_fine() {
    let ended = Setup::new(EXAMPLE).run(&["check"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_example_writes_out_the_real_defaults() {
    let read = |text| {
        let path = Path::new("settings.toml");
        let read = frontend_map::config::parse(text, path, &Environment::new()).unwrap();
        format!(
            "{:?} {:?} {:?} {:?} {:?}",
            read.server, read.log, read.limits, read.freshness, read.validation
        )
    };
    assert_eq!(read(Some(EXAMPLE)), read(None));
}

#[test]
fn the_table_of_settings_has_the_keys_and_defaults_of_the_example() {
    let rows = table("Key");
    let example = example();
    let named: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    let keys: BTreeSet<&str> = example.keys().map(String::as_str).collect();
    assert_eq!(named, keys);
    for row in rows {
        let section = row[0].split('.').next().unwrap_or_default();
        let written_out =
            ["server", "cms", "log", "limits", "snapshots", "validation"].contains(&section);
        let default = example[row[0]].as_ref().map_or("none", String::as_str);
        assert!(!written_out || row[1] == default || row[0] == "cms.path", "{}: {row:?}", row[0]);
    }
}

/// The keys of the example by section and name, those that are commented out as well; with the
/// value of those that are not.
fn example() -> BTreeMap<String, Option<String>> {
    let set = |line: &str| line.split_once(" = ").is_some_and(|(key, _)| is_key(key));
    let uncommented = |line: &'static str| match line.strip_prefix("# ") {
        Some(setting) if set(setting) => setting,
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

fn parsed(text: &str) -> Map<String, Value> {
    let file = File::from_str(text, FileFormat::Toml);
    let read = config::Config::builder().add_source(file).build();
    read.and_then(config::Config::try_deserialize).expect("TOML")
}

/// Lists of tables are sections like tables.
fn flatten(at: &str, table: &Map<String, Value>, keys: &mut BTreeMap<String, Option<String>>) {
    for (name, value) in table {
        let key = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let tables = match &value.kind {
            ValueKind::Table(table) => vec![table],
            ValueKind::Array(list) => list.iter().filter_map(as_table).collect(),
            _ => Vec::new(),
        };
        // Their own keys are fields, locales and placeholders: anybody's.
        let open = match key.as_str() {
            "site.rule.where" | "site.rule.exclude_when" | "site.rule.template" => {
                Some(key.clone())
            }
            "site.rule.params" => Some(key.clone() + ".<name>"),
            _ => None,
        };
        if tables.is_empty() || open.is_some() {
            keys.insert(open.clone().unwrap_or(key.clone()), value.clone().into_string().ok());
        }
        for table in tables.into_iter().filter(|_| open.is_none()) {
            flatten(&key, table, keys);
        }
    }
}

fn as_table(value: &Value) -> Option<&Map<String, Value>> {
    match &value.kind {
        ValueKind::Table(table) => Some(table),
        _ => None,
    }
}
