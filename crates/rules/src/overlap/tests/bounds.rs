//! The bounds of the search, and large rule sets within them.

use super::*;

#[test]
fn overlaps_stop_at_1_000_pairs() {
    let templates: Vec<String> = (0..46).map(|n| format!("/{{f{n}}}")).collect();
    let rules =
        set(LocalePrefix::Always, &templates.iter().map(String::as_str).collect::<Vec<_>>());
    for Overlaps { pairs, incomplete, .. } in
        [rules.overlaps(TieBreak::Order), rules.equal_shape_overlaps()]
    {
        assert_eq!((pairs.len(), incomplete), (1_000, Some(Incomplete::PairLimit)));
    }
}

#[test]
fn overlaps_of_a_large_set_are_complete() {
    let mut templates: Vec<String> = (0..2_001).map(|n| format!("/p{n}/{{slug}}")).collect();
    templates.push("/p7/{name}".to_owned());
    let rules =
        set(LocalePrefix::Always, &templates.iter().map(String::as_str).collect::<Vec<_>>());
    let settings = "same shape: order of the settings".to_owned();
    assert_eq!(pairs(&rules), [(7, 2_001, "/p7/x".to_owned(), settings)]);
    let overlaps = rules.overlaps(TieBreak::Order);
    assert_eq!((overlaps.shadowed.len(), overlaps.incomplete), (1, None));
    let equal = rules.equal_shape_overlaps();
    assert_eq!((equal.pairs.len(), equal.incomplete), (1, None));
    templates.push("/{section}/{slug}".to_owned());
    let rules =
        set(LocalePrefix::Always, &templates.iter().map(String::as_str).collect::<Vec<_>>());
    let overlaps = rules.overlaps(TieBreak::Order);
    assert_eq!((overlaps.pairs.len(), overlaps.incomplete), (1_000, Some(Incomplete::PairLimit)));
}

#[test]
fn overlaps_of_long_lists_of_values_are_complete() {
    let values = |rule: usize| (0..300).map(move |n| format!("s{rule}-{n}"));
    let template = |rule| format!("/{{slug}} = {}", values(rule).collect::<Vec<_>>().join(","));
    let mut templates: Vec<String> = (0..400).map(template).collect();
    templates[1] = "/{slug} = s0-299,s1".to_owned();
    templates[399] = "/{slug} = a,s7-0".to_owned();
    let rules =
        set(LocalePrefix::Always, &templates.iter().map(String::as_str).collect::<Vec<_>>());
    let same_shape = "same shape: order of the settings".to_owned();
    let expected = [(0, 1, "/s0-299"), (7, 399, "/s7-0")];
    let expected = expected.map(|(w, l, path)| (w, l, path.to_owned(), same_shape.clone()));
    assert_eq!(pairs(&rules), expected);
    assert_eq!(rules.overlaps(TieBreak::Order).incomplete, None);
}

#[test]
fn overlaps_beyond_the_budget_are_found_by_one_path_of_each_pattern() {
    // Each pattern of the first kind may share its first segment with each of the second.
    let mut templates: Vec<String> = (0..1_500).map(|n| format!("/s-{n}/y")).collect();
    templates.extend((0..1_500).map(|n| format!("/{{a}}/x-{n}")));
    templates.push("/{b}/x-1499".to_owned());
    let rules =
        set(LocalePrefix::Always, &templates.iter().map(String::as_str).collect::<Vec<_>>());
    let same_shape = "same shape: order of the settings".to_owned();
    assert_eq!(pairs(&rules), [(2_999, 3_000, "/x/x-1499".to_owned(), same_shape)]);
    assert_eq!(rules.overlaps(TieBreak::Order).incomplete, Some(Incomplete::Budget));
}
