//! The most work that any pathname can cause.

use rustc_hash::{FxHashMap, FxHashSet};

use super::AffixLengths;
use super::build::{Draft, Link};
use super::guard::Guard;

/// The most steps that any pathname can take.
///
/// The first use of a value pattern costs extra (`Cost::cold`). Counting that at each placeholder
/// and counting it once for each value pattern of the site are both upper bounds: the smaller one
/// is used.
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

/// From each node, one segment leads to at most one child by static text, to the children of at
/// most one group for each pair of affix lengths, and to all children behind a placeholder alone.
/// The sum of these, with the most expensive of the alternatives, is an upper bound. It is not
/// exact: static text that only one branch can contain is counted in each.
fn sum(drafts: &[Draft], groups: usize, guard_cost: impl Fn(u32) -> u32) -> u32 {
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
        let behind = |guard: u32| whole.saturating_add(guard_cost(guard));
        match draft.link {
            Link::Static => by_static[parent] = by_static[parent].max(whole),
            Link::Whole { guard } => add(&mut by_placeholder[parent], behind(guard)),
            Link::Mixed { group, guard } => add(&mut by_group[group as usize], behind(guard)),
        }
    }
    whole
}

/// One look-up for each pair of affix lengths, and the most expensive group that it can find.
fn mixed(draft: &Draft, by_group: &[u32]) -> u32 {
    let mut worst: FxHashMap<AffixLengths, u32> = FxHashMap::default();
    for (lengths, group) in &draft.mixed {
        let most = worst.entry(*lengths).or_default();
        *most = by_group[*group as usize].max(*most);
    }
    worst.values().fold(0, |sum, cost| sum.saturating_add(*cost).saturating_add(1))
}

fn add(sum: &mut u32, cost: u32) {
    *sum = sum.saturating_add(cost);
}
