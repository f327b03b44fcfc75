//! Many edits while instances are killed: no change is missing, and none is there twice.

use std::collections::BTreeMap;

use serde_json::Value;

use super::readers::{brief, cursor, read};
use crate::instances::{Instances, changed, instance};
use crate::support::content::Content;
use crate::support::wait::until_so;

/// How many edits there are: `TEST_FLEET_EDITS=200 cargo test --test fleet -- changes::edits`.
const EDITS: &str = "TEST_FLEET_EDITS";
/// The seed of a run that is repeated; each run prints its own.
const SEED: &str = "TEST_FLEET_SEED";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn reader_of_any_instance_gets_each_change_once_while_instances_are_killed() {
    let seed = number(SEED).unwrap_or_else(|| fastrand::u64(..));
    println!("{SEED}={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let edits = number(EDITS).unwrap_or(50);
    let mut instances = Instances::start(3, &Content::new(&[("en", "a", "a0")]));
    instances.leader();
    let mut place = cursor(&instances.all[0]);
    let mut pages = BTreeMap::from([("a".to_owned(), "/en/articles/a0".to_owned())]);
    let (mut changes, mut kills) = (0_u64, 0);
    for edit in 1..=edits {
        let id = ["a", "b", "c", "d"][random.usize(..4)];
        instances.content.publish("en", id, &format!("{id}{edit}"));
        changed(&instances.all[random.usize(..3)], id);
        if edit % 10 == 5 {
            // Without waiting for anything: the leader may be publishing.
            drop(instances.all.remove(random.usize(..3)));
            instances.all.push(instance(&instances.cms, &instances.redis).start());
            // The event was lost with the instance, perhaps.
            changed(&instances.all[0], id);
            kills += 1;
        }
        let expected = format!("/en/articles/{id}{edit}");
        until_so("the change is read", || {
            let service = &instances.all[random.usize(..3)];
            let found: Value = read(service, &place);
            assert_eq!(found["reset"], false, "edit {edit}: {}", service.log());
            for change in brief(&found) {
                let words: Vec<&str> = change.split(' ').collect();
                let before = pages.insert(words[1].to_owned(), words[2].to_owned());
                assert_eq!(before.as_deref(), words.get(3).copied(), "edit {edit}: {change}");
                changes += 1;
            }
            place = found["cursor"].as_str().expect("text").to_owned();
            pages.get(id) == Some(&expected)
        });
    }
    assert_eq!((changes, kills), (edits, edits / 10 + u64::from(edits % 10 >= 5)));
}
