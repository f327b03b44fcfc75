//! A CMS with which no TLS connection can be made: operators read the reason, clients do not.

use std::path::Path;

use crate::support::cms::Cms;
use crate::support::front_of_cms::{
    SITEMAP, TOKEN, articles, assert_failure, assert_no_token, one_url, setup,
};
use crate::support::http;
use crate::support::script::{Act, Script};
use crate::support::service::Setup;

const REASON: &str = "the TLS handshake with the CMS failed: check its certificate, and whether \
                      cms.url should begin with http://";

/// A CMS with a certificate that no client trusts, and one that speaks plain HTTP.
fn peers() -> [Cms; 2] {
    let plain = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".to_vec();
    let plain = Script { acts: vec![Act::Send(plain), Act::Silence] };
    [Cms::greeting(Script { acts: vec![Act::Tls] }), Cms::greeting(plain)]
}

fn in_front_of(cms: &Cms) -> Setup {
    setup(&articles().strapi_at(&format!("https://{}", cms.addr())))
}

/// The reason with the address of the CMS.
fn reason(cms: &Cms) -> String {
    format!("{REASON} (CMS at https://{}", cms.addr())
}

#[test]
fn failed_handshake_is_named_in_the_log_and_not_in_responses() {
    for cms in peers() {
        let service = in_front_of(&cms).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false").start();
        for target in [SITEMAP, &one_url()] {
            let response = http::get(service.addr(), target);
            assert_failure(&response, 502, "BadGatewayError");
            let message = response.json()["error"]["message"].clone();
            assert_eq!(message, "the CMS sent an unusable response", "{target}");
            let text = response.text().to_lowercase();
            assert!(!text.contains("tls") && !text.contains("127.0.0.1"), "{text}");
            assert_no_token(&service, &response);
        }
        assert!(service.logs("a walk failed"), "{}", service.log());
        assert!(service.logs("documents could not be read"), "{}", service.log());
        assert_eq!(service.log().matches(&reason(&cms)).count(), 2, "{}", service.log());
    }
}

#[test]
fn failed_handshake_is_named_in_the_output_of_commands() {
    let explain = ["explain", "--uid", "plugin::cms.article", "--document", "a"];
    for cms in peers() {
        let setup = in_front_of(&cms);
        let out = setup.path().join("maps");
        let sitemap = ["sitemap", "--site", "main", "--out", out.to_str().expect("text")];
        for (args, status) in [
            (&["check"][..], 0),
            (&["check", "--strict"], 1),
            (&explain, 2),
            (&[&explain[..], &["--json"]].concat(), 2),
            (&sitemap, 1),
            (&["validate", "--site", "main"], 2),
        ] {
            let ended = setup.run(args);
            let text = format!("{}{}", ended.stdout, ended.stderr);
            assert_eq!(ended.status, Some(status), "{args:?}: {text}");
            assert!(text.contains(&reason(&cms)), "{args:?}: {text}");
            assert!(!text.contains(TOKEN), "{args:?}: {text}");
        }
        assert!(!Path::exists(&out.join("index.xml")), "no file without a list");
    }
}

#[test]
fn root_certificates_are_read_at_the_first_https_request() {
    let none = "no root certificates found";
    let [cms, _] = peers();
    let service = in_front_of(&cms)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false")
        .env("SSL_CERT_FILE", "/no/such/file")
        .start();
    assert_eq!(http::get(service.addr(), "/readyz").status, 200);
    assert!(service.logs("serving") && !service.log().contains(none), "{}", service.log());
    assert_failure(&http::get(service.addr(), SITEMAP), 502, "BadGatewayError");
    assert!(service.logs(none), "{}", service.log());
}
