//! Reads any text as a response of the CMS: a walk takes no more rows than a page has.
#![no_main]

use std::sync::LazyLock;

use frontend_map_cms::{Projection, fuzz_document, fuzz_page, fuzz_reply};
use frontend_map_rules::{ContentTypeUid, FieldPath};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static PROJECTION: LazyLock<Projection> = LazyLock::new(|| {
    let paths = ["slug", "on", "parent.slug", "parent.parent.slug", "parent", "documentId"];
    Projection::new(paths.map(|path| FieldPath::parse(path).expect("a path")).to_vec())
});
static UID: LazyLock<ContentTypeUid> =
    LazyLock::new(|| ContentTypeUid::parse("plugin::cms.article").expect("a UID"));

fuzz_target!(|json: &str| {
    let value: Option<Value> = serde_json::from_str(json).ok();
    if let Some(page) = fuzz_page(json, &PROJECTION) {
        assert_eq!(page.items.len(), page.keys.len());
        if let Some(taken) = page.taken {
            let (size, _) = page.echo.expect("a proof needs one");
            assert!(taken <= page.items.len() && taken as u64 <= size);
        }
        if let Some(value) = &value {
            assert_eq!(value["data"].as_array().map(Vec::len), Some(page.items.len()));
        }
        for (key, item) in page.keys.iter().zip(&page.items) {
            if let Ok(document) = item {
                assert_eq!(key.as_deref(), Some(&*document.id));
            }
        }
    }
    if let Some(document) = fuzz_document(json, &PROJECTION)
        && let Some(value) = value
    {
        assert_eq!(value["data"]["documentId"].as_str(), Some(&*document.id));
    }
    let _ = fuzz_reply(json, &UID);
});
