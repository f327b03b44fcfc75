//! Texts that two patterns both match.

use regex_automata::dfa::Automaton;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, util::start};
use rustc_hash::FxHashSet;

use super::ValuePattern;

/// So many pairs of states are looked at: patterns of everyday size have fewer.
const MAX_STATES: usize = 1_000;
/// So many texts are enough: a third rule may take the first.
const MAX_TEXTS: usize = 4;
/// Where a repetition asks for more characters than this, no text is found.
const MAX_LEAST: u32 = 64;

/// Both patterns after some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    states: [StateID; 2],
    /// How many characters, up to as many as there have to be.
    count: u32,
}

/// Pairs in the order in which they were found, each with the one before and the byte between.
struct Walk<'p> {
    patterns: [&'p ValuePattern; 2],
    least: u32,
    found: Vec<(Pair, usize, u8)>,
    seen: FxHashSet<Pair>,
}

impl ValuePattern {
    /// Some texts that both match, the shortest first, and none for certain if none was left out
    /// for its size. With `slashes` a text may be more than one segment.
    pub(in crate::rules) fn shared(&self, other: &Self, slashes: bool) -> Vec<String> {
        let least = [self, other].map(|pattern| pattern.0.count.map_or(0, |[least, _]| least));
        let least = least[0].max(least[1]).min(MAX_LEAST);
        let patterns = [self, other];
        let Some(states) = start_states(patterns) else {
            return Vec::new();
        };
        let first = Pair { states, count: 0 };
        let seen = FxHashSet::from_iter([first]);
        let mut walk = Walk { patterns, least, found: vec![(first, 0, 0)], seen };
        let bytes: Vec<u8> = bytes(slashes).collect();
        let mut texts = Vec::new();
        let mut at = 0;
        while at < walk.found.len().min(MAX_STATES) && texts.len() < MAX_TEXTS {
            texts.extend(walk.text(at));
            walk.go_on(at, &bytes);
            at += 1;
        }
        texts
    }
}

impl Walk<'_> {
    /// The text up to here, if both match it.
    fn text(&self, mut at: usize) -> Option<String> {
        let ends = |side: usize| {
            let dfa = &self.patterns[side].0.dfa;
            dfa.is_match_state(dfa.next_eoi_state(self.found[at].0.states[side]))
        };
        if at == 0 || !ends(0) || !ends(1) {
            return None;
        }
        let mut bytes = Vec::new();
        while at > 0 {
            bytes.push(self.found[at].2);
            at = self.found[at].1;
        }
        bytes.reverse();
        let text = String::from_utf8(bytes).ok()?;
        self.patterns.iter().all(|pattern| pattern.is_match(&text)).then_some(text)
    }

    fn go_on(&mut self, at: usize, bytes: &[u8]) {
        let (Pair { states, count }, ..) = self.found[at];
        for byte in bytes {
            let next = |side: usize| {
                let dfa = &self.patterns[side].0.dfa;
                Some(dfa.next_state(states[side], *byte)).filter(|state| !dfa.is_dead_state(*state))
            };
            let (Some(one), Some(other)) = (next(0), next(1)) else {
                continue;
            };
            // A byte that goes on with a character is no new one.
            let count = (count + u32::from(byte & 0xC0 != 0x80)).min(self.least);
            let pair = Pair { states: [one, other], count };
            if self.seen.insert(pair) {
                self.found.push((pair, at, *byte));
            }
        }
    }
}

fn start_states(patterns: [&ValuePattern; 2]) -> Option<[StateID; 2]> {
    let config = start::Config::new().anchored(Anchored::Yes);
    let start = |pattern: &ValuePattern| pattern.0.dfa.start_state(&config).ok();
    Some([start(patterns[0])?, start(patterns[1])?])
}

/// What may stand in a segment, the plainest first.
fn bytes(slashes: bool) -> impl Iterator<Item = u8> {
    let plain = (b'a'..=b'z').chain(b'0'..=b'9').chain(*b"-_").chain(b'A'..=b'Z');
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let rest = (b' '..=b'~').chain(0x80..=0xFF);
    plain.chain(
        rest.filter(move |byte| !is_plain(byte) && *byte != b'\\' && (slashes || *byte != b'/')),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_texts_of_both() {
        for (one, other, slashes, expected) in [
            ("[a-m]+", "[k-z]+", false, Some("k")),
            ("[a-j]+", "[k-z]+", false, None),
            ("[3-9]\\d{3}", "\\d+", false, Some("3000")),
            ("[a-z0-9]+(-[a-z0-9]+)*", "[a-z]+-[0-9]+", false, Some("a-0")),
            ("[A-Z]{2}", "[A-Za-z]{2,}", false, Some("AA")),
            ("\\w{3,60}", "[é-ü]*", false, Some("ééé")),
            ("[a-z/-]+/x", "[^/]+/[^/]+", true, Some("a/x")),
            ("[a-z/-]+/x", "[^/]+/[^/]+", false, None),
            ("a*", "b*", false, None),
            ("a{3}", "a{4}", false, None),
        ] {
            let [a, b] = [one, other].map(|pattern| ValuePattern::new(pattern).unwrap());
            let first = a.shared(&b, slashes).into_iter().next();
            assert_eq!(first.as_deref(), expected, "{one} {other}");
        }
    }
}
