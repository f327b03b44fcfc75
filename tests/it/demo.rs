//! The demo's articles, on its own front end, show every kind of answer.

use frontend_map::demo::front_end;
use frontend_map::validator::Validator;
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

/// Their URLs on a front end that runs from now on.
async fn demo_urls() -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(front_end::serve(listener));
    let url = |slug| format!("http://{address}/en/articles/{slug}");
    slugs().into_iter().map(url).collect()
}

#[tokio::test]
async fn the_demo_front_end_answers_in_five_ways() {
    let urls = demo_urls().await;
    let report = Validator::new().unwrap().report("main", "plugin::cms.article", urls).await;
    let classes = serde_json::to_value(report.tally.by_class).unwrap();
    assert_eq!(classes, json!({"2xx": 1, "3xx": 1, "4xx": 1, "5xx": 1, "error": 1}));
    assert_eq!(report.results[1].location.as_deref(), Some("/en/articles/welcome"));
    assert_eq!(report.results[4].reason.as_deref(), Some("timeout after 10000ms"));
}
