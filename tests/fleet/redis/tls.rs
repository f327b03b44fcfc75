//! Redis behind TLS.

use std::process::Command;

use frontend_map_fleet::redis::{self as fleet_redis, Read, RedisUrl};

use super::fixture::{SOON, client_with, run, settings, until};
use crate::support::redis::Redis;
use crate::support::tls::TRUSTED_ROOT;

/// A file of `tests/fixtures`.
fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The variable with the port for TLS, for the test that another process runs.
const PORT: &str = "TEST_REDIS_TLS_PORT";

fn client_at(port: &str) -> fleet_redis::Client {
    let mut settings = settings(&Redis::absent());
    settings.url = RedisUrl::parse(&format!("rediss://127.0.0.1:{port}")).unwrap();
    client_with(&settings)
}

fn behind_tls(identity: &str) -> (Redis, String) {
    let [cert, key] = ["cert.pem", "key.pem"].map(|file| fixture(&format!("{identity}/{file}")));
    let redis = Redis::behind_tls(&cert, &key);
    let port = redis.tls_port().expect("it has one").to_string();
    (redis, port)
}

#[test]
fn certificate_that_is_not_trusted_makes_redis_unavailable_with_the_reason() {
    run(async {
        let (_redis, port) = behind_tls("self-signed");
        let client = client_at(&port);
        until("it is unavailable", async || {
            matches!(client.availability(), fleet_redis::Availability::Unavailable { .. })
        })
        .await;
        let state = format!("{:?}", client.availability());
        assert!(state.contains("certificate"), "{state}");
    });
}

#[test]
fn certificate_of_a_trusted_root_is_accepted() {
    let (redis, port) = behind_tls("trusted");
    let ended = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "--ignored", "redis::tls::in_a_process_with_trusted_roots"])
        .env("SSL_CERT_FILE", TRUSTED_ROOT)
        .env(PORT, port)
        .output()
        .expect("it runs");
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && output.contains("1 passed"), "{output}");
    assert_eq!(redis.command::<String>(&["GET", "map:2:over-tls"]), "yes");
}

#[test]
fn certificate_of_a_root_in_the_settings_is_accepted_and_no_other_one() {
    run(async {
        let (_redis, port) = behind_tls("trusted");
        let mut settings = settings(&Redis::absent());
        settings.url = RedisUrl::parse(&format!("rediss://127.0.0.1:{port}")).unwrap();
        settings.ca = Some(std::fs::read(TRUSTED_ROOT).unwrap());
        let client = client_with(&settings);
        until("it is available", async || client.is_available()).await;
        let (_other, port) = behind_tls("self-signed");
        settings.url = RedisUrl::parse(&format!("rediss://127.0.0.1:{port}")).unwrap();
        let client = client_with(&settings);
        until("it is unavailable", async || {
            matches!(client.availability(), fleet_redis::Availability::Unavailable { .. })
        })
        .await;
    });
}

/// The roots are those of the process: each test has its own.
#[test]
#[ignore = "certificate_of_a_trusted_root_is_accepted runs it in a process of its own"]
fn in_a_process_with_trusted_roots() {
    run(async {
        let client = client_at(&std::env::var(PORT).expect("the other test sets it"));
        until("it is available", async || client.is_available()).await;
        let mut reader = client.events();
        assert!(matches!(reader.next().await, Read::Gap { .. }), "on its own connection");
        let mut set = redis::cmd("SET");
        set.arg(client.key("over-tls")).arg("yes");
        client.command::<()>(&set, SOON).await.unwrap();
    });
}
