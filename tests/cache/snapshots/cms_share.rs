//! The share of the CMS's time that background walks may take.

use std::time::Duration;

use super::hook::{hint, with_secret};
use super::{age, cache_status, in_english, paths, sitemap, soft, walks};
use crate::support::content::{Content, Query};
use crate::support::http::Response;
use crate::support::metrics::scrape;
use crate::support::service::Setup;
use crate::support::wait::{until, until_so};

/// A CMS whose lists take a quarter of a second a page.
fn slow() -> Content {
    let content = Content::new(&[("en", "a", "x")]);
    content.fail(|target| {
        if Query::parse(target).is_some() {
            std::thread::sleep(Duration::from_millis(250));
        }
        None
    });
    content
}

fn ttl(response: &Response) -> i64 {
    let status = cache_status(response);
    let ttl = status.split("ttl=").nth(1).and_then(|rest| rest.split(';').next()?.parse().ok());
    ttl.unwrap_or_else(|| panic!("no snapshot: {status}"))
}

#[test]
fn share_stretches_the_interval_of_refreshes() {
    let cms = slow().start();
    let setup = soft(in_english(&cms), 1).env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "0.001");
    let service = setup.start();
    assert_eq!(paths(&sitemap(&service)).len(), 1);
    let older = until("a snapshot beyond the soft limit", || {
        Some(sitemap(&service)).filter(|response| age(response) >= 2)
    });
    // A thousand times as long as the walk.
    assert!(ttl(&older) > 200, "{}", cache_status(&older));
    assert!(scrape(service.admin()).of("snapshot_interval_seconds") > 200.0);
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn walk_in_the_background_waits_for_the_share_and_a_client_does_not() {
    let content = slow();
    let cms = content.start();
    let share = |setup: Setup, hard| {
        let setup = setup.env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "0.001");
        setup.env("FRONTEND_MAP__SNAPSHOTS__HARD_SECONDS", hard)
    };
    let service = soft(share(with_secret(&cms), "6"), 1).start();
    assert_eq!(paths(&sitemap(&service)).len(), 1);
    hint(&service);
    let built = "a snapshot is built";
    until_so("a walk in the background", || service.log().matches(built).count() == 2);
    content.publish("en", "b", "y");
    hint(&service);
    let followed = "something may have changed in the CMS";
    until_so("the second hint", || service.log().matches(followed).count() == 2);
    // The snapshot is served until its hard limit. Then a client waits for a walk.
    let both = until("the new list", || {
        let response = sitemap(&service);
        (paths(&response).len() == 2).then_some(response)
    });
    assert!(cache_status(&both).contains("fwd=miss"), "{}", cache_status(&both));
    assert_eq!(walks(&cms, "en"), 3);
}

#[test]
fn interval_after_an_event_is_that_of_checks() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = soft(with_secret(&cms), 5).start();
    assert_eq!(paths(&sitemap(&service)).len(), 1);
    assert!(ttl(&sitemap(&service)) <= 5);
    hint(&service);
    until_so("the longer interval", || (500..=600).contains(&ttl(&sitemap(&service))));
    until_so("the walk after the event", || walks(&cms, "en") == 2);
}
