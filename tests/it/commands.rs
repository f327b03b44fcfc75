//! The other subcommands: `check`, `health`, `demo`, `--help`.

use std::net::TcpListener;

use crate::support::service::Setup;

#[test]
fn check_accepts_valid_settings_with_exit_status_0() {
    let ended = Setup::fixture().run(&["check"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
}

#[test]
fn check_refuses_invalid_settings_with_exit_status_78() {
    let ended = Setup::new("[[site]]\nkey = \"main\"\nlocales = []\n").run(&["check"]);
    assert_eq!(ended.status, Some(78), "{}", ended.stderr);
    assert!(ended.stderr.contains("main") && ended.stderr.contains("locale"), "{}", ended.stderr);
}

#[test]
fn health_exits_with_0_if_the_service_responds_and_else_with_1() {
    let service = Setup::fixture().start();
    let setup = Setup::fixture();
    for route in ["/livez", "/readyz"] {
        let url = format!("http://{}{route}", service.addr());
        let ended = setup.run(&["health", "--url", &url]);
        assert_eq!(ended.status, Some(0), "{url}: {}", ended.stderr);
    }
    let url = format!("http://{}/nope", service.addr());
    assert_eq!(setup.run(&["health", "--url", &url]).status, Some(1), "a 404 is not healthy");
    // A port that was free a moment ago, so nothing listens on it.
    let free =
        TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    assert_eq!(setup.run(&["health", "--url", &format!("http://{free}/livez")]).status, Some(1));
}

#[test]
fn demo_once_shows_a_request_to_every_route_and_exits_with_0() {
    let ended = Setup::without_settings()
        .unconfigured()
        .env("FRONTEND_MAP__SERVER__LISTEN", "127.0.0.1:0")
        .run(&["demo", "--once"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for wanted in [
        "curl",
        "/api/get-content-type?",
        "/api/frontend-url?",
        "/api/build-sitemap?",
        "\"matched\"",
        "\"path\"",
        "\"urls\"",
        "timeout after 10000ms",
    ] {
        assert!(ended.stdout.contains(wanted), "{wanted} is missing in\n{}", ended.stdout);
    }
}

#[test]
fn help_lists_every_subcommand() {
    let ended = Setup::without_settings().unconfigured().run(&["--help"]);
    assert_eq!(ended.status, Some(0));
    for command in ["serve", "demo", "check", "health", "--config"] {
        assert!(ended.stdout.contains(command), "{command} is missing in\n{}", ended.stdout);
    }
}
