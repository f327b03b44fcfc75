//! A template that parses prints as it was written; a parse error has a position in the text.
#![no_main]

use frontend_map_rules::Template;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Template::parse(text) {
        Ok(template) => {
            assert_eq!(template.to_string(), text);
            let names: Vec<_> = template.placeholders().map(|p| &p.name).collect();
            let repeated = names.iter().enumerate().any(|(at, name)| names[..at].contains(name));
            assert!(!repeated);
        }
        Err(error) => {
            // One past the end: something is missing there.
            assert!((1..=text.chars().count() + 1).contains(&error.position), "{error}");
            assert!(!error.to_string().contains(char::is_control));
        }
    }
});
