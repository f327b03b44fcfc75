//! How much Redis holds.

use super::Stored;
use crate::instances::{Instances, UID, changed, sorted};
use crate::support::content::Content;
use crate::support::http;
use crate::support::wait::until_so;

const URLS: usize = 50_000;

/// The bytes of these keys, as Redis counts them.
fn bytes(stored: &mut Stored, keys: &[String]) -> usize {
    keys.iter()
        .map(|key| {
            stored.run::<usize>(redis::cmd("MEMORY").arg("USAGE").arg(key).arg("SAMPLES").arg(0))
        })
        .sum()
}

#[test]
fn list_of_50_000_urls_takes_a_few_bytes_a_url_and_an_edit_some_hundred() {
    let content = Content::many(&["en"], URLS);
    let instances = Instances::start(2, &content);
    let mut stored = Stored::of(&instances.redis);
    let mut keys = stored.chunk_keys();
    keys.push(stored.pointer_key());
    let base = bytes(&mut stored, &keys);
    println!("{base} bytes for {URLS} URLs: {} a URL", base / URLS);
    assert!(base < 20 * URLS, "{base} bytes");

    let count = 10;
    // Not the list: to parse it takes longer than an edit.
    let target = format!("/api/frontend-urls?site=main&uid={UID}&documentId=d00007&locale=en");
    for n in 0..count {
        let slug = format!("moved-{n}");
        content.publish("en", "d00007", &slug);
        changed(&instances.all[n % 2], "d00007");
        until_so("the edit reaches all", || {
            let shown = |service| http::get(service, &target).text().contains(&slug);
            instances.all.iter().all(|service| shown(service.addr()))
        });
    }
    let deltas = stored.deltas_key();
    let edits = bytes(&mut stored, &[deltas]);
    println!("{edits} bytes for {count} edits: {} an edit", edits / count);
    assert!(edits < 1_000 * count, "{edits} bytes");
    assert_eq!(instances.walks(), 1);
    assert_eq!(sorted(&instances.served(0)), sorted(&instances.served(1)));
}
