//! Sites with pages outside the CMS (D40): a page has its path alone, and changes no other path.

use frontend_map::frontend_url::{NoUrlReason, frontend_path};
use frontend_map::rules::PagePaths;
use proptest::prelude::*;

use super::{features, versions};

proptest! {
    #[test]
    fn document_has_the_url_that_it_has_without_pages_unless_a_page_has_its_path(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..5),
        others in prop::collection::vec("/[a-c]{0,2}", 0..3),
        taken in prop::collection::vec(any::<bool>(), 0..5),
    ) {
        let rules = rules.with_pages(PagePaths::new(hosts.by_locale()));
        let position = |code: &str| rules.locales().position(code).expect("one of the site's");
        let mut pages = PagePaths::new(hosts.by_locale());
        for path in &others {
            pages.add(path, 0);
        }
        for ((document, uid), is_taken) in versions(&documents).zip(&taken) {
            if let (Some(Ok(built)), true) =
                (frontend_path(&rules, &hosts, uid, document, true), is_taken)
            {
                pages.add(&built.path, position(built.locale.as_str()));
            }
        }
        let with_pages = rules.clone().with_pages(pages.clone());
        for (document, uid) in versions(&documents) {
            let before = frontend_path(&rules, &hosts, uid, document, true);
            let after = frontend_path(&with_pages, &hosts, uid, document, true);
            match before {
                Some(Ok(built)) if pages.has(&built.path, position(built.locale.as_str())) => {
                    let reason = after.and_then(Result::err).map(|no_url| no_url.reason);
                    prop_assert_eq!(reason, Some(NoUrlReason::PathTakenByPage));
                }
                before => prop_assert_eq!(before, after),
            }
        }
    }
}
