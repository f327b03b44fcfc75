//! Changes while the file of the store cannot be written: a full disk, and a file that is read alone.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::restarts::{folder, until_walked, with_store};
use super::{article, brief, content, cursor, read, report, settings};
use crate::support::content::Content;
use crate::support::hook::post_body;
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

const OTHER: &str = "api::page.page";

/// A limit on the size of files, beyond which writes fail: the file can be opened, and has no room for
/// [`grow`].
fn full(setup: Setup, store: &Path) -> Setup {
    let bytes = fs::metadata(store).expect("the store").len();
    setup.behind(&["prlimit", &format!("--fsize={bytes}")])
}

/// Publishes articles whose paths cannot be compressed: more than a megabyte.
fn grow(content: &Content) {
    for n in 0..900 {
        let hex: Vec<_> = (0..40).map(|_| format!("{:032x}", fastrand::u128(..))).collect();
        article(content, &format!("n{n:03}"), &hex.concat(), "", false);
    }
}

fn written(service: &Service, outcome: &str) -> f64 {
    scrape(service.admin()).of(&format!("store_writes_total{{outcome=\"{outcome}\"}}"))
}

fn until_written(service: &Service, count: f64) {
    until_so("it is stored", || written(service, "ok") >= count);
}

/// Waits until a write has failed since now.
fn until_failed_again(service: &Service) {
    let before = written(service, "failed");
    until_so("a write has failed", || written(service, "failed") > before);
}

/// Tells the service that all articles may have changed.
fn report_all(service: &Service) {
    let event = br#"{"event":"frontend-map.refresh","uid":"api::article.article"}"#;
    assert!(post_body(service, event).starts_with("HTTP/1.1 202"));
}

fn paths(service: &Service) -> BTreeSet<String> {
    let response = http::get(service.addr(), "/api/pages?site=main");
    let pages = response.json()["data"]["pages"].as_array().expect("a list").clone();
    pages.iter().map(|page| page["path"].as_str().expect("text").to_owned()).collect()
}

/// What a client of the changes knows: its cursor and the paths of the pages.
struct Reader {
    cursor: String,
    paths: BTreeSet<String>,
    resets: usize,
}

impl Reader {
    fn start(service: &Service) -> Self {
        let cursor = cursor(service);
        Self { cursor, paths: paths(service), resets: 0 }
    }

    /// Reads what is new.
    fn follow(&mut self, service: &Service) {
        loop {
            let read = read(service, &self.cursor, &[]);
            read["cursor"].as_str().expect("text").clone_into(&mut self.cursor);
            if read["reset"] == true {
                self.resets += 1;
                self.paths = paths(service);
            }
            for change in read["changes"].as_array().expect("a list") {
                let path = |name: &str| change[name].as_str().map(str::to_owned);
                let gone = if change["type"] == "gone" { path("path") } else { path("from") };
                if let Some(gone) = gone {
                    self.paths.remove(&gone);
                }
                if change["type"] != "gone" {
                    self.paths.extend(path("path"));
                }
            }
            if read["more"] == false {
                break;
            }
        }
    }

    fn until_equal(&mut self, service: &Service) {
        until_so("the reader knows all pages", || {
            self.follow(service);
            self.paths == paths(service)
        });
    }
}

#[test]
fn reader_gets_changes_that_cannot_be_stored() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let own = settings().strapi(&cms);
    let mut first = with_store(&own, &store).start();
    until_walked(&first);
    until_written(&first, 1.0);
    assert_eq!(first.signal("TERM"), Some(0));
    let mut second = full(with_store(&own, &store), &store).start();
    until_walked(&second);
    let mut reader = Reader::start(&second);
    content.unpublish("en", "b");
    grow(&content);
    report_all(&second);
    until_so("the pages are there", || paths(&second).len() > 900);
    reader.until_equal(&second);
    assert!(!reader.paths.contains("/en/articles/two"));
    // What cannot be stored now goes on from there, however often the file is opened again.
    article(&content, "a", "uno", "One", false);
    report(&second, "a");
    until_failed_again(&second);
    until_failed_again(&second);
    reader.until_equal(&second);
    assert!(reader.paths.contains("/en/articles/uno"));
    assert_eq!(reader.resets, 0);
    let unstored = reader.cursor.clone();
    second.signal("KILL");
    // The file has an older log than the one that the reader knows.
    content.unpublish("en", "a");
    for is_full in [true, false] {
        let setup = with_store(&own, &store);
        let third = if is_full { full(setup, &store) } else { setup }.start();
        until_walked(&third);
        let read = read(&third, &unstored, &[]);
        assert_eq!((&read["reset"], &read["changes"]), (&json!(true), &json!([])));
        reader.until_equal(&third);
        assert!(!reader.paths.contains("/en/articles/uno"));
    }
}

/// A process whose first write fails has to compare with what the file has.
#[test]
fn reader_of_the_stored_log_gets_changes_after_a_restart_on_a_full_disk() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let own = settings().rule(OTHER, "/p/{locale}/{slug}").strapi(&cms);
    let mut first = with_store(&own, &store).start();
    until_written(&first, 2.0);
    until_walked(&first);
    let mut reader = Reader::start(&first);
    assert_eq!(first.signal("TERM"), Some(0));
    content.unpublish("en", "b");
    grow(&content);
    let second = full(with_store(&own, &store), &store).start();
    until_so("both types are read", || paths(&second).len() > 1_800);
    reader.until_equal(&second);
    content.unpublish("en", "a");
    report(&second, "a");
    until_so("the page is gone", || !paths(&second).contains("/en/articles/one"));
    reader.until_equal(&second);
    assert_eq!(reader.resets, 0);
}

/// What the file has is served until the CMS responds; the first walk is a change for those who have
/// read that.
#[test]
fn reader_of_a_list_from_a_read_only_file_gets_the_changes_of_the_first_walk() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let own = settings().strapi(&cms);
    let mut first = with_store(&own, &store).start();
    until_walked(&first);
    until_written(&first, 1.0);
    let before = cursor(&first);
    assert_eq!(first.signal("TERM"), Some(0));
    fs::set_permissions(&store, fs::Permissions::from_mode(0o400)).expect("its mode");
    content.fail(|_| Some(Script::raw("").and_close()));
    let setup = with_store(&own, &store);
    let is_root = fs::OpenOptions::new().write(true).open(&store).is_ok();
    let without_override = ["setpriv", "--bounding-set", "-dac_override"];
    let second = if is_root { setup.behind(&without_override) } else { setup }.start();
    until_so("it serves", || http::get(second.addr(), "/api/pages?site=main").status == 200);
    assert_eq!(read(&second, &before, &[])["reset"], true);
    let start = cursor(&second);
    content.unpublish("en", "b");
    article(&content, "a", "uno", "One", false);
    content.heal();
    report_all(&second);
    until_so("it is read", || paths(&second).contains("/en/articles/uno"));
    let expected = ["gone b /en/articles/two", "moved a /en/articles/uno /en/articles/one"];
    until_so("the changes are listed", || brief(&read(&second, &start, &[])).len() >= 2);
    assert_eq!(brief(&read(&second, &start, &[])), expected);
}
