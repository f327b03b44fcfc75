//! A normalized pathname is absolute, normalizes to itself, and has the same segments.
#![no_main]

use frontend_map_rules::{PathSegment, Pathname};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let pathname = Pathname::parse(text);
    let normal = pathname.normalized();
    assert!(normal.starts_with('/') && !normal.contains("//") && !normal.contains(['?', '#']));
    assert!(normal == "/" || !normal.ends_with('/'));
    let again = Pathname::parse(&normal);
    assert_eq!(again.normalized(), normal);
    assert!(again.segments().eq(pathname.segments()));
    for segment in pathname.segments() {
        if let PathSegment::Text(text) = segment {
            assert!(!text.is_empty() && text != "." && text != "..");
            assert!(!text.contains(|c: char| c == '/' || c == '\\' || c.is_control()));
        }
    }
});
