//! A process that is killed while it writes: the store has the last snapshot that was committed, or
//! the one that was being written.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::changes::log::{ChangeLog, Filter, Kind, Recorder, Since};
use frontend_map_catalog::snapshot::{Builder, Listing, Snapshot};
use frontend_map_platform::metrics::StoreCounters;
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};
use frontend_map_store::{SnapshotKey, Store, StoredSnapshot, Urgency};

use super::folder;

/// The file into which the child process writes; without it there is nothing to do.
const PATH: &str = "TEST_STORE_PATH";
/// How often a process is killed.
const KILLS: &str = "TEST_STORE_KILLS";
const UID: &str = "api::a.a";
const BUILDER: Builder = Builder { path_table: true };

fn rules() -> RuleSet {
    let rule = Rule::new(
        ContentTypeUid::parse(UID).expect("a content type"),
        Template::parse("/{slug}").expect("a template"),
    );
    let locales = vec![Locale::parse("en").expect("a locale")];
    let locales = Locales::new(locales).expect("locales");
    RuleSet::new(locales, LocalePrefix::Always, vec![rule])
}

/// The snapshot with this number, which each of its paths has. Its size differs from that of others.
fn snapshot(number: u64) -> Snapshot {
    let rules = rules();
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let mut part = listing.part();
    let fields: Arc<[FieldPath]> = Arc::new([FieldPath::parse("slug").expect("a field")]);
    for n in 0..=(number * 977 % 3_000) {
        part.add(&Document {
            id: format!("id{n}").into(),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: fields.clone(),
            values: vec![FieldValue::Text(format!("{number}-{n}").into())],
        });
    }
    BUILDER.finish(vec![part]).expect("a snapshot")
}

fn key() -> SnapshotKey {
    SnapshotKey {
        site: "main".to_owned(),
        content_type: UID.to_owned(),
        fingerprint: 1,
        source: 2,
        locales: LocaleNames::of(rules().locales(), &Hosts::default()),
    }
}

/// Each snapshot changes all paths: the changes of the last one are kept, so that the file stays small.
fn log() -> Arc<ChangeLog> {
    let log = Arc::<ChangeLog>::default();
    log.set_keep(6_000);
    log
}

/// The greatest number in the paths of the changes: that of the last snapshot whose changes are there.
fn number_in_log(log: &ChangeLog) -> u64 {
    let (mut last, filter) =
        (0, Filter { with_unlisted: true, kinds: &[Kind::Added, Kind::Moved] });
    log.read("main", Some(Since::Oldest), usize::MAX, filter, |change| {
        let number = change.path.trim_start_matches('/').split('-').next().expect("a number");
        last = last.max(number.parse().expect("a number"));
    });
    last
}

fn save(store: &Store, number: u64) {
    let snapshot = Arc::new(snapshot(number));
    let (begun, took) = (Instant::now(), Duration::ZERO);
    store.save(StoredSnapshot { key: key(), snapshot, begun, took }, Urgency::Now);
}

/// The number of the stored snapshot, all of which is there; 0 without one.
fn number_in(store: &Store) -> u64 {
    let found = store.load("main", UID, BUILDER);
    let Some(found) = found.first() else { return 0 };
    assert_eq!(found.key, key());
    let path = found.snapshot.listed().next().expect("a path").path().to_owned();
    let number = path.trim_start_matches('/').split('-').next().expect("a number");
    let number = number.parse().expect("a number");
    assert_eq!(found.snapshot.urls_hash(), snapshot(number).urls_hash());
    number
}

fn stored(path: &Path) -> u64 {
    let log = log();
    let recorder = Recorder::new(Arc::clone(&log));
    let store = Store::start(Some(path.to_owned()), Arc::default(), recorder, Arc::default());
    let number = number_in(&store);
    // The first snapshot is no change.
    let in_log = number_in_log(&log);
    assert!(in_log == number || (number <= 1 && in_log == 0), "{in_log} beside {number}");
    store.close();
    number
}

/// Run in a process of its own by the test below. Prints the number of each snapshot once it has been
/// written.
#[test]
fn child_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let counters = Arc::<StoreCounters>::default();
    let store = Store::start(
        Some(path.clone().into()),
        Arc::default(),
        Recorder::new(log()),
        Arc::clone(&counters),
    );
    for number in number_in(&store) + 1.. {
        let before = counters.written.get();
        save(&store, number);
        while counters.written.get() == before {
            std::thread::sleep(Duration::from_micros(50));
        }
        println!("written {number}");
    }
}

/// `TEST_STORE_KILLS=1000 cargo test --test cache -- store::crashes` kills a thousand times.
#[test]
fn store_has_the_last_snapshot_or_the_one_in_flight_after_kills() {
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(100);
    let (_folder, path) = folder();
    let mut last = 0;
    for kill in 0..kills {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "store::crashes::child_writes_until_it_is_killed", "--nocapture"])
            .env(PATH, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        // Sometimes before the first write has ended.
        let wanted = last + fastrand::u64(0..3);
        let mut written = last;
        let number = |line: String| line.rsplit("written ").next()?.parse::<u64>().ok();
        while written < wanted {
            let line = lines.next().expect("a line").expect("text");
            written = number(line).unwrap_or(written);
        }
        std::thread::sleep(Duration::from_micros(fastrand::u64(0..8_000)));
        child.kill().expect("it runs");
        child.wait().expect("it has ended");
        for line in lines.map_while(Result::ok) {
            written = number(line).unwrap_or(written);
        }
        last = stored(&path);
        assert!((written..=written + 1).contains(&last), "kill {kill}: {last} after {written}");
    }
    assert!(last > 0, "something was written");
}
