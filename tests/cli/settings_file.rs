//! How a command finds its settings file without `--config`.

use std::fs;

use crate::support::service::Setup;

const SETTINGS: &str = "[server]\nlisten = \"127.0.0.1:0\"\n[cms]\nsource = \"files\"\n[[site]]\n\
    key = \"KEY\"\nfront_end_url = \"https://www.example.com\"\nlocales = [\"en\"]\n[[site.rule]]\n\
    content_type = \"plugin::cms.page\"\ntemplate = \"/{slug}\"\n";

/// A folder with settings of different sites under three names, and a command line without
/// `--config`.
fn setup() -> Setup {
    let setup = Setup::new(&SETTINGS.replace("KEY", "settings")).unconfigured();
    let setup = setup.file("frontend-map.toml", &SETTINGS.replace("KEY", "default"));
    setup.file("other.toml", &SETTINGS.replace("KEY", "other"))
}

/// The path in the folder as the binary prints it, and what has named it.
fn shown(setup: &Setup, file: &str, named_by: &str) -> String {
    let folder = fs::canonicalize(setup.path()).expect("a folder");
    format!("{} ({named_by})", folder.join(file).display())
}

#[test]
fn variable_wins_over_file_in_working_directory_and_argument_over_both() {
    let explain = ["explain", "--site", "none", "/x"];
    let site = |stderr: &str| {
        let (_, sites) = stderr.split_once("there are: ").expect("the sites");
        sites.trim_end().to_owned()
    };
    let default = setup().run(&explain);
    assert_eq!(site(&default.stderr), "default");
    let variable = setup().env("FRONTEND_MAP_CONFIG", "other.toml").run(&explain);
    assert_eq!(site(&variable.stderr), "other");
    let empty = setup().env("FRONTEND_MAP_CONFIG", "").run(&explain);
    assert_eq!(site(&empty.stderr), "default", "empty counts as not set");
    let argument = setup()
        .env("FRONTEND_MAP_CONFIG", "other.toml")
        .run(&[&["--config", "settings.toml"], &explain[..]].concat());
    assert_eq!(site(&argument.stderr), "settings");
}

#[test]
fn command_says_on_stderr_which_file_it_found() {
    let setup = setup();
    let ended = setup.run(&["check"]);
    let wanted =
        format!("settings: {}\n", shown(&setup, "frontend-map.toml", "in the working directory"));
    assert_eq!((ended.status, ended.stderr), (Some(0), wanted));
    assert_eq!(ended.stdout, "the settings are fine: 1 site, 1 rule\n");
    let setup = setup.env("FRONTEND_MAP_CONFIG", "other.toml");
    let ended = setup.run(&["check"]);
    let wanted = format!("settings: {}\n", shown(&setup, "other.toml", "FRONTEND_MAP_CONFIG"));
    assert_eq!((ended.status, ended.stderr), (Some(0), wanted));
    let named = setup.run(&["--config", "settings.toml", "check"]);
    assert_eq!((named.status, named.stderr.as_str()), (Some(0), ""));
}

#[test]
fn serve_logs_which_file_it_found_and_reloads_that_file() {
    for (variable, file, named_by) in [
        ("", "frontend-map.toml", "in the working directory"),
        ("other.toml", "other.toml", "FRONTEND_MAP_CONFIG"),
    ] {
        let setup = setup().env("FRONTEND_MAP_CONFIG", variable);
        let wanted = shown(&setup, file, named_by);
        let service = setup.start();
        assert!(service.logs(&format!("settings read file={wanted}")), "{}", service.log());
        assert!(!service.log().contains("settings: "), "{}", service.log());
        service.rewrite(file, "broken");
        service.send_signal("HUP");
        assert!(service.logs("the reload is refused"), "{}", service.log());
        assert!(service.logs(&format!("{file}: line 1")), "{}", service.log());
    }
}

#[test]
fn serve_names_the_file_that_it_found_if_its_settings_are_refused() {
    let setup = setup().file("frontend-map.toml", "[cms]\nurl = 7\n");
    let wanted = shown(&setup, "frontend-map.toml", "in the working directory");
    let ended = setup.run(&["serve"]);
    assert_eq!(ended.status, Some(78));
    assert!(ended.stderr.starts_with(&format!("settings: {wanted}\n")), "{}", ended.stderr);
}

#[test]
fn variable_that_names_no_file_is_a_problem_of_the_settings() {
    for command in ["check", "serve"] {
        let ended = setup().env("FRONTEND_MAP_CONFIG", "missing.toml").run(&[command]);
        let message = "frontend-map: 1 problem with the settings:\n- FRONTEND_MAP_CONFIG: \
            missing.toml: No such file or directory (os error 2): correct the variable, or remove it\n";
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(78), message));
    }
}

#[test]
fn unreadable_file_in_working_directory_is_not_the_same_as_none() {
    let setup = Setup::without_settings().unconfigured();
    let none = setup.run(&["check"]);
    let message = "frontend-map: 1 problem with the settings:\n- no configuration: pass --config \
        FILE, set FRONTEND_MAP_CONFIG, or write frontend-map.toml in the working directory; \
        `frontend-map init --cms URL` writes one\n";
    assert_eq!((none.status, none.stderr.as_str()), (Some(78), message));
    std::os::unix::fs::symlink("nowhere", setup.path().join("frontend-map.toml")).expect("a link");
    let ended = setup.run(&["check"]);
    assert_eq!(ended.status, Some(78));
    assert!(ended.stderr.contains("- frontend-map.toml: No such file"), "{}", ended.stderr);
}

#[test]
fn demo_and_health_ignore_both() {
    let broken = || {
        let setup = Setup::without_settings().unconfigured();
        setup.file("frontend-map.toml", "broken").env("FRONTEND_MAP_CONFIG", "missing.toml")
    };
    let demo = broken().run(&["demo", "--once"]);
    assert_eq!((demo.status, demo.stderr.as_str()), (Some(0), ""));
    let service = Setup::fixture().start();
    let listen = service.addr().to_string();
    let health = broken().env("FRONTEND_MAP__SERVER__LISTEN", &listen).run(&["health"]);
    assert_eq!((health.status, health.stderr.as_str()), (Some(0), ""));
    let named = "[server]\nlisten = \"127.0.0.1:1\"\n";
    let setup = Setup::without_settings().unconfigured().file("frontend-map.toml", named);
    let health = setup.run(&["health"]);
    // Something may listen on the default port of the machine.
    assert!(!health.stderr.contains("http://127.0.0.1:1/livez"), "{}", health.stderr);
}
