//! Single cases of what new values behind a relation change, and what they leave alone.

use super::*;

#[test]
fn with_related_changes_nothing_that_depends_on_more_than_the_paths() {
    let own = "/{locale}/{category.slug}/{slug}";
    let row = ("a", "en", "x", "c", "old", "s1");
    let new = document(("a", "en", "x", "c", "new", "s1"));
    let result = |templates: &[&str], example: &Document<'_>| {
        let rules = rules(templates);
        let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
        let before = snapshot(listing, &[row]);
        before.with_related_values(&[values(0, "c", example.clone())], listing, BUILDER)
    };
    let is_changed = |RelatedUpdate { patched, to_read }| {
        let is_changed = matches!(patched, Patched::Changed(_));
        assert_eq!(to_read.len(), usize::from(!is_changed));
        is_changed
    };
    assert!(is_changed(result(&[own], &new)));
    assert!(is_changed(result(&[own, "/{slug}"], &new)));
    // Another rule may build the URL.
    assert!(!is_changed(result(&[own, "/{slug}"], &nothing())));
    assert!(!is_changed(result(&["/{category.nothing}", own], &new)));
    // The values are unknown, or the copy does not know the section.
    let mut absent = new.clone();
    absent.values[2] = FieldValue::Absent(1);
    assert!(!is_changed(result(&[own], &absent)));
    let nested = "/{locale}/{category.section.slug}/{category.slug}/{slug}";
    assert!(is_changed(result(&[nested], &new)));
    let moved = document(("a", "en", "x", "c", "new", "s2"));
    assert!(!is_changed(result(&[nested], &moved)));
}

#[test]
fn with_related_keeps_titles_and_the_other_locales() {
    let rules = rules(&["/{locale}/{category.slug}/{slug}"]);
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let rows = [("a", "en", "x", "c", "old", ""), ("a", "de", "x", "c", "alt", "")];
    let before = snapshot(listing, &rows);
    let new = document(("a", "en", "x", "c", "new", ""));
    let after =
        changed(before.with_related_values(&[values(0, "c", new)], listing, BUILDER).patched);
    let paths: Vec<&str> = after.listed().map(crate::snapshot::PublicUrl::path).collect();
    assert_eq!(paths, ["/en/new/x", "/de/alt/x"]);
}

#[test]
fn own_path_stays_when_the_values_behind_a_relation_change() {
    let mut own = rules(&["/{locale}/{category.slug}/{slug}"]).rules()[0].clone();
    own.path_field = Some(path("customPath"));
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let rules = RuleSet::new(Locales::new(locales).unwrap(), LocalePrefix::Always, vec![own]);
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let with_own = |id: &'static str, value: FieldValue<'static>, category: &'static str| {
        let document = document((id, "en", id, "c0", category, ""));
        let fields = document.fields.iter().cloned().chain([path("customPath")]);
        let values = [document.values.clone(), vec![value]].concat();
        Document { fields: fields.collect(), values, ..document }
    };
    let snapshot = |category: &'static str| {
        let mut part = listing.part();
        for (id, value) in [("own", "/x"), ("bad", "a//b"), ("none", " ")] {
            part.add(&with_own(id, FieldValue::Text(value.into()), category));
        }
        BUILDER.finish(vec![part]).unwrap()
    };
    let sample = with_own("own", FieldValue::Text("other".into()), "new");
    let all = [values(0, "c0", sample)];
    let RelatedUpdate { patched, to_read } =
        snapshot("old").with_related_values(&all, listing, BUILDER);
    assert_eq!(facts(&changed(patched)), facts(&snapshot("new")));
    // Its reason may be that of a placeholder.
    assert_eq!(to_read, BTreeSet::from(["bad".to_owned()]));
}

#[test]
fn versions_without_a_row_are_read_only_where_they_may_get_a_url() {
    let rules = rules(&["/{locale}/{category.slug}/{slug}"]);
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let others: Vec<String> = (0..MAX_ROWS).map(|n| format!("a{n:05}")).collect();
    let mut rows: Vec<Row<'_>> =
        others.iter().map(|id| (&**id, "en", "", "c1", "other", "")).collect();
    rows.extend([("b", "en", "x", "c0", "old", ""), ("c", "en", "", "c0", "old", "")]);
    let update = |before: &Snapshot, example: Document<'_>| {
        let found = before.with_related_values(&[values(0, "c0", example)], listing, BUILDER);
        let Patched::Changed(after) = found.patched else { panic!("{:?}", found.patched) };
        let paths: Vec<String> = after.urls().map(|url| url.path().to_owned()).collect();
        (*after, paths, found.to_read.into_iter().collect::<Vec<_>>())
    };
    let (withdrawn, paths, to_read) = update(&snapshot(listing, &rows), nothing());
    assert!(paths.is_empty() && to_read.is_empty(), "{paths:?} {to_read:?}");
    let (_, paths, to_read) = update(&withdrawn, document(("s", "en", "s", "c0", "new", "")));
    assert_eq!((paths, to_read), (vec!["/en/new/x".to_owned()], vec!["c".to_owned()]));
}
