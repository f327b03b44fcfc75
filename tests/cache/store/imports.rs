//! `moved.import` while the documents are not known.

use super::{TEMPLATE, content, settings, take_down};
use crate::support::http;
use crate::support::wait::until_so;

#[test]
fn rows_wait_until_all_content_types_are_known() {
    let content = content();
    take_down(&content);
    let cms = content.start();
    let service = settings(TEMPLATE)
        .more("[moved]\nimport = [\"old.csv\"]")
        .strapi(&cms)
        .file("old.csv", "from,to\n/old,/en/articles/one\n")
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .start();
    let old = || http::get(service.addr(), "/api/resolve?site=main&pathname=/old");
    until_so("the CMS is asked", || !cms.targets().is_empty());
    assert_eq!(old().status, 503, "it is not known whether a document has the target");
    let other = http::get(service.addr(), "/api/resolve?site=main&pathname=/other");
    assert_eq!(other.status, 404, "no rule and no list has it");
    assert!(!service.log().contains("redirects are"), "{}", service.log());
    content.fail(|_| None);
    until_so("the list is imported", || {
        // Each request asks for a walk, which the open breaker may refuse for some seconds.
        old().status == 200
    });
    assert_eq!(old().json()["data"]["redirect"]["path"], "/en/articles/one");
}
