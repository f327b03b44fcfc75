//! A renamed parent above 10,000 pages, while editors publish.

use super::edits::{report, service};
use super::leads_to;
use crate::support::content::Content;
use crate::support::wait::until_so;

const PAGES: usize = 10_000;
/// Pages that editors rename meanwhile, and pages that they leave alone.
const EDITED: usize = 20;
const OTHERS: [usize; 4] = [EDITED, 4_999, 5_000, PAGES - 1];

fn put(content: &Content, n: usize, parent: &str, slug: &str) {
    let fields = format!(r#","slug":"{slug}{n}","parent":{{"documentId":"p","slug":"{parent}"}}"#);
    content.put("en", &format!("d{n:05}"), &fields);
}

#[test]
fn parent_of_ten_thousand_pages_is_renamed_while_editors_publish() {
    let content = Content::default();
    (0..PAGES).for_each(|n| put(&content, n, "old", "s"));
    let cms = content.start();
    let service = service(&cms, "/{parent.slug}/{slug}");
    until_so("the first walk", || leads_to(&service, "/old/s9999") == "document d09999");
    (0..PAGES).for_each(|n| put(&content, n, "new", "s"));
    report(&service, None);
    let never_forgotten = || {
        for n in OTHERS {
            let (path, leads) = (format!("/old/s{n}"), leads_to(&service, &format!("/old/s{n}")));
            let expected = [format!("document d{n:05}"), format!("redirect /new/s{n}")];
            assert!(expected.contains(&leads), "{path}: {leads}");
        }
    };
    for n in 0..EDITED {
        put(&content, n, "new", "e");
        report(&service, Some(&format!("d{n:05}")));
        never_forgotten();
    }
    let is_moved = |n: usize, slug: &str| {
        let now = format!("/new/{slug}{n}");
        leads_to(&service, &now) == format!("document d{n:05}")
            && leads_to(&service, &format!("/old/s{n}")) == format!("redirect {now}")
    };
    until_so("all pages have moved", || {
        never_forgotten();
        (0..EDITED).all(|n| is_moved(n, "e")) && OTHERS.iter().all(|n| is_moved(*n, "s"))
    });
    for n in (EDITED..PAGES).step_by(97) {
        assert!(is_moved(n, "s"), "{n}");
    }
}
