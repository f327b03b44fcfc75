//! Laws that hold for every input, checked on generated ones.
//!
//! `PROPTEST_CASES=1000000 cargo test --release --test laws` tries a million of each.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod drafts;
mod features;
mod generate;
mod hosts;
mod not_localized;
mod own_paths;
mod owners;
mod pages;
mod round_trip;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use frontend_map_catalog::sitemap::{Form, List};
use frontend_map_catalog::snapshot::{Builder, Listing, PublicUrl};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts, NoUrl, NoUrlReason, frontend_path};
use frontend_map_rules::{
    Document, LocalePrefix, Pathname, Rule, RuleSet, Segment, Template, without_trailing_slash,
};
use generate::UIDS;
use proptest::prelude::*;
use url::Url;

proptest! {
    #[test]
    fn template_prints_as_it_was_written(text in generate::template_text()) {
        let template = Template::parse(&text).map_err(|error| fail(&error))?;
        prop_assert_eq!(template.to_string(), text);
    }

    #[test]
    fn arbitrary_text_that_parses_as_a_template_prints_as_it_was_written(
        text in "(/?[a-z.{}*é%]{0,6}){0,4}|(/(\\{[*a-z.]{0,5}\\}|[a-z.{}*]{1,3})){0,4}",
    ) {
        if let Ok(template) = Template::parse(&text) {
            prop_assert_eq!(template.to_string(), text);
        }
    }

    #[test]
    fn normalization_is_idempotent_and_changes_no_match(
        rules in features::rule_set(),
        segments in prop::collection::vec(generate::slug(), 0..5),
    ) {
        let pathname = format!("/{}", segments.join("/"));
        let once = Pathname::parse(&pathname).normalized();
        prop_assert_eq!(&Pathname::parse(&once).normalized(), &once);
        let (written, normal) = (Pathname::parse(&pathname), Pathname::parse(&once));
        prop_assert_eq!(rules.find(&written), rules.find(&normal));
    }

    #[test]
    fn rules_are_evaluated_in_the_order_of_precedence(rules in generate::rules()) {
        let set = RuleSet::new(generate::locales(), LocalePrefix::Always, rules.clone());
        let mut expected = rules;
        expected.sort_by(|a, b| {
            let [a, b] = [a, b].map(|rule| rule.first_template().segments().iter().collect::<Vec<_>>());
            by_segment(&a, &b)
        });
        let in_order: Vec<&Rule> = set.in_order().map(|(rule, _)| rule).collect();
        prop_assert_eq!(in_order, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn built_url_parses_to_itself_on_the_origin_of_the_base_url(
        rules in features::rule_set(),
        documents in prop::collection::vec(features::document(), 1..4),
        base in generate::good_base_url(),
    ) {
        let base = BaseUrl::parse(base).map_err(|error| fail(&error))?;
        let hosts = Hosts::one(base.clone(), rules.locales().as_slice().len());
        let origin = Url::parse(base.as_str()).map_err(|error| fail(&error))?.origin();
        for (document, uid) in versions(&documents) {
            if let Some(Ok(built)) = frontend_path(&rules, &hosts, uid, document, true) {
                let url = base.join(&built.path);
                prop_assert!(url.is_ascii() && url.len() < 2048);
                let parsed = Url::parse(&url).map_err(|error| fail(&error))?;
                prop_assert_eq!(parsed.as_str(), &url);
                prop_assert_eq!(parsed.origin(), origin.clone());
                prop_assert_eq!((parsed.query(), parsed.fragment()), (None, None));
            }
        }
    }

    #[test]
    fn accepted_base_url_is_canonical_and_keeps_its_origin(text in generate::base_url_text()) {
        if let Ok(base) = BaseUrl::parse(&text) {
            let again = BaseUrl::parse(base.as_str());
            prop_assert_eq!(again.as_ref(), Ok(&base));
            let with_slash = base.join("/");
            let parsed = Url::parse(&with_slash).map_err(|error| fail(&error))?;
            prop_assert_eq!(parsed.as_str(), &with_slash);
            let written = Url::parse(&text).map_err(|error| fail(&error))?;
            prop_assert_eq!(written.origin(), parsed.origin());
        }
    }

    #[test]
    fn sitemap_lists_each_path_of_a_host_once_in_order_in_xml_and_json(
        rules in generate::rule_set(),
        documents in prop::collection::vec(generate::document(), 0..12),
        base in generate::good_base_url(),
        are_several in any::<bool>(),
    ) {
        let base = BaseUrl::parse(base).map_err(|error| fail(&error))?;
        let count = rules.locales().as_slice().len();
        let other = |at| BaseUrl::parse(&format!("https://{at}.example")).ok();
        // A host for each locale, or one for all.
        let bases = (0..count).map(|at| if are_several && at > 0 { other(at) } else { Some(base.clone()) });
        let hosts = Hosts::new(bases.collect());
        check_lists(&rules, &hosts, &documents)?;
    }

    #[test]
    fn sitemap_lists_own_paths_and_no_path_of_a_page(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 0..12),
    ) {
        // A list of a site of which a locale has no base URL is a 501.
        if hosts.first_locale_without_base().is_none() {
            check_lists(&rules, &hosts, &documents)?;
        }
    }
}

/// The list of each content type, in both forms, is what the rules build.
fn check_lists(
    rules: &RuleSet,
    hosts: &Hosts,
    documents: &[Document<'static>],
) -> Result<(), TestCaseError> {
    for uid in UIDS {
        let listing = Listing { rules, hosts, uid };
        let mut part = listing.part();
        for document in documents {
            part.add(document);
        }
        let snapshot = Builder { path_table: true }.finish(vec![part]);
        let snapshot = Arc::new(snapshot.map_err(|error| fail(&error))?);
        let expected = expected_urls(rules, hosts, uid, documents);
        let urls: Vec<_> =
            snapshot.listed().map(|url| hosts.url(url.locale(), url.path()).unwrap()).collect();
        prop_assert_eq!(&urls, &expected);
        for url in snapshot.owners() {
            let host = hosts.host_if_several(url.locale());
            let owner = snapshot.owner_on(url.path(), host);
            prop_assert_eq!(owner.map(PublicUrl::position), Some(url.position()));
        }
        let counted =
            urls.len() as u64 + snapshot.duplicates().len() as u64 + snapshot.skipped.total();
        let is_of_site = |document: &&Document<'static>| {
            let built = frontend_path(rules, hosts, uid, document, false);
            !matches!(built, Some(Err(NoUrl { reason: NoUrlReason::ConditionsNotMet, .. })))
        };
        prop_assert_eq!(counted, documents.iter().filter(is_of_site).count() as u64);
        let [xml, json] = [Form::Xml, Form::Json].map(|form| {
            let list = List::new(Arc::clone(&snapshot), None, hosts, form);
            (list.length(), list.collect::<String>())
        });
        prop_assert_eq!([xml.0, json.0], [xml.1.len() as u64, json.1.len() as u64]);
        let json: serde_json::Value =
            serde_json::from_str(&json.1).map_err(|error| fail(&error))?;
        let whole = serde_json::json!({"data": {"count": urls.len(), "urls": urls}, "meta": {}});
        prop_assert_eq!(json, whole);
        prop_assert_eq!(locs(xml.1.as_bytes()), expected);
    }
    Ok(())
}

fn fail(error: &dyn std::error::Error) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

/// Every document as a version of every content type.
fn versions<'d>(
    documents: &'d [Document<'static>],
) -> impl Iterator<Item = (&'d Document<'static>, &'static str)> {
    documents.iter().flat_map(|document| UIDS.map(|uid| (document, uid)))
}

/// The order of D8, implemented again segment by segment.
fn by_segment(one: &[&Segment], other: &[&Segment]) -> Ordering {
    let pairs = one.iter().zip(other);
    let mut orders = pairs.map(|(a, b)| class(a).cmp(&class(b)).then(text(b).cmp(&text(a))));
    orders.find(|order| order.is_ne()).unwrap_or(one.len().cmp(&other.len()))
}

/// Static text, text with a placeholder inside, a plain placeholder, a catch-all.
fn class(segment: &Segment) -> u8 {
    match segment {
        Segment::Static(_) => 0,
        Segment::Placeholder { .. } if text(segment) > 0 => 1,
        Segment::Placeholder { .. } | Segment::Optional(_) => 2,
        Segment::CatchAll(_) => 3,
    }
}

/// The number of static characters around the placeholder.
fn text(segment: &Segment) -> usize {
    match segment {
        Segment::Placeholder { prefix, suffix, .. } => format!("{prefix}{suffix}").chars().count(),
        _ => 0,
    }
}

/// D22, D41: the locales in the site's order, paths by code point, each path of a host once, with or
/// without a slash at its end.
fn expected_urls(
    rules: &RuleSet,
    hosts: &Hosts,
    uid: &str,
    documents: &[Document<'static>],
) -> Vec<String> {
    let mut owners: BTreeMap<(usize, String), (bool, usize, &str, String)> = BTreeMap::new();
    for document in documents {
        let built = frontend_path(rules, hosts, uid, document, false);
        let Some(Ok(built)) = built else { continue };
        let locale = rules.locales().position(built.locale.as_str()).unwrap();
        let path = (hosts.host_of(locale), without_trailing_slash(&built.path).to_owned());
        let is_of_template = own_paths::own_value(built.rule, document).is_none();
        let version = (is_of_template, locale, &*document.id, built.path);
        let owner = owners.entry(path).or_insert_with(|| version.clone());
        *owner = version.min(owner.clone());
    }
    let owners = owners.into_values().map(|(_, locale, _, path)| (locale, path));
    let owners: BTreeSet<(usize, String)> = owners.collect();
    owners.into_iter().map(|(locale, path)| hosts.url(locale, &path).unwrap()).collect()
}

/// The `loc` texts of the sitemap, read by another XML parser.
fn locs(xml: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(xml).unwrap();
    let document = roxmltree::Document::parse(text).unwrap();
    let namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";
    let urls = document.root_element().children();
    let locs = urls.filter(|url| url.has_tag_name((namespace, "url"))).map(|url| {
        let children: Vec<_> = url.children().collect();
        assert_eq!(children.len(), 1, "one loc in each url");
        assert!(children[0].has_tag_name((namespace, "loc")));
        children[0].text().unwrap_or_default().to_owned()
    });
    locs.collect()
}
