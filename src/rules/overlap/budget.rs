//! What is kept while patterns are compared with each other, and how much more may be looked at.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::samples::Taken;
use crate::rules::constraint::ValuePattern;
use crate::rules::locale::Locales;
use crate::rules::matching::{Pattern, RuleSet};

/// So many pairs, texts and paths are looked at for one question, which takes a quarter of a second:
/// 500 patterns with a hundred values each.
const MAX_LOOKS: usize = 16_000_000;
/// With more pairs than this, which is 2,000 patterns, none is looked at.
const MAX_PAIRS: usize = 2_000_000;

/// The patterns of a rule set, and what their segments take, found out once for each.
pub(super) struct SearchBudget<'r> {
    pub(super) rules: &'r RuleSet,
    taken: Vec<OnceCell<Vec<Taken>>>,
    shared: RefCell<Shared>,
    left: Cell<usize>,
}

/// Texts that two patterns both match, with slashes or without.
type Shared = FxHashMap<(ValuePattern, ValuePattern, bool), Rc<[String]>>;

/// What it costs to find these for one pair, in looks.
const SHARED_LOOKS: usize = 1_000;

impl<'r> SearchBudget<'r> {
    /// With nothing left to look at where each pair alone would be too much.
    pub(super) fn new(rules: &'r RuleSet) -> Self {
        let count = rules.patterns().len();
        let taken = std::iter::repeat_with(OnceCell::new).take(count).collect();
        let looks = Self { rules, taken, shared: RefCell::default(), left: Cell::new(0) };
        looks.renew();
        looks
    }

    /// For the next question.
    pub(super) fn renew(&self) {
        let count = self.taken.len();
        let comparable = count * count.saturating_sub(1) / 2 <= MAX_PAIRS;
        self.left.set(if comparable { MAX_LOOKS } else { 0 });
    }

    pub(super) fn pattern(&self, at: usize) -> &'r Pattern {
        &self.rules.patterns()[at]
    }

    pub(super) fn locales(&self) -> &'r Locales {
        self.rules.locales()
    }

    /// What each segment of the pattern at a place takes.
    pub(super) fn taken(&self, at: usize) -> &[Taken] {
        let pattern = self.pattern(at);
        let taken = |segment| Taken::of(pattern, segment, self.locales());
        self.taken[at].get_or_init(|| (0..pattern.segments.len()).map(taken).collect())
    }

    /// Texts that two patterns of placeholders both match.
    pub(super) fn shared(
        &self,
        one: &ValuePattern,
        other: &ValuePattern,
        slashes: bool,
    ) -> Rc<[String]> {
        let key = (one.clone(), other.clone(), slashes);
        let find = || {
            self.spend(SHARED_LOOKS);
            one.shared(other, slashes).into()
        };
        Rc::clone(self.shared.borrow_mut().entry(key).or_insert_with(find))
    }

    /// Notes that so much more was looked at.
    pub(super) fn spend(&self, looks: usize) {
        self.left.set(self.left.get().saturating_sub(looks));
    }

    /// Whether nothing more should be compared.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}
