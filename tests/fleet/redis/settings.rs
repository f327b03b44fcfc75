//! `[shared]`: what is refused, and that secrets are not shown.

use crate::support::service::Setup;
use crate::support::settings::site;
use crate::support::tls::TRUSTED_ROOT;

fn check(setup: &Setup) -> (Option<i32>, String) {
    let ended = setup.run(&["check"]);
    (ended.status, ended.stdout + &ended.stderr)
}

fn shared(lines: &str) -> Setup {
    site("main")
        .more(&format!("[shared]\n{lines}"))
        .file("short", "0123456789012345678901234567890\n\n")
        .file("key", "01234567890123456789012345678901")
        .file("password", "hunter2\n")
        .file("ca", &std::fs::read_to_string(TRUSTED_ROOT).expect("a fixture"))
}

#[test]
fn shared_is_refused_with_the_reason_and_without_the_address() {
    const PASSWORD: &str = "shared.url: must not have a password: set \
                            FRONTEND_MAP__SHARED__PASSWORD, or `password_file`";
    for (lines, reason) in [
        ("url = \"redis://:hunter2@localhost\"", PASSWORD),
        ("url = \"rediss://map:hunter2@localhost:1/0\"", PASSWORD),
        ("url = \"http://map:hunter2@localhost\"", "shared.url: must be a URL such as redis://"),
        ("url = \"hunter2\"", "shared.url: must be a URL such as redis://host:6379"),
        ("url = \"redis://localhost/x\"", "shared.url: the path must be the number of a database"),
        ("url = \"redis://localhost?password=hunter2\"", "shared.url: must not have a query"),
        (
            "url = \"redis://localhost\"\npassword = \"hunter2\"",
            "shared: `password` is not a setting: secrets are not written in the settings file; \
             set FRONTEND_MAP__SHARED__PASSWORD, or `password_file`",
        ),
        (
            "url = \"redis://localhost\"\nkey_file = \"short\"",
            "shared.key_file: the key must have at least 32 bytes",
        ),
        ("url = \"redis://localhost\"\nkey_file = \"nowhere\"", "shared.key_file: "),
        ("url = \"redis://localhost\"\npassword_file = \"nowhere\"", "shared.password_file: "),
        ("url = \"redis://localhost\"\nprefix = \"\"", "shared.prefix: must be 1 to 64"),
        ("url = \"redis://localhost\"\nprefix = \"a*\"", "shared.prefix: must be 1 to 64"),
        ("key_file = \"key\"", "shared.url: must be set"),
        ("ca_file = \"ca\"", "shared.url: must be set"),
        ("url = \"rediss://localhost\"\nca_file = \"nowhere\"", "shared.ca_file: "),
        ("url = \"rediss://localhost\"\nca_file = \"key\"", "there is no certificate in PEM in it"),
        (
            "url = \"redis://localhost\"\nca_file = \"ca\"",
            "shared.ca_file: needs a `shared.url` that begins with rediss://",
        ),
        ("urll = \"redis://localhost\"", "`urll` is not a setting; did you mean `url`?"),
    ] {
        let (status, output) = check(&shared(lines));
        assert_eq!(status, Some(78), "{lines}: {output}");
        assert!(output.contains(reason), "{lines}: {output}");
        assert!(!output.contains("hunter2"), "{lines}: {output}");
    }
}

#[test]
fn address_of_a_variable_is_checked_in_the_same_way() {
    let setup = site("main").env("FRONTEND_MAP__SHARED__URL", "redis://:hunter2@localhost");
    let (status, output) = check(&setup);
    assert_eq!(status, Some(78), "{output}");
    assert!(output.contains("FRONTEND_MAP__SHARED__URL, shared.url: must not have a password"));
    assert!(!output.contains("hunter2"), "{output}");
}

#[test]
fn shared_is_accepted_with_each_setting() {
    for lines in [
        "url = \"\"",
        "url = \"redis://localhost\"",
        "url = \"rediss://map@[::1]:7000/15\"\nprefix = \"a.b-c:d_e\"\nkey_file = \"key\"\n\
         password_file = \"password\"\nca_file = \"ca\"",
    ] {
        let (status, output) = check(&shared(lines));
        assert_eq!(status, Some(0), "{lines}: {output}");
    }
}
