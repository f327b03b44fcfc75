//! A parsed base URL is canonical: parsed again it is the same, and a URL parser changes nothing.
#![no_main]

use frontend_map_rules::frontend_url::BaseUrl;
use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(|text: &str| {
    let Ok(base) = BaseUrl::parse(text) else {
        return;
    };
    assert_eq!(BaseUrl::parse(base.as_str()).as_ref(), Ok(&base));
    let root = base.join("/");
    let parsed = Url::parse(&root).expect("a URL");
    assert_eq!(parsed.as_str(), root);
    let written = Url::parse(text).expect("the text it was parsed from is a URL");
    assert_eq!(written.origin(), parsed.origin());
    assert!(written.username().is_empty() && written.password().is_none());
});
