//! A disk that is full, by a limit on the size of files, and a file that is damaged in use.

use std::fs;
use std::process::Command;

use super::history::{redirect, rename, resolved};
use super::unusable::moved_aside;
use super::{
    TEMPLATE, content, folder, list, settings, state, take_down, until_state, until_stored, urls,
    with_store, written,
};
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::refusal;
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::service::Service;
use crate::support::wait::until_so;

/// A full disk from the start: the file is not begun, and not moved aside either.
#[test]
fn new_store_on_a_full_disk_leaves_nothing_behind() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (folder, store) = folder();
    let full = ["sh", "-c", "ulimit -f 32; exec \"$0\" \"$@\""];
    let service = with_store(&settings, &store).behind(&full).start();
    until_so("it serves", || list(&service).status == 200);
    assert_eq!(state(&service)["state"], "failing");
    assert_eq!(fs::metadata(&store).expect("an empty file").len(), 0);
    drop(service);
    let service = with_store(&settings, &store).start();
    until_stored(&service);
    assert!(moved_aside(folder.path()).is_empty());
}

/// 8,000 documents with slugs that cannot be compressed: 192 KB of them.
fn incompressible() -> Content {
    let content = Content::default();
    for n in 0..8_000 {
        let [one, other] = [fastrand::u128(..), fastrand::u128(..)];
        content.publish("en", &format!("d{n:05}"), &format!("{one:032x}{:016x}", other >> 64));
    }
    content
}

/// With a limit of file sizes, every write beyond it fails as on a full disk.
#[test]
fn service_goes_on_in_memory_while_the_disk_is_full_and_writes_again_after_it() {
    let content = incompressible();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_folder, store) = folder();
    // 80 KiB, or 160 where the unit is 1024 bytes. The service handles SIGXFSZ, so that a write fails.
    let full = ["sh", "-c", "ulimit -f 160; exec \"$0\" \"$@\""];
    let mut service = with_store(&settings, &store).behind(&full).start();
    until_so("it has failed to write", || {
        scrape(service.admin()).of("store_writes_total{outcome=\"failed\"}") >= 1.0
    });
    assert!(service.logs("the store has failed"));
    assert_eq!(urls(&list(&service)).len(), 8_000);
    until_state(&service, "failing");
    assert_eq!(service.signal("TERM"), Some(0));
    let service = with_store(&settings, &store).start();
    until_stored(&service);
    assert_eq!(state(&service)["state"], "open");
}

#[test]
fn history_made_while_the_disk_is_full_is_written_after_it() {
    let content = incompressible();
    content.publish("en", "d00001", "one");
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_folder, store) = folder();
    let full = ["sh", "-c", "ulimit -S -f 160; exec \"$0\" \"$@\""];
    let mut service = with_store(&settings, &store).behind(&full).start();
    until_state(&service, "failing");
    rename(&service, &content, "d00001", "uno");
    let moved = redirect("/en/articles/uno");
    until_so("the old path is redirected", || resolved(&service, "/en/articles/one") == moved);
    assert_eq!(state(&service)["state"], "failing");
    limit_files(&service, "unlimited");
    until_state(&service, "open");
    assert_eq!(service.signal("TERM"), Some(0));
    take_down(&content);
    let service = with_store(&settings, &store).start();
    assert_eq!(resolved(&service, "/en/articles/one"), moved);
    assert_eq!(urls(&list(&service)).len(), 8_000);
}

#[test]
fn file_that_is_damaged_while_the_cms_is_down_is_replaced_by_one_with_all_copies() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).rule("api::page.page", "/{locale}/pages/{slug}").strapi(&cms);
    let (folder, store) = folder();
    let mut first = with_store(&settings, &store).start();
    until_so("both types are stored", || written(&first) >= 2.0);
    first.signal("TERM");
    // Documents can be read by themselves alone.
    content.fail(|target| {
        let is_of_all = Query::parse(target)?.ids.is_empty();
        is_of_all.then(|| refusal(500, "InternalServerError", "{}"))
    });
    let mut second = with_store(&settings, &store).start();
    until_state(&second, "open");
    limit_files(&second, "1000:unlimited");
    rename(&second, &content, "d1", "uno");
    until_state(&second, "failing");
    fs::write(&store, b"not a store").expect("a file");
    limit_files(&second, "unlimited");
    until_state(&second, "open");
    until_so("both types are stored", || written(&second) >= 2.0);
    second.signal("TERM");
    assert_eq!(moved_aside(folder.path()), [b"not a store"]);
    take_down(&content);
    let third = with_store(&settings, &store).start();
    assert!(urls(&list(&third))[1].ends_with("/en/articles/uno"), "{:?}", urls(&list(&third)));
    let pages = "/api/build-sitemap?site=main&contentType=api::page.page";
    assert_eq!(urls(&http::get(third.addr(), pages)).len(), 3);
}

/// From now on, writes beyond this size of a file fail.
fn limit_files(service: &Service, limit: &str) {
    let (pid, limit) = (service.pid().to_string(), format!("--fsize={limit}"));
    let limited = Command::new("prlimit").args(["--pid", &pid, &limit]).status();
    assert!(limited.expect("prlimit of util-linux").success());
}
