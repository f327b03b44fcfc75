//! A file that cannot be used: the service goes on in memory, and says so.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::history::{redirect, rename, resolved};
use super::{
    TEMPLATE, content, folder, list, settings, state, take_down, until_state, until_stored, urls,
    with_store, written,
};
use crate::support::metrics::scrape;
use crate::support::wait::until_so;

/// The files beside the store that were moved aside.
pub(super) fn moved_aside(folder: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder).expect("the folder").flatten();
    let aside = files.filter(|file| file.file_name().to_string_lossy().contains(".unreadable-"));
    aside.map(|file| fs::read(file.path()).expect("a file")).collect()
}

#[test]
fn unreadable_files_are_moved_aside_and_new_ones_begun() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (other_folder, other) = folder();
    let mut service = with_store(&settings, &other).start();
    until_stored(&service);
    service.signal("TERM");
    let good = fs::read(&other).expect("a good store");
    drop(other_folder);
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    for (what, bytes) in [
        ("text", b"not a store".to_vec()),
        ("truncated", good[..good.len() / 2].to_vec()),
        ("the magic number", flipped(1)),
        ("zeros", vec![0; 10_000]),
    ] {
        let (folder, store) = folder();
        fs::write(&store, &bytes).expect("a file");
        let mut service = with_store(&settings, &store).start();
        until_stored(&service);
        assert_eq!(state(&service)["state"], "open", "{what}");
        assert!(service.logs("moved aside"), "{what}");
        assert_eq!(moved_aside(folder.path()), [bytes], "{what}");
        assert_eq!(urls(&list(&service)).len(), 3, "{what}");
        service.signal("TERM");
    }
}

/// Whatever bit is flipped, the service serves the stored list or none, and its store is open.
#[test]
fn flipped_bits_never_lead_to_a_wrong_list() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (_good_folder, good) = folder();
    let mut service = with_store(&settings, &good).start();
    until_stored(&service);
    let expected = urls(&list(&service));
    service.signal("TERM");
    let good = fs::read(&good).expect("a good store");
    take_down(&content);
    let (mut served, mut refused) = (0, 0);
    let used: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
    for at in used.iter().copied().step_by(used.len() / 25) {
        let (_folder, store) = folder();
        let mut bytes = good.clone();
        bytes[at] ^= 0x04;
        fs::write(&store, &bytes).expect("a file");
        let service = with_store(&settings, &store).start();
        until_state(&service, "open");
        let response = list(&service);
        if response.status == 503 {
            refused += 1;
        } else {
            assert_eq!(urls(&response), expected, "byte {at}");
            served += 1;
        }
    }
    assert!(served > 0 && refused > 0, "{served} served, {refused} refused");
}

#[test]
fn store_of_an_unknown_format_is_moved_aside() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let meta = redb::TableDefinition::<&str, i64>::new("meta");
    for format in [Some(2), None] {
        let (folder, store) = folder();
        let database = redb::Database::create(&store).expect("a database");
        let transaction = database.begin_write().expect("a transaction");
        {
            let mut meta = transaction.open_table(meta).expect("a table");
            if let Some(format) = format {
                meta.insert("format", format).expect("a row");
            }
        }
        transaction.commit().expect("a commit");
        drop(database);
        let service = with_store(&settings, &store).start();
        until_stored(&service);
        assert_eq!(moved_aside(folder.path()).len(), 1, "{format:?}");
    }
}

#[test]
fn service_goes_on_in_memory_where_the_file_cannot_be_opened() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (folder, _) = folder();
    for store in ["missing/store.redb", "."] {
        let service = with_store(&settings, &folder.path().join(store)).start();
        until_so("it serves", || list(&service).status == 200);
        assert_eq!(state(&service)["state"], "failing", "{store}");
        assert!(state(&service)["problem"].is_string());
        assert!(service.logs("the store cannot be opened"));
        assert!(scrape(service.admin()).of("store_open") < 0.5);
    }
}

#[test]
fn read_only_file_is_read_and_left_alone() {
    let content = content();
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let (folder, store) = folder();
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    rename(&first, &content, "d1", "uno");
    until_so("the update is stored", || written(&first) >= 2.0);
    // So that the file needs a repair, as after a crash.
    first.signal("KILL");
    take_down(&content);
    let bytes = fs::read(&store).expect("a file");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o400)).expect("its mode");
    // Root may write all the same, but for this.
    let setup = with_store(&settings, &store);
    let is_root = fs::OpenOptions::new().write(true).open(&store).is_ok();
    let without_override = ["setpriv", "--bounding-set", "-dac_override"];
    let setup = if is_root { setup.behind(&without_override) } else { setup };
    let service = setup.start();
    until_so("it serves", || list(&service).status == 200);
    assert_eq!(urls(&list(&service))[1], "https://www.example.com/en/articles/uno");
    assert_eq!(resolved(&service, "/en/articles/one"), redirect("/en/articles/uno"));
    assert_eq!(state(&service)["state"], "failing");
    assert!(service.logs("the store is read, and nothing is written"));
    assert!(moved_aside(folder.path()).is_empty());
    assert_eq!(fs::read(&store).expect("a file"), bytes);
    let mode = fs::metadata(&store).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o400);
}
