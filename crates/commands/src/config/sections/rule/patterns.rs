//! The compiled patterns of all rules, within a memory limit.

use std::collections::HashMap;

use frontend_map_rules::{Constraint, ConstraintError};

/// The most memory of all compiled patterns, in bytes: enough for 400 with a Unicode class, which
/// take two seconds to compile.
const MAX_SIZE: usize = 64 << 20;

/// The compiled patterns; each is compiled once, however many rules have it.
#[derive(Default)]
pub(in crate::config) struct Patterns {
    compiled: HashMap<String, Result<Constraint, ConstraintError>>,
    size: usize,
}

impl Patterns {
    pub(super) fn get(&mut self, pattern: String) -> Result<Constraint, ConstraintError> {
        let size = &mut self.size;
        let compile = |pattern: &String| {
            if *size > MAX_SIZE {
                return Err(ConstraintError::Pattern(TOO_LARGE.to_owned()));
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

const TOO_LARGE: &str = "the compiled patterns of all rules need more than 64 MiB: use ASCII classes such as `[a-z0-9-]`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn get_compiles_a_pattern_once() {
        let mut patterns = Patterns::default();
        let mut first = || patterns.get(r"\w+".to_owned()).unwrap();
        let _ = first();
        let again = allocation_counter::measure(|| drop(first()));
        // Only the text of the key.
        assert!(again.bytes_total < 100, "{again:?}");
    }

    #[test]
    fn get_refuses_new_patterns_above_the_memory_limit() {
        let mut patterns = Patterns { size: MAX_SIZE, ..Patterns::default() };
        assert!(patterns.get("a".to_owned()).is_ok());
        let error = patterns.get("b".to_owned()).unwrap_err().to_string();
        assert!(error.contains("64 MiB"), "{error}");
        assert!(patterns.get("a".to_owned()).is_ok());
    }
}
