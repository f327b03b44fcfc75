//! Settings that are refused.

use super::settings;
use crate::support::service::Setup;

#[test]
fn path_field_needs_documents_to_resolve_by() {
    for resolve in ["", "resolve = \"rules\""] {
        let settings = settings().toml().replace("resolve = \"documents\"", resolve);
        let ended = Setup::new(&settings).run(&["check"]);
        assert_eq!(ended.status, Some(78), "{}", ended.stdout);
        let line = |field: &str| {
            let at = settings.lines().position(|line| line.starts_with(field)).expect("a line");
            at + 1
        };
        for (field, rule) in [
            ("path_field = \"customPath\"", "rule 1 (api::page.page)"),
            ("path_field = \"seo.path\"", "rule 3 (api::note.note)"),
        ] {
            let expected = format!(
                "- line {}, site \"main\", {rule}: `path_field` needs resolve = \"documents\" in the site: add it there, or remove `path_field`",
                line(field)
            );
            assert!(ended.stderr.contains(&expected), "{expected}\n{}", ended.stderr);
        }
    }
}

#[test]
fn path_field_is_the_name_of_a_field() {
    for name in ["", "a b", "a..b", "{customPath}"] {
        let settings = settings().toml().replace("\"customPath\"", &format!("\"{name}\""));
        let ended = Setup::new(&settings).run(&["check"]);
        assert_eq!(ended.status, Some(78), "{name}");
        let expected =
            format!("rule 1 (api::page.page), path_field: `{name}` is not the name of a field");
        assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    }
}
