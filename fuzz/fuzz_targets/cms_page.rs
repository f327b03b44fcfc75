//! Reads any text as a response of the CMS: a page is the same in a single pass and row by row, and a
//! walk takes no more rows than the page has.
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
    let [single_pass, row_by_row] = fuzz_page(json, &PROJECTION);
    if let Some(single_pass) = single_pass {
        assert_eq!(Some(&single_pass), row_by_row.as_ref());
        assert!(
            single_pass.items.iter().all(Result::is_ok),
            "a single pass accepts pages without bad items alone"
        );
    }
    if let Some(page) = row_by_row {
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
