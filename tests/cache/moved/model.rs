//! A model of the path history: random edits, updates, walks that succeed or fail, restarts and changes
//! of the rules, against a naive history. `MOVED_STEPS=100000` makes a long run.

mod naive;
mod settings;
mod world;

use std::collections::BTreeSet;

use frontend_map_catalog::moved::history::{Limits, Mirror, PathHistory, RowChange};
use frontend_map_catalog::moved::redirects::{FormerOwner, SiteHistory, former_owner};
use frontend_map_catalog::path_index::{Basis, PathIndex};
use frontend_map_catalog::snapshot::PublicUrl;
use frontend_map_rules::Pathname;

use naive::{FormerVersion, Naive};
use settings::{KEY, SOURCE};
use world::World;

const LIMITS: Limits = Limits { max_paths: 100_000, keep: 1_000_000 };

/// How often each kind of response was checked.
#[derive(Debug, Default)]
struct Seen {
    live: usize,
    moved: usize,
    moved_in_other_locale: usize,
    gone: usize,
    without: usize,
    unknown: usize,
}

fn steps() -> i64 {
    let set = std::env::var("MOVED_STEPS").ok();
    set.map_or(2_000, |steps| steps.parse().expect("a number of steps"))
}

#[test]
fn redirects_are_those_of_a_naive_history() {
    let seed = std::env::var("MOVED_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let mut world = World::new(seed);
    let (mut naive, mut history) = (Naive::default(), PathHistory::new(LIMITS));
    history.keep_changes(Mirror::Store);
    let (mut stored, mut checked) = (Vec::new(), Seen::default());
    for now in 0..steps() {
        let step = world.step();
        for publication in world.publications() {
            publication.enter(&history, now);
            naive.enter(&publication, now);
        }
        stored.extend(history.take_changes(Mirror::Store, usize::MAX));
        if step.is_restart {
            history = loaded(&stored, now);
        }
        check(&world, &naive, &history, now, &mut checked);
    }
    let Seen { live, moved, moved_in_other_locale: other, gone, without, unknown } = checked;
    for (count, least) in
        [(live, 500), (moved, 500), (other, 100), (gone, 500), (without, 500), (unknown, 500)]
    {
        assert!(count > least, "each kind of response was checked: {checked:?}");
    }
}

/// The history of a process that starts with what another one has stored.
fn loaded(stored: &[RowChange], now: i64) -> PathHistory {
    let history = PathHistory::new(LIMITS);
    let rows = stored.iter().map(|change| match change {
        RowChange::Put(row) => row.clone(),
        RowChange::Removed { .. } => panic!("nothing is beyond the limits: {change:?}"),
    });
    history.load(rows, now);
    history.keep_changes(Mirror::Store);
    history
}

fn check(world: &World, naive: &Naive, history: &PathHistory, now: i64, seen: &mut Seen) {
    let index = world.index();
    let site = world.site();
    let of = SiteHistory { history, id: history.site(SOURCE, KEY).expect("few sites"), now };
    // No document ever has the last ones.
    let never = ["/en/never", "/x/never"];
    let others: Vec<String> = World::of_all_locales().collect();
    let others = others.iter().map(String::as_str);
    let paths: BTreeSet<&str> =
        naive.paths().chain(world.paths()).chain(others).chain(never).collect();
    for path in paths {
        let pathname = Pathname::parse(path);
        let decision = index.decide(&site.rules, &pathname, None);
        let basis = decision.as_ref().map_or(Basis::Fresh, |decision| decision.basis);
        if matches!(basis, Basis::Missing(_) | Basis::Expired(_)) {
            seen.unknown += 1;
            continue;
        }
        if decision.is_some_and(|decision| decision.owner.is_some()) {
            seen.live += 1;
            continue;
        }
        let found = former_owner(of, site, &index, &pathname, None);
        let Some(expected) = naive.former(path) else {
            let other = world.in_default_locale(path);
            let version = other.as_deref().and_then(|other| naive.former(other));
            check_in_default_locale(world, &index, &found, version, seen);
            continue;
        };
        match (found, Some(expected)) {
            (FormerOwner::Moved(redirect), Some(version)) => {
                let target = redirect.to;
                assert_eq!(Some(target.path()), world.published(version), "{path} {version:?}");
                assert_eq!(redirect.since, version.last_seen, "{path}");
                assert_ne!(target.path(), path, "a loop");
                assert_live(&index, world, target);
                seen.moved += 1;
            }
            (FormerOwner::Gone { since }, Some(version)) => {
                assert_eq!(since, version.last_seen, "{path}");
                if let Some(target) = world.published(version) {
                    assert_taken(&index, world, target, version);
                }
                seen.gone += 1;
            }
            (FormerOwner::NotKnown(_), Some(version)) => {
                let target = world.published(version);
                let is_own = !world.is_known(&version.uid);
                assert!(is_own || target.is_some_and(|target| is_unknown(&index, world, target)));
                seen.unknown += 1;
            }
            (found, expected) => panic!("{path}: {found:?}, but it should be {expected:?}"),
        }
    }
}

/// A path that no version had. `version` had the same path in the first locale, which counts if its
/// document is not localized.
fn check_in_default_locale(
    world: &World,
    index: &PathIndex,
    found: &FormerOwner<'_>,
    version: Option<&FormerVersion>,
    seen: &mut Seen,
) {
    let version = version.filter(|version| !version.is_localized());
    let target = version.and_then(|version| world.published(version));
    match found {
        FormerOwner::None => {
            if let (Some(version), Some(target)) = (version, target) {
                assert_taken(index, world, target, version);
            }
            seen.without += 1;
        }
        FormerOwner::Moved(redirect) => {
            assert_eq!(Some(redirect.to.path()), target, "{version:?}");
            assert_live(index, world, redirect.to);
            seen.moved_in_other_locale += 1;
        }
        FormerOwner::NotKnown(_) => seen.unknown += 1,
        FormerOwner::Gone { .. } => panic!("no version had the path: {version:?}"),
        FormerOwner::Entry(_) => panic!("the site has no redirects"),
    }
}

/// A target leads to its document at once: no chain.
fn assert_live(index: &PathIndex, world: &World, target: PublicUrl<'_>) {
    let pathname = Pathname::parse(target.path());
    let decision = index.decide(&world.site().rules, &pathname, None).expect("a rule");
    let owner = decision.owner.expect("a document");
    assert_eq!(
        (owner.document_id(), owner.path()),
        (target.document_id(), target.path()),
        "a redirect leads to a live path"
    );
}

/// The only reason for which a published version is nowhere: another document has its path.
fn assert_taken(index: &PathIndex, world: &World, target: &str, version: &FormerVersion) {
    let pathname = Pathname::parse(target);
    let decision = index.decide(&world.site().rules, &pathname, None).expect("a rule");
    let rules = world.site().rules.rules();
    let is_other = |owner: PublicUrl<'_>| {
        owner.document_id() != version.id
            || rules[owner.rule()].content_type.as_str() != version.uid
    };
    assert!(decision.owner.is_some_and(is_other), "{target} {version:?}");
}

fn is_unknown(index: &PathIndex, world: &World, target: &str) -> bool {
    let pathname = Pathname::parse(target);
    let decision = index.decide(&world.site().rules, &pathname, None).expect("a rule");
    matches!(decision.basis, Basis::Missing(_) | Basis::Expired(_))
}
