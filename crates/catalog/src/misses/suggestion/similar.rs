//! Similar slugs: by the parts that two of them share (Dice's coefficient), which are words, pairs of
//! neighbouring words, and three characters in a row of a word.

use super::compared::ComparedPath;

/// How many parts are told apart: two that count as one cost time and change no suggestion much.
const PARTS: usize = 1 << 17;
/// By how many parts a slug is looked up.
const RAREST: usize = 10;
/// The most URLs with a part by which slugs are looked up.
const MAX_URLS: u32 = 20_000;
/// How many of these parts a URL must have to be compared.
const MIN_FOUND: u8 = 2;
/// The fewest parts of a slug that can be similar to another one.
const MIN_PARTS: usize = 4;
/// The least similarity of a suggestion, in thousandths.
const MIN_SIMILARITY: u32 = 400;

/// The slugs of missed paths, by their parts.
pub(super) struct SimilarSlugs {
    slugs: Vec<Vec<u32>>,
    /// For each part, how many URLs have it; only of parts of slugs.
    urls: Vec<u32>,
    is_wanted: Vec<bool>,
    /// For each part, the slugs that are looked up by it.
    by_part: Vec<Vec<u16>>,
    has_rows: bool,
    /// Parts of the present URL.
    parts: Vec<u32>,
    /// The number of the last URL that had a part.
    last_url: Vec<u32>,
    url: u32,
    found: Vec<u8>,
    touched: Vec<u16>,
}

impl SimilarSlugs {
    pub(super) fn new(paths: &[ComparedPath]) -> Self {
        let mut is_wanted = vec![false; PARTS];
        let slug = |path: &ComparedPath| {
            let mut parts = Vec::new();
            read_parts(path.slug(), &mut parts);
            for part in &parts {
                is_wanted[*part as usize] = true;
            }
            parts
        };
        let slugs: Vec<Vec<u32>> = paths.iter().map(slug).collect();
        Self {
            found: vec![0; slugs.len()],
            slugs,
            urls: vec![0; PARTS],
            is_wanted,
            by_part: vec![Vec::new(); PARTS],
            has_rows: false,
            parts: Vec::new(),
            last_url: vec![0; PARTS],
            url: 0,
            touched: Vec::new(),
        }
    }

    /// Counts the parts of a URL.
    pub(super) fn count(&mut self, url: &ComparedPath) {
        read_parts(url.slug(), &mut self.parts);
        for part in &self.parts {
            let part = *part as usize;
            if self.is_wanted[part] {
                self.urls[part] += 1;
            }
        }
    }

    /// Selects the slugs that are compared, after all URLs have been counted.
    pub(super) fn select(&mut self, is_selected: impl Fn(usize) -> bool) {
        for (row, parts) in self.slugs.iter().enumerate() {
            if parts.len() < MIN_PARTS || !is_selected(row) {
                continue;
            }
            let urls = |part: &u32| self.urls[*part as usize];
            let mut rarest: Vec<u32> =
                parts.iter().copied().filter(|part| (1..=MAX_URLS).contains(&urls(part))).collect();
            rarest.sort_by_key(urls);
            for part in rarest.into_iter().take(RAREST) {
                self.has_rows = true;
                self.by_part[part as usize].push(u16::try_from(row).expect("rows are few"));
            }
        }
    }

    /// Whether a slug can be similar to that of a URL.
    pub(super) fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// Calls `found` for each slug that is similar to that of a URL, with the similarity in thousandths.
    pub(super) fn find(&mut self, url: &ComparedPath, mut found: impl FnMut(usize, u32)) {
        read_parts(url.slug(), &mut self.parts);
        self.url += 1;
        for part in &self.parts {
            self.last_url[*part as usize] = self.url;
            for row in &self.by_part[*part as usize] {
                let times = &mut self.found[usize::from(*row)];
                if *times == 0 {
                    self.touched.push(*row);
                }
                *times = times.saturating_add(1);
            }
        }
        for row in self.touched.drain(..) {
            let row = usize::from(row);
            let times = std::mem::take(&mut self.found[row]);
            if times < MIN_FOUND {
                continue;
            }
            let own = &self.slugs[row];
            let shared = own.iter().filter(|part| self.last_url[**part as usize] == self.url);
            let similarity = dice(shared.count(), own.len(), self.parts.len());
            if similarity >= MIN_SIMILARITY {
                found(row, similarity);
            }
        }
    }
}

fn dice(shared: usize, one: usize, other: usize) -> u32 {
    u32::try_from(2_000 * shared / (one + other).max(1)).unwrap_or(0)
}

/// The parts of a slug, each once.
fn read_parts(slug: &str, parts: &mut Vec<u32>) {
    parts.clear();
    let mut before = None;
    for word in slug.split('-').map(str::as_bytes) {
        let whole = word.iter().fold(0x9e37_79b9, |hash: u32, byte| mix(hash, *byte));
        parts.push(place(whole));
        if let Some(before) = before.replace(whole) {
            parts.push(place(whole.wrapping_add(before.rotate_left(7))));
        }
        // The word with a character before and behind it, so that its first two and last two count too.
        let at = |at: usize| word.get(at.wrapping_sub(1)).copied().unwrap_or(b'-');
        for first in 0..word.len() {
            let three = (first..first + 3).fold(0x85eb_ca6b, |hash: u32, next| mix(hash, at(next)));
            parts.push(place(three));
        }
    }
    parts.sort_unstable();
    parts.dedup();
}

fn mix(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

fn place(hash: u32) -> u32 {
    (hash ^ (hash >> 15)) % u32::try_from(PARTS).expect("parts are few")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(one: &str, other: &str) -> u32 {
        let parts = |slug: &str| {
            let mut parts = Vec::new();
            read_parts(slug, &mut parts);
            parts
        };
        let (one, other) = (parts(one), parts(other));
        let shared = one.iter().filter(|part| other.contains(part)).count();
        dice(shared, one.len(), other.len())
    }

    #[test]
    fn similarity_is_that_of_words_and_of_characters() {
        assert_eq!(similarity("best-hotels-in-rome", "best-hotels-in-rome"), 1_000);
        assert_eq!(similarity("", ""), 1_000);
        for (one, other) in [
            ("best-hotels-in-rome", "top-hotels-rome"),
            ("acommodation", "accommodation"),
            ("jahresbericht-2023", "jahresbericht-2024"),
            ("the-art-of-the-deal", "art-deal"),
            ("colour-guide", "color-guide"),
        ] {
            let found = similarity(one, other);
            assert!((MIN_SIMILARITY..1_000).contains(&found), "{one} {other}: {found}");
        }
        for (one, other) in [("best-hotels-in-rome", "privacy-policy"), ("about-us", "contact-us")]
        {
            let found = similarity(one, other);
            assert!(found < MIN_SIMILARITY, "{one} {other}: {found}");
        }
    }
}
