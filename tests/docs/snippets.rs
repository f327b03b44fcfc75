//! Code on the pages that the Strapi fixture runs, so that `scripts/` can test it.

use super::pages::{page, root};

/// The text of a file of the fixture.
fn fixture(path: &str) -> String {
    let path = root().join("tests/strapi").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn webhook_of_the_page_is_the_one_that_the_fixture_creates() {
    let strapi = page("docs/strapi.md");
    let blocks = strapi.blocks("js");
    let [webhook, line] = blocks[..] else { panic!("{} blocks", blocks.len()) };
    assert_eq!(webhook, fixture("src/webhook.js").trim_end());
    assert!(fixture("src/index.js").contains(line.trim()), "{line}");
}

#[test]
fn preview_handler_of_the_page_is_the_one_that_the_fixture_runs() {
    let preview = page("docs/preview.md");
    let blocks = preview.blocks("js");
    let [handler, line] = blocks[..] else { panic!("{} blocks", blocks.len()) };
    assert_eq!(handler, fixture("src/preview.js").trim_end());
    assert!(fixture("config/admin.js").contains(line.trim().trim_end_matches(',')), "{line}");
}
