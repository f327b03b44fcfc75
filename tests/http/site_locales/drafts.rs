//! A CMS is asked with the codes, whatever the segments are.

use crate::support::cms::Cms;
use crate::support::front_of_cms::list;
use crate::support::http;
use crate::support::script::Script;

use super::settings;

#[test]
fn draft_is_requested_with_the_code_and_compared_with_the_segment() {
    let cms = Cms::start(|target| match target.split('?').next() {
        _ if !target.contains("status=draft") => Script::silence(),
        Some("/api/posts") => list(&[("d", r#","locale":"de","slug":"neu""#)], 100, 1),
        _ => list(&[], 100, 0),
    });
    let service = settings().strapi(&cms).start();
    let target = "/api/resolve?site=main&pathname=/en/posts/neu&status=draft";
    let response = http::get(service.addr(), target);
    assert_eq!(response.status, 200, "{}", response.text());
    let data = &response.json()["data"];
    let found = [&data["documentId"], &data["locale"], &data["canonicalPath"], &data["resource"]];
    assert_eq!(
        found.map(|text| text.as_str().expect("text")),
        ["d", "de", "/en/posts/neu", "/api/posts/d?locale=de"]
    );
    let asked = cms.targets();
    let drafts: Vec<&String> =
        asked.iter().filter(|target| target.contains("status=draft")).collect();
    assert!(drafts[0].contains("&locale=de&"), "{drafts:?}");
    assert!(asked.iter().all(|target| !target.contains("english")), "{asked:?}");
}
