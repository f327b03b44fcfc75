//! The other subcommands: `check`, `health`, `demo`, `--help`.

use std::net::{SocketAddr, TcpListener};
use std::process::Command;

use crate::support::http;
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
        "\"count\":7,\"byClass\":{\"2xx\":3,\"3xx\":1,\"4xx\":1,\"5xx\":1,\"error\":1}",
        "/en/articles/welcome\",\"status\":200,\"ok\":true",
        "/en/articles/stalled\",\"status\":null,\"ok\":false",
    ] {
        assert!(ended.stdout.contains(wanted), "{wanted} is missing in\n{}", ended.stdout);
    }
    assert!(!ended.stdout.contains('\u{1b}'), "no colours without a terminal: {}", ended.stdout);
    assert_eq!(ended.stderr, "", "no log lines");
}

#[test]
fn demo_refuses_a_settings_file_with_exit_status_2() {
    let ended = Setup::new("").run(&["demo", "--once"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""));
    let message = "error: the demo reads no settings: leave --config out, or run `serve`\n";
    assert!(ended.stderr.starts_with(message), "{}", ended.stderr);
}

#[test]
fn demo_has_a_front_page_whose_links_respond_and_log_lines_with_v() {
    let demo = Setup::without_settings().unconfigured().begin(&["demo", "-v"]);
    let address = demo.stdout_between("\n   service   http://", "\n");
    let address: SocketAddr = address.parse().expect("an address");
    let page = http::get(address, "/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type").as_deref(), Some("text/html; charset=utf-8"));
    let links = page
        .text()
        .split("class=\"request\" href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().expect("a link").replace("&#38;", "&"))
        .collect::<Vec<_>>();
    assert_eq!(links.len(), 7, "{links:?}");
    for link in links.iter().filter(|link| !link.ends_with("validate=true")) {
        let expected = if link.contains("p3noslug") { 404 } else { 200 };
        assert_eq!(http::get(address, link).status, expected, "{link}");
    }
    let head = http::send(address, "HEAD", "/", &[]);
    assert_eq!((head.status, head.text()), (200, ""));
    assert_eq!(http::send(address, "POST", "/", &[]).status, 404, "as `serve` responds");
    assert_eq!(http::get(address, "/nope").status, 404);
    demo.signal("INT");
    let ended = demo.wait();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains(" INFO "), "log lines with -v: {:?}", ended.stderr);
}

#[test]
fn closed_stdout_is_no_message_and_a_failure() {
    for command in ["check", "demo"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = Command::new(env!("CARGO_BIN_EXE_frontend-map"));
        if command == "check" {
            child.arg("--config").arg("tests/fixtures/main/settings.toml");
        }
        let ended = child.arg(command).stdout(writer).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), &*stderr), (Some(1), ""), "{command}");
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

/// The terminal is the one that `script` makes; no word here has a space in it.
const TERMINAL: [&str; 4] = ["sh", "-c", "exec script -qec \"$*\" /dev/null", "sh"];

#[test]
fn check_and_explain_have_colours_on_a_terminal_without_no_color() {
    let explain = ["explain", "--site", "main", "/en/articles/hello-world"];
    for args in [&["check"][..], &explain[..]] {
        let plain = Setup::fixture().run(args).stdout;
        for (name, value) in [("X", ""), ("NO_COLOR", "1"), ("TERM", "dumb")] {
            let setup = Setup::fixture().behind(&TERMINAL).env("TERM", "xterm").env(name, value);
            let shown = setup.run(args).stdout.replace("\r\n", "\n");
            assert_eq!(shown.contains("\u{1b}["), name == "X", "{args:?} {name}: {shown:?}");
            assert_eq!(without_colours(&shown), plain, "{args:?} {name}");
        }
    }
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').expect("a colour").1).collect::<String>()
}

#[test]
fn log_lines_of_a_command_are_on_a_terminal_only_with_v() {
    let settings = "[cms]\nurl = \"http://127.0.0.1:1\"\n[[site]]\nkey = \"main\"\n\
        front_end_url = \"https://www.example.com\"\nlocales = [\"en\"]\n[[site.rule]]\n\
        content_type = \"api::post.post\"\ntemplate = \"/{slug}\"\n";
    let setup = || Setup::new(settings).env("FRONTEND_MAP__CMS__TOKEN", "t").env("TERM", "xterm");
    for (flag, on_a_terminal, logs) in
        [("--gzip", true, false), ("-v", true, true), ("--gzip", false, true)]
    {
        let setup = if on_a_terminal { setup().behind(&TERMINAL) } else { setup() };
        let ended = setup.run(&["sitemap", "--site", "main", "--out", "out", flag]);
        let shown = ended.stdout + &ended.stderr;
        assert_eq!(ended.status, Some(1), "{shown}");
        assert_eq!(shown.contains(" WARN "), logs, "{flag}, terminal {on_a_terminal}: {shown}");
        assert!(shown.contains("frontend-map: api::post.post: the CMS"), "{shown}");
    }
}
