//! The demo's articles, on its own frontend, have every kind of result of a URL check.

use frontend_map_commands::demo::frontend;
use frontend_map_outbound::checks::report::Tally;
use frontend_map_outbound::checks::{CheckResult, Failure, Validator};
use frontend_map_rules::frontend_url::BaseUrl;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The slugs of the demo's published English articles, in the order of its file.
fn slugs() -> Vec<String> {
    let file = include_str!("../../config/demo/content.json");
    let content: Value = serde_json::from_str(file).unwrap();
    let articles = content["plugin::cms.article"].as_array().unwrap().iter();
    let english = articles.filter(|a| a["locale"] == "en" && a["status"] == "published");
    english.map(|a| a["slug"].as_str().unwrap().to_owned()).collect()
}

/// Starts the frontend.
async fn start_frontend() -> BaseUrl {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(frontend::serve(listener));
    BaseUrl::parse(&format!("http://{address}/en/articles")).unwrap()
}

#[tokio::test]
async fn demo_has_a_url_of_each_class_of_results() {
    let base = start_frontend().await;
    let slugs = slugs();
    let urls = slugs.iter().map(|slug| base.join(&format!("/{slug}"))).enumerate();
    let validator = Validator::new().unwrap();
    let mut checked: Vec<_> = validator.check(urls).collect().await;
    checked.sort_unstable_by_key(|(at, _)| *at);
    let checked: Vec<CheckResult> = checked.into_iter().map(|(_, checked)| checked).collect();
    let mut tally = Tally::default();
    for checked in &checked {
        tally.add(checked);
    }
    let classes = serde_json::to_value(tally.by_class).unwrap();
    assert_eq!(classes, json!({"2xx": 1, "3xx": 1, "4xx": 1, "5xx": 1, "error": 1}));
    let location = Some("/en/articles/welcome".to_owned());
    assert_eq!(checked[1], CheckResult::Response { status: 301, location, retry_after: None });
    assert_eq!(checked[4], CheckResult::Failed(Failure::Timeout));
}
