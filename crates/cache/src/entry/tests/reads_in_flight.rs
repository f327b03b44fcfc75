//! Incremental updates whose reads overlap.

use super::*;

/// Versions of the document "a" in these locales, each with a slug.
fn patch(versions: &[(&str, &str)], is_partial: bool) -> Patch {
    let version = |(locale, slug): &(&str, &str)| Document {
        id: "a".into(),
        locale: DocumentLocale::Named((*locale).to_owned().into()),
        unpublished: false,
        fields: [FieldPath::parse("slug").unwrap()].into(),
        values: vec![FieldValue::Text((*slug).to_owned().into())],
    };
    Patch { id: "a".to_owned(), versions: versions.iter().map(version).collect(), is_partial }
}

/// The locales and slugs of one patch, and whether others stay.
fn read(patches: &[Patch]) -> (Vec<String>, bool) {
    assert_eq!(patches.len(), 1);
    let slug = FieldPath::parse("slug").unwrap();
    let version = |version: &Document<'_>| match (&version.locale, version.field(&slug)) {
        (DocumentLocale::Named(locale), FieldValue::Text(text)) => format!("{locale}-{text}"),
        other => panic!("{other:?}"),
    };
    let mut versions: Vec<String> = patches[0].versions.iter().map(version).collect();
    versions.sort();
    (versions, patches[0].is_partial)
}

#[test]
fn older_read_gets_what_a_newer_one_has_found_on_top() {
    let (whole, partial) = (false, true);
    let (old, new) = ([("de", "1"), ("en", "1")], [("en", "2")]);
    for (old, new, expected) in [
        (patch(&old, partial), patch(&new, whole), (vec!["en-2"], whole)),
        (patch(&old, partial), patch(&new, partial), (vec!["de-1", "en-2"], partial)),
        (patch(&old, whole), patch(&new, partial), (vec!["de-1", "en-2"], whole)),
        (patch(&old, whole), patch(&[], whole), (vec![], whole)),
    ] {
        let entry = Arc::new(entry());
        let begun = Instant::now();
        let later = begun + Duration::from_secs(1);
        let (first, second) = (entry.begin_read(begun), entry.begin_read(later));
        let applied = entry.keep_patches(later, std::slice::from_ref(&new)).into_owned();
        assert_eq!(read(&applied), read(std::slice::from_ref(&new)));
        drop(second);
        let merged = entry.keep_patches(begun, std::slice::from_ref(&old)).into_owned();
        let (versions, is_partial) = read(&merged);
        assert_eq!((versions.iter().map(|one| &**one).collect(), is_partial), expected);
        drop(first);
        assert!(entry.patches_since(begun).is_empty(), "no read is in flight that needs them");
    }
}

#[test]
fn patches_are_kept_in_the_order_of_their_reads_until_all_earlier_reads_have_ended() {
    let entry = Arc::new(entry());
    let begun = Instant::now();
    let at = |seconds| begun + Duration::from_secs(seconds);
    let oldest = entry.begin_read(begun);
    let newer = entry.begin_read(at(1));
    for (seconds, slug) in [(3, "3"), (2, "2")] {
        let read = entry.begin_read(at(seconds));
        entry.keep_patches(at(seconds), &[patch(&[("en", slug)], true)]);
        drop(read);
    }
    drop(newer);
    assert_eq!(read(&entry.patches_since(begun)).0, ["en-3"]);
    drop(oldest);
    assert!(entry.patches_since(begun).is_empty());
}
