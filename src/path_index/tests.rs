use super::*;
use crate::rules::{
    ContentTypeUid, Locale, LocalePrefix, Locales, Pathname, Rule, RuleSet, Template,
};

/// Two types that share a shape, and a second rule of the first.
fn rules() -> RuleSet {
    let rule =
        |uid, text| Rule::new(ContentTypeUid::parse(uid).unwrap(), Template::parse(text).unwrap());
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let rules = vec![
        rule("api::a.a", "/{locale}/{slug}"),
        rule("api::b.b", "/{locale}/{slug}"),
        rule("api::a.a", "/{slug}"),
    ];
    RuleSet::new(Locales::new(locales).unwrap(), LocalePrefix::Always, rules)
}

/// An index of `(rule, locale, path, documentId)`.
fn index(rows: &[(u32, u16, &str, &str)], function: fn(&[u8], u64) -> u64) -> PathIndex {
    let rules = rules();
    let mut builder = PathIndexBuilder::new(&rules, None);
    builder.hash_with(function);
    let add = |(rule, locale, path, id): &(u32, u16, &str, &str)| {
        builder.push(*rule, *locale, path, id).unwrap()
    };
    let added = rows.iter().map(add).collect();
    builder.finish(added).unwrap()
}

fn ids<'i>(index: &'i PathIndex, path: &str) -> Vec<&'i str> {
    index.owners(path).into_iter().map(|owner| index.document_id(owner)).collect()
}

#[test]
fn paths_that_collide_are_told_apart() {
    let rows = [(0, 0, "/en/x", "one"), (1, 0, "/en/y", "two"), (0, 1, "/de/x", "one")];
    for function in [|_: &[u8], _| 7, |_: &[u8], _| u64::MAX, xxh3_64_with_seed] {
        let index = index(&rows, function);
        assert_eq!(ids(&index, "/en/x"), ["one"]);
        assert_eq!(ids(&index, "/en/y"), ["two"]);
        assert_eq!(ids(&index, "/de/x"), ["one"]);
        for miss in ["", "/", "/en", "/en/x/", "/en/X", "/en/xx"] {
            assert!(index.owners(miss).is_empty(), "{miss}");
        }
    }
}

#[test]
fn an_empty_index_owns_nothing() {
    let index = index(&[], xxh3_64_with_seed);
    assert!(index.is_empty() && index.owners("/").is_empty());
}

#[test]
fn the_versions_of_a_document_are_found_from_any_of_them() {
    let rows = [
        (0, 1, "/de/x", "one"),
        (1, 0, "/en/z", "one"),
        (0, 0, "/en/w", "two"),
        (0, 0, "/en/y", "one"),
    ];
    let index = index(&rows, xxh3_64_with_seed);
    for path in ["/de/x", "/en/y"] {
        let versions: Vec<_> = index.versions(index.owners(path)[0]).collect();
        assert_eq!(versions, [(0, "/en/y"), (1, "/de/x")]);
    }
    let other: Vec<_> = index.versions(index.owners("/en/z")[0]).collect();
    assert_eq!(other, [(0, "/en/z")]);
}

#[test]
fn of_two_documents_with_one_path_the_first_by_rule_and_id_owns_it() {
    let rows =
        [(1, 0, "/en/x", "a"), (0, 0, "/en/x", "c"), (0, 0, "/en/x", "b"), (0, 1, "/en/x", "b")];
    let index = index(&rows, xxh3_64_with_seed);
    assert_eq!(ids(&index, "/en/x"), ["b", "a"]);
    assert_eq!((index.len(), index.duplicates()), (4, 2));
}

#[test]
fn documents_settle_ties_and_nothing_else() {
    let rows = [(1, 0, "/en/x", "b1"), (1, 0, "/en/both", "b2"), (0, 0, "/en/both", "a2")];
    let (rules, index) = (rules(), index(&rows, xxh3_64_with_seed));
    for (path, uid, document) in [
        ("/en/x", "api::b.b", Some("b1")),
        ("/en//x/?q", "api::b.b", Some("b1")),
        ("/en/both", "api::a.a", Some("a2")),
        ("/en/nobody", "api::a.a", None),
        ("/x", "api::a.a", None),
    ] {
        let pathname = Pathname::parse(path);
        let decision = decide(&rules, &pathname, &index).unwrap();
        assert_eq!(decision.found.rule.content_type.as_str(), uid, "{path}");
        let owner = decision.owner.map(|owner| index.document_id(owner));
        assert_eq!(owner, document, "{path}");
    }
    assert_eq!(decide(&rules, &Pathname::parse("/fr/x"), &index), None);
}

#[test]
fn a_hundred_thousand_paths() {
    const PATHS: usize = 100_000;
    let rules = rules();
    let mut builder = PathIndexBuilder::new(&rules, None);
    let path = |n: usize| format!("/en/a-slug-of-usual-length-{n:07}");
    let id = |n: usize| format!("id{n:022}");
    let added = (0..PATHS).map(|n| builder.push(0, 0, &path(n), &id(n)).unwrap()).collect();
    let index = builder.finish(added).unwrap();
    for n in 0..PATHS {
        assert_eq!(ids(&index, &path(n)), [id(n)]);
        assert!(index.owners(&path(PATHS + n)).is_empty());
    }
    // 34 bytes of path and 24 of id, an entry, and at most three slots.
    let most = 34 + 24 + size_of::<Entry>() + 3 * size_of::<u32>();
    assert!(index.bytes() / PATHS <= most, "{} bytes a path", index.bytes() / PATHS);
    eprintln!("{} bytes a path, {} an entry", index.bytes() / PATHS, size_of::<Entry>());
}
