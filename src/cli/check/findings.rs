//! What `check --strict` fails on, counted.

use std::collections::BTreeMap;

/// Numbers of findings by kind, in the order in which the kinds were first added.
#[derive(Default)]
pub(super) struct Findings {
    kinds: Vec<[&'static str; 2]>,
    counts: BTreeMap<&'static str, usize>,
}

impl Findings {
    /// Adds findings of a kind, which is named in the singular and in the plural.
    pub(super) fn add(&mut self, count: usize, kind: [&'static str; 2]) {
        if count > 0 {
            let total = self.counts.entry(kind[0]).or_default();
            if *total == 0 {
                self.kinds.push(kind);
            }
            *total += count;
        }
    }

    /// The text of all findings is the error.
    ///
    /// # Errors
    /// When there are any.
    pub(super) fn into_result(self) -> Result<(), String> {
        let text = |[one, many]: &[&str; 2]| match self.counts[one] {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let all: Vec<String> = self.kinds.iter().map(text).collect();
        if all.is_empty() { Ok(()) } else { Err(all.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn into_result_names_each_kind_once_with_its_count() {
        assert_eq!(Findings::default().into_result(), Ok(()));
        let mut findings = Findings::default();
        for (count, kind) in
            [(1, ["a", "as"]), (0, ["b", "bs"]), (2, ["c", "cs"]), (1, ["a", "as"])]
        {
            findings.add(count, kind);
        }
        assert_eq!(findings.into_result(), Err("2 as, 2 cs".to_owned()));
    }
}
