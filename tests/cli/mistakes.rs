//! Each mistake of `tests/corpora/mistakes.jsonl` has its message and its exit status.

use serde::Deserialize;

use crate::support::service::{Ended, Setup};

const CONTENT: &str = r#"{"api::article.article": [{"documentId": "a", "locale": "en", "slug": "x"}], "api::page.page": []}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    name: String,
    settings: String,
    content: Option<String>,
    #[serde(default)]
    env: std::collections::BTreeMap<String, String>,
    #[serde(default = "check")]
    args: Vec<String>,
    /// Whether files are written in latin-1, which is not UTF-8.
    #[serde(default)]
    latin1: bool,
    status: i32,
    /// What stdout and stderr contain together.
    says: Vec<String>,
}

fn check() -> Vec<String> {
    vec!["check".to_owned()]
}

fn run(mistake: &Mistake) -> Ended {
    let mut setup = Setup::new("").file("content.json", CONTENT);
    let content = mistake.content.as_ref().map(|text| ("content.json", text));
    for (name, text) in [("settings.toml", &mistake.settings)].into_iter().chain(content) {
        let latin1: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        let bytes = latin1.filter(|_| mistake.latin1).unwrap_or_else(|| text.clone().into_bytes());
        std::fs::write(setup.path().join(name), bytes).expect("a file");
    }
    for (name, value) in &mistake.env {
        setup = setup.env(name, value);
    }
    let args: Vec<&str> = mistake.args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["--no-config", rest @ ..] => setup.unconfigured().run(rest),
        args => setup.run(args),
    }
}

#[test]
fn each_mistake_has_its_message_and_status_and_no_secret() {
    let rows = include_str!("../corpora/mistakes.jsonl").lines();
    let mistakes: Vec<Mistake> =
        rows.map(|row| serde_json::from_str(row).expect("a mistake")).collect();
    assert!(mistakes.len() > 90, "{}", mistakes.len());
    for mistake in &mistakes {
        let ended = run(mistake);
        let output = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.status, Some(mistake.status), "{}: {output}", mistake.name);
        for text in &mistake.says {
            assert!(output.contains(text), "{}: {text:?} is missing in\n{output}", mistake.name);
        }
        for never in ["abcdef", "panicked", "struct ", "enum "] {
            assert!(!output.contains(never), "{}: {never:?} in\n{output}", mistake.name);
        }
    }
}
