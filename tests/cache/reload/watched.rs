//! `server.watch`: files that change, however they do.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::{APPLIED, REFUSED, apply, content, logged, resolve, settings};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

fn watched(prefix: &str) -> Setup {
    settings(prefix).env("FRONTEND_MAP__SERVER__WATCH", "true")
}

fn in_use(service: &Service, prefix: &str) {
    until_so("the rules are in use", || resolve(service, prefix).status == 200);
}

#[test]
fn watch_reloads_a_file_that_is_written_or_replaced() {
    let service = watched("a").start();
    service.rewrite("settings.toml", &settings("b").toml());
    in_use(&service, "b");
    service.rewrite("new.toml", &settings("a").toml());
    let path = |name| service.path().join(name);
    std::fs::rename(path("new.toml"), path("settings.toml")).expect("one folder");
    in_use(&service, "a");
    service.rewrite("settings.toml", "nonsense = 1");
    until_so("it is refused", || logged(&service, REFUSED) == 1);
    assert_eq!(resolve(&service, "a").status, 200);
    service.rewrite("settings.toml", &settings("b").toml());
    in_use(&service, "b");
    assert_eq!(logged(&service, REFUSED), 1, "a problem is logged once");
}

/// As Kubernetes does it: files are links into a folder that is itself a link, which is swapped.
#[test]
fn watch_reloads_a_config_map_of_kubernetes() {
    let put = |folder: &Path, name: &str, prefix: &str| {
        std::fs::create_dir(folder.join(name)).expect("a folder");
        std::fs::write(folder.join(name).join("settings.toml"), settings(prefix).toml())
            .expect("a file");
        std::fs::write(folder.join(name).join("content.json"), content("x")).expect("a file");
    };
    let setup = watched("a");
    put(setup.path(), "..first", "a");
    std::fs::remove_file(setup.path().join("settings.toml")).expect("it is there");
    symlink("..first", setup.path().join("..data")).expect("a link");
    symlink("..data/settings.toml", setup.path().join("settings.toml")).expect("a link");
    let service = setup.start();
    put(service.path(), "..second", "b");
    let path = |name| service.path().join(name);
    symlink("..second", path("..data_tmp")).expect("a link");
    std::fs::rename(path("..data_tmp"), path("..data")).expect("one folder");
    std::fs::remove_dir_all(path("..first")).expect("it is unused");
    in_use(&service, "b");
    until_so("it is logged", || logged(&service, APPLIED) == 1);
    assert_eq!(logged(&service, REFUSED), 0);
}

#[test]
fn watch_reloads_a_file_that_the_settings_refer_to() {
    let service = watched("a").start();
    let target = "/api/frontend-url?uid=api::a.a&documentId=d";
    let path = || crate::support::http::get(service.addr(), target).json()["data"]["path"].clone();
    assert_eq!(path(), "/a/x");
    service.rewrite("content.json", &content("y"));
    until_so("the content is in use", || path() == "/a/y");
}

#[test]
fn watch_is_itself_reloaded() {
    let service = settings("a").start();
    let watching = |prefix| settings(prefix).server("watch = true").toml();
    apply(&service, &watching("a"));
    service.rewrite("settings.toml", &watching("b"));
    in_use(&service, "b");
}
