//! How much work a pathname can make, whatever it is.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Shape;
use super::draft::{Draft, Link};
use super::guard::Guard;

/// The most steps that any pathname can cost.
///
/// What a pattern costs the first time is counted wherever its placeholder is, or once for each
/// pattern of the site: both are bounds.
pub(super) fn cost(drafts: &[Draft], guards: &[Guard], groups: usize) -> u32 {
    let each_time = sum(drafts, groups, |guard| {
        let cost = guards[guard as usize].cost();
        cost.warm.saturating_add(cost.cold)
    });
    let later = sum(drafts, groups, |guard| guards[guard as usize].cost().warm);
    let mut seen = FxHashSet::default();
    let first = guards.iter().filter(|guard| guard.pattern().is_some_and(|p| seen.insert(p)));
    let first = first.fold(0_u32, |sum, guard| sum.saturating_add(guard.cost().cold));
    each_time.min(later.saturating_add(first))
}

/// From each node, one segment leads to at most one node by static text, for each shape to the
/// choices of at most one pair of texts, and to all nodes behind a placeholder alone; so the sum of
/// these, the dearest where there is an alternative, is a bound. It is not exact: static text that
/// only one branch can meet is counted for each.
fn sum(drafts: &[Draft], groups: usize, of_guard: impl Fn(u32) -> u32) -> u32 {
    let mut by_static = vec![0_u32; drafts.len()];
    let mut by_placeholder = vec![0_u32; drafts.len()];
    let mut by_group = vec![0_u32; groups];
    let mut whole = 0;
    // Children come after their parents.
    for (id, draft) in drafts.iter().enumerate().rev() {
        let own = 1 + u32::from(!draft.lengths.is_empty());
        let below = [by_static[id], by_placeholder[id], mixed(draft, &by_group)];
        whole = below.into_iter().fold(own, u32::saturating_add);
        if id == 0 {
            break;
        }
        let parent = draft.parent as usize;
        let past = |guard: u32| whole.saturating_add(of_guard(guard));
        match draft.link {
            Link::Static => by_static[parent] = by_static[parent].max(whole),
            Link::Whole { guard } => add(&mut by_placeholder[parent], past(guard)),
            Link::Mixed { group, guard } => add(&mut by_group[group as usize], past(guard)),
        }
    }
    whole
}

/// One look-up for each shape, and the dearest that each can find.
fn mixed(draft: &Draft, by_group: &[u32]) -> u32 {
    let mut dearest: FxHashMap<Shape, u32> = FxHashMap::default();
    for (shape, group) in &draft.mixed {
        let most = dearest.entry(*shape).or_default();
        *most = by_group[*group as usize].max(*most);
    }
    dearest.values().fold(0, |sum, cost| sum.saturating_add(*cost).saturating_add(1))
}

fn add(sum: &mut u32, cost: u32) {
    *sum = sum.saturating_add(cost);
}
