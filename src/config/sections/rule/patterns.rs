//! The patterns of all settings, compiled.

use std::collections::HashMap;

use crate::rules::{Constraint, ConstraintError};

/// The most memory that all compiled patterns take, in bytes: 400 with a Unicode class. Compiling
/// so many takes two seconds.
const MAX_PATTERNS: usize = 64 << 20;

/// The patterns of all settings, each compiled once however many rules have it.
#[derive(Default)]
pub(in crate::config) struct Patterns {
    compiled: HashMap<String, Result<Constraint, ConstraintError>>,
    size: usize,
}

impl Patterns {
    pub(super) fn get(&mut self, pattern: String) -> Result<Constraint, ConstraintError> {
        let size = &mut self.size;
        let compile = |pattern: &String| {
            if *size > MAX_PATTERNS {
                return Err(ConstraintError::Pattern(TOO_MANY.to_owned()));
            }
            let compiled = Constraint::pattern(pattern);
            if let Ok(Constraint::Pattern(pattern)) = &compiled {
                *size += pattern.size();
            }
            compiled
        };
        self.compiled.entry(pattern).or_insert_with_key(compile).clone()
    }
}

const TOO_MANY: &str = "all patterns together are larger than 64 MiB when compiled: use ASCII classes such as `[a-z0-9-]`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_compiled_once() {
        let mut patterns = Patterns::default();
        let mut first = || patterns.get(r"\w+".to_owned()).unwrap();
        let _ = first();
        let again = allocation_counter::measure(|| drop(first()));
        // The text of the key alone.
        assert!(again.bytes_total < 100, "{again:?}");
    }

    #[test]
    fn patterns_have_a_bound_together() {
        let mut patterns = Patterns { size: MAX_PATTERNS, ..Patterns::default() };
        assert!(patterns.get("a".to_owned()).is_ok());
        let error = patterns.get("b".to_owned()).unwrap_err().to_string();
        assert!(error.contains("64 MiB"), "{error}");
        assert!(patterns.get("a".to_owned()).is_ok());
    }
}
