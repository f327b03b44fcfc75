//! The copy of the path history beside the store: written once a day and at a stop, read when the store
//! cannot be used, and a list of redirects for another service.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::history::{redirect, rename, resolved};
use super::unusable::moved_aside;
use super::{
    TEMPLATE, content, folder, settings, take_down, until_state, until_stored, with_store, written,
};
use crate::support::content::Content;
use crate::support::metrics::scrape;
use crate::support::service::Service;
use crate::support::settings::Settings;
use crate::support::wait::until_so;

fn copy_of(store: &Path) -> PathBuf {
    store.with_extension("redb.history.csv")
}

/// A service with a store, whose first document was renamed.
fn renamed(settings: &Settings, store: &Path, content: &Content) -> Service {
    let service = with_store(settings, store).start();
    until_stored(&service);
    rename(&service, content, "d1", "uno");
    until_so("the update is stored", || written(&service) >= 2.0);
    service
}

fn until_redirected(service: &Service) {
    until_so("the old path is redirected", || {
        resolved(service, "/en/articles/one") == redirect("/en/articles/uno")
    });
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|metadata| metadata.modified()).expect("its time")
}

#[test]
fn former_paths_survive_a_damaged_store_and_its_file_is_counted_until_it_is_gone() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (folder, store) = folder();
    let mut first = renamed(&settings, &store, &content);
    assert_eq!(first.signal("TERM"), Some(0));
    fs::write(&store, b"not a store").expect("a file");
    let mut second = with_store(&settings, &store).start();
    until_redirected(&second);
    let aside = |service: &Service| scrape(service.admin()).of("store_files_moved_aside");
    assert!((aside(&second) - 1.0).abs() < 0.1);
    assert!(second.logs("former paths are read from their copy"), "{}", second.log());
    // The new file has them, too.
    until_stored(&second);
    second.signal("TERM");
    fs::remove_file(copy_of(&store)).expect("a copy");
    let third = with_store(&settings, &store).start();
    until_redirected(&third);
    assert!((aside(&third) - 1.0).abs() < 0.1, "also after a restart");
    for file in fs::read_dir(folder.path()).expect("the folder").flatten() {
        if file.file_name().to_string_lossy().contains(".unreadable-") {
            fs::remove_file(file.path()).expect("removed");
        }
    }
    assert!(aside(&third) < 0.1);
}

#[test]
fn copy_is_written_while_the_service_runs_and_again_after_a_day() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (folder, store) = folder();
    let mut service = renamed(&settings, &store, &content);
    let copy = copy_of(&store);
    until_so("there is a copy", || copy.exists());
    let two_days_ago = SystemTime::now() - Duration::from_hours(48);
    let file = File::options().write(true).open(&copy).expect("the copy");
    file.set_modified(two_days_ago).expect("its time");
    until_so("it is written again", || modified(&copy) > two_days_ago);
    service.signal("KILL");
    // A bit that is flipped where the file of the store says what it is.
    let mut bytes = fs::read(&store).expect("a store");
    bytes[1] ^= 0x10;
    fs::write(&store, bytes).expect("a file");
    let service = with_store(&settings, &store).start();
    until_redirected(&service);
    assert_eq!(moved_aside(folder.path()).len(), 1);
}

#[test]
fn copy_is_a_list_of_redirects_for_a_service_without_the_store() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_folder, store) = folder();
    let mut first = renamed(&settings, &store, &content);
    assert_eq!(first.signal("TERM"), Some(0));
    let text = fs::read_to_string(copy_of(&store)).expect("a copy");
    let row = text.lines().nth(1).expect("a row");
    let begin = "https://www.example.com/en/articles/one,https://www.example.com/en/articles/uno,";
    assert!(row.starts_with(begin), "{row}");
    let setup = settings.more("[moved]\nimport = [\"old.csv\"]").file("old.csv", &text);
    let service = setup.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true").start();
    until_redirected(&service);
}

#[test]
fn store_that_cannot_be_opened_leaves_the_former_paths_of_the_copy() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_folder, store) = folder();
    let mut first = renamed(&settings, &store, &content);
    assert_eq!(first.signal("TERM"), Some(0));
    fs::remove_file(&store).expect("the store");
    fs::create_dir(&store).expect("a folder in its place");
    let service = with_store(&settings, &store).start();
    until_state(&service, "failing");
    until_redirected(&service);
}

/// The copies beside this one that were moved aside.
fn copies_aside(copy: &Path) -> Vec<String> {
    let files = fs::read_dir(copy.parent().expect("a folder")).expect("the folder").flatten();
    let aside = files.filter(|file| file.file_name().to_string_lossy().contains(".csv.damaged-"));
    aside.map(|file| fs::read_to_string(file.path()).expect("a copy")).collect()
}

#[test]
fn copy_with_a_damaged_row_is_moved_aside_before_another_one_takes_its_place() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_folder, store) = folder();
    let mut first = renamed(&settings, &store, &content);
    rename(&first, &content, "d2", "due");
    until_so("the second path is redirected", || {
        resolved(&first, "/en/articles/two") == redirect("/en/articles/due")
    });
    assert_eq!(first.signal("TERM"), Some(0));
    let copy = copy_of(&store);
    let damaged = fs::read_to_string(&copy).expect("a copy").replace("\"\"d2\"\"", "\"\"d3\"\"");
    fs::write(&copy, &damaged).expect("a damaged copy");
    fs::write(&store, b"not a store").expect("a file");
    let mut second = with_store(&settings, &store).start();
    until_redirected(&second);
    assert_eq!(second.signal("TERM"), Some(0));
    assert_eq!(copies_aside(&copy), [damaged]);
    let rows = fs::read_to_string(&copy).expect("a copy");
    assert!(rows.contains("\"\"d1\"\"") && !rows.contains("\"\"d3\"\""), "{rows}");
}

#[test]
fn copy_is_read_again_after_a_kill_before_its_rows_were_in_the_new_store() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_folder, store) = folder();
    let mut first = renamed(&settings, &store, &content);
    assert_eq!(first.signal("TERM"), Some(0));
    fs::remove_file(&store).expect("the store");
    // Without a walk, nothing is written.
    take_down(&content);
    let mut second = with_store(&settings, &store).start();
    assert!(second.logs("former paths are read from their copy"));
    second.signal("KILL");
    content.heal();
    let third = with_store(&settings, &store).start();
    until_redirected(&third);
}

#[test]
fn copy_keeps_the_former_paths_of_a_site_that_the_settings_do_not_have() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_folder, store) = folder();
    let mut first = renamed(&settings, &store, &content);
    assert_eq!(first.signal("TERM"), Some(0));
    fs::remove_file(copy_of(&store)).expect("a copy");
    let other = settings.toml().replace(r#"key = "main""#, r#"key = "other""#);
    let mut second = with_store(&settings, &store).file("settings.toml", &other).start();
    until_stored(&second);
    assert_eq!(second.signal("TERM"), Some(0));
    let text = fs::read_to_string(copy_of(&store)).expect("a copy");
    assert!(text.lines().any(|row| row.starts_with("/en/articles/one,,")), "{text}");
    fs::write(&store, b"not a store").expect("a file");
    let third = with_store(&settings, &store).start();
    until_redirected(&third);
}
