//! Hostile pages whose facts `scripts/page_facts.py` has read from Chromium's DOM.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::charset::{self, decode};
use super::html::{self, PageFacts};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: String,
    content_type: String,
    html: Option<String>,
    base64: Option<String>,
    facts: Facts,
}

/// What Chromium says.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    title: Option<String>,
    lang: Option<String>,
    base: Option<String>,
    canonicals: Vec<String>,
    has_canonical_in_body: bool,
    robots: Vec<String>,
    alternates: Vec<(String, String)>,
}

impl From<PageFacts> for Facts {
    fn from(facts: PageFacts) -> Self {
        let alternates = facts.alternates.into_iter().map(|link| (link.hreflang, link.href));
        Self {
            title: facts.title,
            lang: facts.lang,
            base: facts.base,
            canonicals: facts.canonicals,
            has_canonical_in_body: facts.has_canonical_in_body,
            robots: facts.robots,
            alternates: alternates.collect(),
        }
    }
}

#[test]
fn pages_say_what_they_say_to_chromium() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/pages.jsonl");
    let rows = std::fs::read_to_string(&file).unwrap();
    let rows: Vec<Row> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut different = Vec::new();
    for row in &rows {
        let bytes = match (&row.html, &row.base64) {
            (Some(html), _) => html.clone().into_bytes(),
            (None, base64) => STANDARD.decode(base64.as_deref().unwrap()).unwrap(),
        };
        let header = charset::of_media_type(&row.content_type);
        let decoded = decode(&bytes, header.as_deref(), |text| html::read(text).charset);
        let own = Facts::from(html::read(&decoded.text));
        if own != row.facts {
            let html = decoded.text.chars().take(300).collect::<String>();
            different
                .push(format!("{}: {html}\n  own: {own:?}\n  Chromium: {:?}", row.name, row.facts));
        }
    }
    assert!(rows.len() > 100);
    assert!(
        different.is_empty(),
        "{} of {}\n{}",
        different.len(),
        rows.len(),
        different.join("\n")
    );
}
