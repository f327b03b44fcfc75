//! A snapshot is read as it was written, or refused.

use std::sync::Arc;

use fastrand::Rng;
use xxhash_rust::xxh3::xxh3_128;

use crate::snapshot::{
    Builder, Listing, Patch, Patched, PublicUrl, Serialized, Snapshot, Titles, Unreadable,
};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    Condition, ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Literal, Locale,
    LocalePrefix, Locales, Rule, RuleSet, Template,
};

pub(super) const UID: &str = "api::a.a";
pub(super) const BUILDER: Builder = Builder { path_table: true };
const FIELDS: [&str; 6] =
    ["slug", "category.slug", "category.documentId", "title", "updatedAt", "handle"];
const HEAD: &str = "{\"site\":\"é\"}";

pub(super) fn rules() -> RuleSet {
    let uid = ContentTypeUid::parse(UID).unwrap();
    let rule = |text| Rule::new(uid.clone(), Template::parse(text).unwrap());
    let locales = ["en", "de", "fr"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let mut rules = vec![rule("/{locale}/{category.slug}/{slug}"), rule("/{handle}")];
    for rule in &mut rules {
        rule.title = FieldPath::parse("title");
        rule.sitemap.exclude_when = vec![Condition {
            field: FieldPath::parse("title").unwrap(),
            equals: Literal::Text("hidden".to_owned()),
        }];
    }
    RuleSet::new(Locales::new(locales).unwrap(), LocalePrefix::Always, rules)
}

pub(super) fn hosts(are_several: bool) -> Hosts {
    let base = |text: &str| BaseUrl::parse(text).unwrap();
    let last = if are_several { "https://www.example.fr" } else { "https://www.example.com" };
    Hosts::new(
        ["https://www.example.com", "https://www.example.com", last].map(|b| Some(base(b))).into(),
    )
}

fn one_of<'a>(rng: &mut Rng, texts: &[&'a str]) -> &'a str {
    texts[rng.usize(..texts.len())]
}

/// A version with few different values, so that paths collide and values are missing.
pub(super) fn version(rng: &mut Rng, documents: usize) -> Document<'static> {
    let locale = match rng.u8(..10) {
        0 => DocumentLocale::None,
        1 => DocumentLocale::NotText,
        _ => DocumentLocale::Named(one_of(rng, &["en", "de", "fr", "xx"]).into()),
    };
    let category = format!("c{}", rng.usize(..5));
    let slug = format!("slug-{}", rng.usize(..documents * 2));
    let texts = [
        one_of(rng, &["", "a/b", ".", &slug, &slug, &slug, &slug]).to_owned(),
        one_of(rng, &["", &category, &category, &category]).to_owned(),
        category,
        one_of(rng, &["", "hidden", "A title"]).to_owned(),
        one_of(rng, &["", "2024-03-06T22:19:54.649Z", "1969-12-31T23:59:59.999Z"]).to_owned(),
        one_of(rng, &["", "", "", &slug]).to_owned(),
    ];
    let value = |text: String| match &*text {
        "" => FieldValue::Missing,
        _ => FieldValue::Text(text.into()),
    };
    Document {
        id: format!("id{}", rng.usize(..documents)).into(),
        locale,
        unpublished: false,
        fields: Arc::new(FIELDS.map(|path| FieldPath::parse(path).unwrap())),
        values: texts.map(value).into(),
    }
}

/// A snapshot of generated documents.
pub(super) fn generated(rng: &mut Rng, listing: Listing<'_>) -> Snapshot {
    let mut part = listing.part();
    let documents = rng.usize(1..60);
    for _ in 0..rng.usize(..documents * 3) {
        part.add(&version(rng, documents));
    }
    if rng.bool() {
        part.add_bad_item();
    }
    BUILDER.finish(vec![part]).unwrap()
}

fn serialized(snapshot: &Snapshot) -> Vec<u8> {
    snapshot.serialize(HEAD, Titles::LeftOut)
}

fn read(bytes: &[u8]) -> Result<Snapshot, Unreadable> {
    let serialized = Serialized::read(bytes)?;
    assert_eq!(serialized.head, HEAD);
    serialized.snapshot(BUILDER)
}

/// Everything that a snapshot says, but titles.
pub(super) fn facts(snapshot: &Snapshot) -> Vec<String> {
    let url = |url: PublicUrl<'_>| {
        format!(
            "{} {} {} {} {:?} {} {} {} {}",
            url.path(),
            url.document_id(),
            url.locale(),
            url.rule(),
            url.modified(),
            url.is_listed(),
            url.is_localized(),
            url.has_own_path(),
            url.host(),
        )
    };
    let mut facts = vec![
        format!("{:?}", snapshot.skipped),
        format!("{:?}", snapshot.without_row),
        format!("{:x} {:x}", snapshot.urls_hash(), snapshot.listing_hash()),
        format!("{} {}", snapshot.listed_bytes(), snapshot.no_url().len()),
    ];
    facts.extend(snapshot.listed().map(url));
    facts.extend(snapshot.unlisted().map(url));
    facts.extend(snapshot.urls().map(url));
    facts.extend(snapshot.duplicates().map(url));
    facts.extend(snapshot.owners().map(|own| format!("{:?}", snapshot.owner(own.path()).map(url))));
    facts.extend(snapshot.no_url().map(|row| {
        let (id, locale, reason) = (row.document_id, row.locale, row.reason);
        format!("{id} {locale:?} {reason} {} {}", row.is_localized, row.rule)
    }));
    let category = FieldPath::parse("category").unwrap();
    facts.push(format!("{:?}", snapshot.related_example(&category)));
    for target in 0..5 {
        let id = format!("c{target}");
        let referring = snapshot.referring(&category, &id);
        facts.extend(referring.map(|(id, locale)| format!("{target} {id} {locale}")));
    }
    facts
}

#[test]
fn generated_snapshots_are_read_as_they_were_written() {
    let rules = rules();
    for seed in 0..300 {
        let (mut rng, hosts) = (Rng::with_seed(seed), hosts(seed % 2 == 0));
        let listing = Listing { rules: &rules, hosts: &hosts, uid: UID };
        let written = generated(&mut rng, listing);
        let read = read(&serialized(&written)).unwrap();
        assert_eq!(facts(&read), facts(&written), "seed {seed}");
        assert!(read.fits(listing), "seed {seed}");
        assert!(read.urls().all(|url| url.title().is_none()), "titles are content");
        assert_eq!(serialized(&read), serialized(&written), "seed {seed}");

        // It is updated like the original.
        let versions: Vec<Document<'static>> = (0..3).map(|_| version(&mut rng, 5)).collect();
        let patch = |version: Document<'static>| Patch {
            id: version.id.clone().into_owned(),
            versions: vec![version],
            is_partial: true,
        };
        let mut patches: Vec<Patch> = versions.into_iter().map(patch).collect();
        patches.dedup_by(|one, other| one.id == other.id);
        let updated = |snapshot: &Snapshot| match snapshot.patched(&patches, listing, BUILDER) {
            Patched::Changed(snapshot) => facts(&snapshot),
            Patched::Unchanged => facts(snapshot),
            Patched::NeedsWalk => panic!("seed {seed}"),
        };
        assert_eq!(updated(&read), updated(&written), "seed {seed}");
    }
}

#[test]
fn many_versions_without_a_url_are_read_as_they_were_written() {
    let (rules, hosts) = (rules(), Hosts::default());
    let listing = Listing { rules: &rules, hosts: &hosts, uid: UID };
    let mut part = listing.part();
    let mut rng = Rng::with_seed(7);
    for n in 0..10_050 {
        let mut version = version(&mut rng, 3);
        version.id = format!("id{n}").into();
        version.locale = DocumentLocale::Named("en".into());
        version.values.fill(FieldValue::Missing);
        part.add(&version);
    }
    let written = BUILDER.finish(vec![part]).unwrap();
    assert_eq!(written.no_url().len(), 10_050);
    assert_eq!(facts(&read(&serialized(&written)).unwrap()), facts(&written));
}

#[test]
fn changed_and_truncated_bytes_are_refused() {
    let (rules, hosts) = (rules(), hosts(true));
    let listing = Listing { rules: &rules, hosts: &hosts, uid: UID };
    for seed in 0..3 {
        let bytes = serialized(&generated(&mut Rng::with_seed(seed), listing));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert!(Serialized::read(&changed).is_err(), "bit {bit} of byte {at}");
            }
            assert!(Serialized::read(&bytes[..at]).is_err(), "{at} bytes");
        }
        assert_eq!(Serialized::read(&[bytes, vec![0]].concat()).err(), Some(Unreadable::Checksum));
    }
}

/// A checksum detects damage; these bytes are malformed on purpose, without one.
#[test]
fn malformed_bodies_are_refused_or_are_snapshots_without_a_panic() {
    let (rules, hosts) = (rules(), hosts(true));
    let listing = Listing { rules: &rules, hosts: &hosts, uid: UID };
    let mut rng = Rng::with_seed(1);
    let snapshot = generated(&mut rng, listing);
    let body = super::super::serialized::body_of(&snapshot);
    for _ in 0..5_000 {
        let mut changed = body.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..changed.len());
            changed[at] = rng.u8(..);
        }
        changed.truncate(if rng.bool() { changed.len() } else { rng.usize(..changed.len()) });
        if let Ok(read) = super::super::serialized::of_body(&changed, BUILDER) {
            // Whatever they are.
            drop(facts(&read));
        }
    }
}

#[test]
fn snapshot_of_other_hosts_or_another_type_does_not_fit() {
    let (rules, one, several) = (rules(), hosts(false), hosts(true));
    let listing = Listing { rules: &rules, hosts: &several, uid: UID };
    let mut version = version(&mut Rng::with_seed(1), 1);
    version.locale = DocumentLocale::Named("fr".into());
    version.values = ["a", "c0", "c0", "", "", ""].map(|text| FieldValue::Text(text.into())).into();
    let mut part = listing.part();
    part.add(&version);
    let snapshot = read(&serialized(&BUILDER.finish(vec![part]).unwrap())).unwrap();
    assert_eq!(snapshot.len(), 1);
    assert!(snapshot.fits(listing));
    assert!(!snapshot.fits(Listing { hosts: &one, ..listing }), "other hosts");
    assert!(!snapshot.fits(Listing { uid: "api::b.b", ..listing }), "no rule for the type");
}

#[test]
fn bytes_of_another_kind_or_format_are_refused() {
    let bytes = serialized(&BUILDER.finish(Vec::new()).unwrap());
    assert!(read(&bytes).unwrap().is_empty());
    for other in [&b""[..], b"{}", &[0; 100]] {
        assert_eq!(Serialized::read(other).err(), Some(Unreadable::OtherKind));
    }
    let mut later = bytes[24..].to_vec();
    later[0] = 8;
    let later = [&bytes[..8], &xxh3_128(&later).to_le_bytes(), &later].concat();
    assert_eq!(Serialized::read(&later).err(), Some(Unreadable::OtherFormat(8)));
}

/// The titles of all versions.
pub(super) fn titles(snapshot: &Snapshot) -> Vec<Option<&str>> {
    let rows = snapshot.no_url().map(|row| row.title);
    snapshot.urls().map(PublicUrl::title).chain(rows).collect()
}

#[test]
fn generated_snapshots_are_read_with_their_titles_where_these_are_kept() {
    let rules = rules();
    for seed in 0..100 {
        let (mut rng, hosts) = (Rng::with_seed(seed), hosts(seed % 2 == 0));
        let written = generated(&mut rng, Listing { rules: &rules, hosts: &hosts, uid: UID });
        let bytes = written.serialize(HEAD, Titles::Kept);
        let read = read(&bytes).unwrap();
        assert_eq!(facts(&read), facts(&written), "seed {seed}");
        assert_eq!(titles(&read), titles(&written), "seed {seed}");
        assert_eq!(read.content_hash(), written.content_hash(), "seed {seed}");
    }
}

#[test]
fn snapshot_that_is_larger_than_the_limit_once_decompressed_is_refused() {
    let (rules, hosts) = (rules(), hosts(true));
    let listing = Listing { rules: &rules, hosts: &hosts, uid: UID };
    let written = generated(&mut Rng::with_seed(2), listing);
    let length = super::super::serialized::body_of(&written).len();
    let bytes = written.serialize(HEAD, Titles::Kept);
    let serialized = Serialized::read(&bytes).unwrap();
    assert!(serialized.snapshot_within(length, BUILDER).is_ok());
    let refused = serialized.snapshot_within(length - 1, BUILDER).err();
    assert_eq!(refused, Some(Unreadable::Malformed("it is too large")));
}
