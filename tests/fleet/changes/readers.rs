//! Readers of `/api/changes`.

use serde_json::Value;

use crate::support::http;
use crate::support::service::Service;
use crate::support::wait::until;

/// The changes since a cursor, or the present cursor; waits for an instance that has not read the log.
#[track_caller]
pub(super) fn read(service: &Service, since: &str) -> Value {
    read_of(service, "main", since)
}

/// The changes of a site since a cursor, as `read` has them.
#[track_caller]
pub(super) fn read_of(service: &Service, site: &str, since: &str) -> Value {
    let since = if since.is_empty() { String::new() } else { format!("&since={since}") };
    let target = format!("/api/changes?site={site}{since}");
    until("the changes are known", || {
        let response = http::get(service.addr(), &target);
        if response.status == 503 {
            assert_eq!(response.header("retry-after").as_deref(), Some("1"));
            return None;
        }
        assert_eq!(response.status, 200, "{}", response.text());
        Some(response.json()["data"].clone())
    })
}

/// The present cursor.
#[track_caller]
pub(super) fn cursor(service: &Service) -> String {
    read(service, "")["cursor"].as_str().expect("text").to_owned()
}

/// The type, the document and the paths of each change.
pub(super) fn brief(read: &Value) -> Vec<String> {
    let brief = |change: &Value| {
        let text = |name: &str| change[name].as_str().unwrap_or_default().to_owned();
        let mut words = ["type", "documentId", "path", "from"].map(text).to_vec();
        words.retain(|word| !word.is_empty());
        words.join(" ")
    };
    read["changes"].as_array().expect("a list").iter().map(brief).collect()
}

/// Waits until an instance has exactly these changes after a cursor.
#[track_caller]
pub(super) fn read_until(service: &Service, since: &str, expected: &[String]) -> Value {
    let mut last = Vec::new();
    let found = until_or(|| {
        let found = read(service, since);
        assert_eq!(found["reset"], false, "{since}: {found}");
        last = brief(&found);
        assert!(expected.starts_with(&last), "{last:?} is not the beginning of {expected:?}");
        (last == expected).then_some(found)
    });
    found.unwrap_or_else(|| panic!("{last:?}, not {expected:?}\n{}", service.log()))
}

fn until_or<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = std::time::Instant::now();
    while begun.elapsed() < std::time::Duration::from_secs(30) {
        if let Some(found) = look() {
            return Some(found);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    None
}
