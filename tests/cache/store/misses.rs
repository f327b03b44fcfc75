//! The paths that visitors could not find, after a restart.

use std::path::Path;

use serde_json::{Value, json};

use super::{TEMPLATE, content, folder, settings, with_store};
use crate::support::api::data;
use crate::support::cms::Cms;
use crate::support::http;
use crate::support::service::Service;
use crate::support::wait::until_so;

fn start(cms: &Cms, store: &Path) -> Service {
    let service = with_store(&settings(TEMPLATE).strapi(cms), store).start();
    until_so("the documents are known", || request(&service, "one") == "document");
    service
}

fn request(service: &Service, slug: &str) -> Value {
    let target = format!("/api/resolve?site=main&pathname=/en/articles/{slug}");
    http::get(service.addr(), &target).json()["data"]["kind"].clone()
}

fn rows(service: &Service) -> Value {
    data(service, "/api/misses?site=main")["misses"].clone()
}

#[test]
fn missed_paths_survive_a_restart_and_count_on() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let mut service = start(&cms, &store);
    for slug in ["missing", "missing", "x.php"] {
        assert_eq!(request(&service, slug), "none");
    }
    let before = rows(&service);
    assert_eq!(before[0]["count"], 2);
    assert_eq!(service.signal("TERM"), Some(0));
    let mut service = start(&cms, &store);
    assert_eq!(rows(&service), before);
    request(&service, "missing");
    let after = rows(&service);
    assert_eq!(after[0]["count"], 3);
    assert_eq!((&after[0]["firstAt"], &after[1]), (&before[0]["firstAt"], &before[1]));
    // A row that has ended does not come back.
    content.publish("en", "d3", "missing");
    let event = r#"{"event":"entry.publish","uid":"api::article.article","entry":{"documentId":"d3","publishedAt":"2024-03-06T22:19:54.649Z"}}"#;
    let sent = crate::support::hook::post_body(&service, event.as_bytes());
    assert!(sent.starts_with("HTTP/1.1 202"));
    until_so("the page exists", || request(&service, "missing") == "document");
    assert_eq!(rows(&service), json!([before[1]]));
    assert_eq!(service.signal("TERM"), Some(0));
    let service = start(&cms, &store);
    assert_eq!(rows(&service), json!([before[1]]));
}

#[test]
fn rows_end_after_the_time_for_which_former_paths_are_kept() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let mut service = start(&cms, &store);
    request(&service, "missing");
    assert_eq!(service.signal("TERM"), Some(0));
    // As if the request had been two days ago.
    let file = redb::Database::open(&store).unwrap();
    let table = redb::TableDefinition::<&str, &[u8]>::new("misses");
    let transaction = file.begin_write().unwrap();
    {
        let mut table = transaction.open_table(table).unwrap();
        let (key, mut stored) = {
            let (key, value) = redb::ReadableTable::first(&table).unwrap().unwrap();
            let stored: Value = serde_json::from_slice(value.value()).unwrap();
            (key.value().to_owned(), stored)
        };
        let tally = &mut stored["paths"][0][1];
        for at in [2, 3] {
            tally[at] = json!(tally[at].as_i64().unwrap() - 2 * 24 * 60 * 60 * 1_000);
        }
        let bytes = serde_json::to_vec(&stored).unwrap();
        table.insert(&*key, &*bytes).unwrap();
    }
    transaction.commit().unwrap();
    drop(file);
    for (days, expected) in [("3", 1), ("1", 0)] {
        let settings = settings(TEMPLATE).strapi(&cms);
        let setup = with_store(&settings, &store).env("FRONTEND_MAP__MOVED__KEEP_DAYS", days);
        let mut service = setup.start();
        until_so("the documents are known", || request(&service, "one") == "document");
        assert_eq!(rows(&service).as_array().unwrap().len(), expected, "{days} days");
        assert_eq!(service.signal("TERM"), Some(0));
    }
}
