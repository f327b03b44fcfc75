//! Compares the texts that spans of several patterns match.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::automaton::Automaton;
use super::budget::Budget;
use super::product::{SharedTable, shortest_text};
use super::span::{Key, Span};
use super::table::Table;
use super::values::Texts;

/// The cost of building a table, in comparisons.
const TABLE_COST: usize = 300;

/// Compares spans and remembers the results.
pub(super) struct Comparison<'r> {
    pathnames: SharedTable<'r>,
    /// Equal keys have equal numbers.
    keys: RefCell<FxHashMap<Key<'r>, u32>>,
    tables: RefCell<FxHashMap<u32, SharedTable<'r>>>,
    places: RefCell<FxHashMap<[usize; 2], Option<u32>>>,
    /// The texts of spans with a list of values.
    texts: RefCell<FxHashMap<[usize; 2], Rc<Texts<'r>>>>,
    /// A text that the spans of two keys share.
    shared: RefCell<FxHashMap<[u32; 2], Option<String>>>,
    /// Whether the span of the first key matches all texts of the second.
    covering: RefCell<FxHashMap<[u32; 2], bool>>,
}

impl<'r> Comparison<'r> {
    pub(super) fn new() -> Self {
        let pathnames = Table::new(Automaton::of_pathnames());
        Self {
            pathnames: Rc::new(RefCell::new(pathnames)),
            keys: RefCell::default(),
            tables: RefCell::default(),
            places: RefCell::default(),
            texts: RefCell::default(),
            shared: RefCell::default(),
            covering: RefCell::default(),
        }
    }

    /// A text that both spans match and none of `refusing` does.
    pub(super) fn shared_text(
        &self,
        both: [Span<'r>; 2],
        refusing: &[Span<'r>],
        budget: &Budget,
    ) -> Option<String> {
        let wanted = |text: &str| !refusing.iter().any(|span| span.accepts(text));
        if let Some(text) = both[0].static_text().or(both[1].static_text()) {
            let fits = both.iter().all(|span| span.accepts(text)) && wanted(text);
            return fits.then(|| text.to_owned());
        }
        let lists = both.map(|span| self.texts(&span)).into_iter().zip([both[1], both[0]]);
        let lists = lists.filter_map(|(texts, other)| Some((texts?, other)));
        if let Some((texts, other)) = lists.min_by_key(|(texts, _)| texts.len()) {
            let found = texts.iter().position(|text| other.accepts(text) && wanted(text));
            budget.spend(found.unwrap_or(texts.len()));
            return found.map(|at| texts[at].to_string());
        }
        let keys = both.map(|span| self.key(&span));
        let pair = match keys {
            [Some(one), Some(other)] if refusing.is_empty() => Some([one, other]),
            _ => None,
        };
        if let Some(known) = pair.and_then(|keys| self.shared.borrow().get(&keys).cloned()) {
            return known;
        }
        let fits = |text: &String| both.iter().all(|span| span.is_text(text)) && wanted(text);
        let plain = plain_texts(both).into_iter().find(fits);
        let text = plain.or_else(|| self.product(&both, refusing, budget));
        if let Some(keys) = pair {
            self.shared.borrow_mut().insert(keys, text.clone());
        }
        text
    }

    /// Whether a span certainly matches every text of another.
    pub(super) fn covers(&self, wide: Span<'r>, narrow: Span<'r>, budget: &Budget) -> bool {
        if let Some(text) = narrow.static_text() {
            return wide.accepts(text);
        }
        if let Some(texts) = self.texts(&narrow) {
            let refused = texts.iter().position(|text| !wide.accepts(text));
            budget.spend(refused.unwrap_or(texts.len()));
            return refused.is_none();
        }
        let keys = match [&wide, &narrow].map(|span| self.key(span)) {
            [Some(one), Some(other)] => [one, other],
            _ => return self.covers_by_product(wide, narrow, budget),
        };
        let known = self.covering.borrow().get(&keys).copied();
        known.unwrap_or_else(|| {
            let covers = keys[0] == keys[1] || self.covers_by_product(wide, narrow, budget);
            self.covering.borrow_mut().insert(keys, covers);
            covers
        })
    }

    fn covers_by_product(&self, wide: Span<'r>, narrow: Span<'r>, budget: &Budget) -> bool {
        let escaping = |text: &String| narrow.is_text(text) && !wide.accepts(text);
        wide.is_free()
            || (!plain_texts([narrow; 2]).iter().any(escaping)
                && self.product(&[narrow], &[wide], budget).is_none()
                && !budget.is_exceeded())
    }

    fn product(
        &self,
        accepting: &[Span<'r>],
        refusing: &[Span<'r>],
        budget: &Budget,
    ) -> Option<String> {
        let table = |span: &Span<'r>| self.table(span, budget);
        let mut accepting: Vec<_> = accepting.iter().map(table).collect();
        accepting.push(Rc::clone(&self.pathnames));
        let refusing: Vec<_> = refusing.iter().map(table).collect();
        shortest_text(&accepting, &refusing, budget).unwrap_or_else(|_| {
            budget.exceed();
            None
        })
    }

    /// All texts of a span, if they can be listed.
    fn texts(&self, span: &Span<'r>) -> Option<Rc<Texts<'r>>> {
        if !span.has_values() {
            return span.texts().map(Rc::new);
        }
        if let Some(texts) = self.texts.borrow().get(&span.place()) {
            return Some(Rc::clone(texts));
        }
        let texts = Rc::new(span.texts()?);
        self.texts.borrow_mut().insert(span.place(), Rc::clone(&texts));
        Some(texts)
    }

    /// The number of a span's key, if it is a single segment without a list of texts.
    fn key(&self, span: &Span<'r>) -> Option<u32> {
        if span.is_rest() {
            return None;
        }
        let mut places = self.places.borrow_mut();
        *places.entry(span.place()).or_insert_with(|| {
            let key = span.key()?;
            let mut keys = self.keys.borrow_mut();
            let next = u32::try_from(keys.len()).expect("fewer segments than 4 billion");
            Some(*keys.entry(key).or_insert(next))
        })
    }

    fn table(&self, span: &Span<'r>, budget: &Budget) -> SharedTable<'r> {
        let table = || {
            budget.spend(TABLE_COST);
            Rc::new(RefCell::new(Table::new(span.automaton())))
        };
        match self.key(span) {
            Some(key) => Rc::clone(self.tables.borrow_mut().entry(key).or_insert_with(table)),
            None => table(),
        }
    }
}

/// Likely examples. A product is computed only when none of them is one.
fn plain_texts(both: [Span<'_>; 2]) -> Vec<String> {
    if both[0].is_rest() {
        return both.iter().filter_map(Span::plain_path).collect();
    }
    let [before, after] = longest_around(both);
    let values = plain_values(both);
    values.iter().map(|value| [before, value, after].concat()).collect()
}

fn plain_values(both: [Span<'_>; 2]) -> &'static [&'static str] {
    match both.map(|span| span.has_pattern()) {
        [false, false] if both.iter().any(Span::is_year) => &["2024", "1999"],
        [false, false] => &["x", "x-1", "y-2"],
        _ => &["x"],
    }
}

/// The longer of the texts before and of those after the value: each common text begins and ends
/// with these.
fn longest_around<'r>(both: [Span<'r>; 2]) -> [&'r str; 2] {
    let [[before, after], [other_before, other_after]] = both.map(|span| span.around());
    let longer = |one: &'r str, other: &'r str| if one.len() > other.len() { one } else { other };
    [longer(before, other_before), longer(after, other_after)]
}
