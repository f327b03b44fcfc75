//! A query that the strict parser accepts has the same values for a lenient parser, and the values
//! survive being encoded and parsed again.
#![no_main]

use frontend_map_rules::encode;
use frontend_map_service::http::fuzz_query;
use libfuzzer_sys::fuzz_target;
use url::form_urlencoded;

const KNOWN: [(&str, usize); 2] = [("site", 64), ("pathname", 2048)];

fuzz_target!(|query: &str| {
    let Some(values) = fuzz_query(query) else {
        return;
    };
    for ((name, max_bytes), value) in KNOWN.into_iter().zip(&values) {
        let pairs = form_urlencoded::parse(query.as_bytes());
        let mut given = pairs.filter(|(key, _)| key == name).map(|(_, value)| value);
        let lenient = given.next().filter(|value| !value.is_empty());
        assert_eq!(lenient.as_deref(), value.as_deref());
        assert_eq!(given.next(), None, "`{name}` is given twice");
        let value = value.as_deref().unwrap_or_default();
        assert!(value.len() <= max_bytes && !value.contains(char::is_control));
    }
    let pairs = KNOWN.iter().zip(&values).filter_map(|((name, _), value)| {
        value.as_ref().map(|value| format!("{name}={}", encode(value)))
    });
    let written = pairs.collect::<Vec<_>>().join("&");
    assert_eq!(fuzz_query(&written), Some(values));
});
