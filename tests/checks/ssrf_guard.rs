//! SSRF protection: a scripted resolver, and listeners that must not be reached.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use frontend_map_outbound::checks::{CheckResult, Failure, Validator};
use frontend_map_platform::http_client::LookUp;
use frontend_map_rules::frontend_url::BaseUrl;
use futures::StreamExt;

use crate::support::front_end::{Answer, FrontEnd};

/// A resolver with scripted answers, the last of which is repeated.
fn resolver(answers: &[&[&str]]) -> (LookUp, Arc<AtomicUsize>) {
    let parsed = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let answers: Vec<Vec<IpAddr>> = answers.iter().map(parsed).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let look_up = move |_: String| {
        let answer = answers[counted.fetch_add(1, SeqCst).min(answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) }) as _
    };
    (Arc::new(look_up), asked)
}

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

async fn front_end() -> FrontEnd {
    FrontEnd::start(|_| Answer::Close(PAGE.to_vec())).await
}

/// The results of `count` URLs on this host, at the port of the front end.
async fn check(look_up: LookUp, host: &str, peer: &FrontEnd, count: usize) -> Vec<CheckResult> {
    let address = peer.url("http", "");
    let (_, port) = address.rsplit_once(':').unwrap();
    let base = BaseUrl::parse(&format!("http://{host}:{port}")).unwrap();
    let validator = Validator::with_look_up(look_up).unwrap();
    let urls = std::iter::repeat_n(base.join("/"), count).enumerate();
    validator.check(urls).map(|(_, checked)| checked).collect().await
}

fn is_ok(checked: &CheckResult) -> bool {
    matches!(checked, CheckResult::Response { status: 200, .. })
}

const NOT_ALLOWED: CheckResult = CheckResult::Failed(Failure::AddressNotAllowed);

#[tokio::test]
async fn name_with_an_address_of_this_machine_is_not_connected_to() {
    let canary = front_end().await;
    for address in [
        "127.0.0.1",
        "127.1.2.3",
        "0.0.0.0",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:0.0.0.0",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "2001:0:102:304::80ff:fffe",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "fe80::1",
    ] {
        let (look_up, asked) = resolver(&[&[address]]);
        let checked = check(look_up, "www.example.com", &canary, 2).await;
        assert_eq!(checked, [NOT_ALLOWED, NOT_ALLOWED], "{address}");
        assert_eq!(asked.load(SeqCst), 2, "{address}");
    }
    assert_eq!(canary.accepts(), 0);
}

#[tokio::test]
async fn connection_goes_to_an_address_of_the_checked_look_up() {
    let peer = front_end().await;
    // Each connection has one look-up and uses its addresses: the first leads here, all later ones to
    // an address that no site has.
    let (look_up, asked) = resolver(&[&["127.0.0.1"], &["169.254.169.254"]]);
    let checked = check(look_up, "localhost", &peer, 20).await;
    assert_eq!(checked.iter().filter(|checked| is_ok(checked)).count(), 1);
    assert_eq!(checked.iter().filter(|checked| **checked == NOT_ALLOWED).count(), 19);
    assert_eq!((asked.load(SeqCst), peer.accepts()), (20, 1));
    // And the other way round: a refused name is not allowed later in the run.
    let (look_up, _) = resolver(&[&["169.254.169.254"], &["127.0.0.1"]]);
    let checked = check(look_up, "www.example.com", &peer, 20).await;
    assert!(checked.iter().all(|checked| *checked == NOT_ALLOWED), "{checked:?}");
    assert_eq!(peer.accepts(), 1);
}

#[tokio::test]
async fn localhost_and_addresses_in_the_settings_are_allowed() {
    let peer = front_end().await;
    let (look_up, asked) = resolver(&[&["127.0.0.1", "::1"]]);
    assert!(is_ok(&check(Arc::clone(&look_up), "localhost", &peer, 1).await[0]));
    assert_eq!(asked.load(SeqCst), 1);
    // An address in the URL is not looked up.
    assert!(is_ok(&check(Arc::clone(&look_up), "127.0.0.1", &peer, 1).await[0]));
    assert!(is_ok(&check(Arc::clone(&look_up), "[::ffff:7f00:1]", &peer, 1).await[0]));
    assert_eq!(asked.load(SeqCst), 1);
    for other in ["localhost.example.com", "www.localhost", "localhost."] {
        let checked = check(Arc::clone(&look_up), other, &peer, 1).await;
        assert_eq!(checked, [NOT_ALLOWED], "{other}");
    }
    assert_eq!(peer.accepts(), 3);
}

#[tokio::test]
async fn only_allowed_addresses_of_a_name_are_tried() {
    let peer = front_end().await;
    let (look_up, _) = resolver(&[&["169.254.169.254", "127.0.0.1", "100.64.0.1"]]);
    assert!(is_ok(&check(look_up, "localhost", &peer, 1).await[0]));
}
