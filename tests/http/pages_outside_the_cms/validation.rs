//! URL checks of pages outside the CMS: results have the names of the pages.

use serde_json::{Value, json};

use super::{PAGES, settings};
use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http;

fn found(path: &str) -> Answer {
    answer(if path.contains("kontakt") { "404 Not Found" } else { "200 OK" }, "", 5)
}

#[tokio::test(flavor = "multi_thread")]
async fn results_name_the_pages() {
    let front_end = FrontEnd::start(found).await;
    let base = front_end.url("http", "");
    let setup = settings(PAGES).front_end_url(&base).setup();
    let validate = ["validate", "--site", "main", "--content-type", "pages", "--format", "ndjson"];
    let ended = setup.run(&validate);
    assert_eq!(ended.status, Some(1), "{}{}", ended.stdout, ended.stderr);
    let rows: Vec<Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let contact = json!({
        "url": format!("{base}/de/kontakt"), "status": 404, "ok": false, "contentType": "pages",
        "page": "contact", "locale": "de",
    });
    assert_eq!(rows[2], contact);
    assert_eq!((rows.len(), &rows[3]["count"]), (4, &json!(3)));
    assert!(ended.stderr.contains("  pages: 1\n"), "{}", ended.stderr);

    let service = setup.start();
    let target = "/api/build-sitemap?site=main&contentType=pages&validate=true";
    let send = |accept: &str| {
        tokio::task::block_in_place(|| {
            http::send(service.addr(), "GET", target, &[("accept", accept)])
        })
    };
    let data = send("application/json").json()["data"].clone();
    assert_eq!((&data["contentType"], &data["count"]), (&json!("pages"), &json!(3)));
    let events = send("application/x-ndjson");
    let finding = json!({ "finding": contact });
    let lines: Vec<Value> =
        events.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.contains(&finding), "{}", events.text());
    let target = "/api/validations?site=main&contentType=pages";
    let runs = tokio::task::block_in_place(|| http::get(service.addr(), target));
    let dead = &runs.json()["data"]["validations"][0]["dead"][0];
    assert_eq!((&dead["page"], &dead["documentId"]), (&json!("contact"), &Value::Null));
}
