//! Sites where documents may have paths of their own (D41).

use std::collections::BTreeMap;

use frontend_map_catalog::snapshot::PublicUrl;
use frontend_map_rules::frontend_url::{Hosts, NoUrlReason, frontend_path};
use frontend_map_rules::{
    Document, FieldValue, Locale, Pathname, Rule, RuleSet, encode, without_trailing_slash,
};
use proptest::prelude::*;

use super::generate::UIDS;
use super::hosts::snapshots;
use super::{features, versions};

proptest! {
    #[test]
    fn document_with_a_value_has_that_path_or_none(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..4),
    ) {
        for (document, uid) in versions(&documents) {
            match frontend_path(&rules, &hosts, uid, document, true) {
                Some(Ok(built)) => {
                    let Some(value) = own_value(built.rule, document) else { continue };
                    let text = value.strip_prefix('/').unwrap_or(&value);
                    let own: Vec<_> = text.split('/').map(encode).collect();
                    let own = format!("/{}", own.join("/"));
                    let prefix = format!("/{}", encode(built.locale.segment()));
                    let path = without_trailing_slash(&built.path);
                    let has_locale = built.template.segments().iter().any(|segment| {
                        segment.placeholder().is_some_and(|own| own.name == "locale")
                    });
                    let with_prefix = has_locale && path == prefix + &own;
                    prop_assert!(with_prefix || path == own, "{} of {:?}", built.path, value);
                    let code = rules.locales().position(built.locale.as_str());
                    let pathname = Pathname::parse(path);
                    let wanted = |at| Some(at) == code;
                    let values = rules.own_path_values(&pathname, built.rule, wanted);
                    let expected: Vec<(String, Vec<Locale>)> =
                        vec![(text.to_owned(), vec![built.locale.code().clone()])];
                    prop_assert_eq!(values, expected);
                }
                Some(Err(no_url)) if matches!(no_url.reason, NoUrlReason::Unusable(_)) => {
                    // The first rule whose conditions hold and that has a value ends the search.
                    let reason = no_url.reason.to_string();
                    let field = no_url.rule.path_field.as_ref().map(ToString::to_string);
                    let of_field = field.is_some_and(|field| reason.starts_with(&(field + "_")));
                    prop_assert!(of_field || own_value(no_url.rule, document).is_none());
                }
                _ => {}
            }
        }
    }

    #[test]
    fn own_path_owns_its_path_before_that_of_a_template(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 0..8),
    ) {
        for (snapshot, uid) in snapshots(&rules, &hosts, &documents)?.iter().zip(UIDS) {
            let listed = snapshot.listed().map(|url| {
                (hosts.host_of(url.locale()), url.normalized_path().to_owned())
            });
            let listed: BTreeMap<(usize, String), bool> =
                listed.zip(snapshot.listed().map(PublicUrl::has_own_path)).collect();
            prop_assert_eq!(listed.len(), snapshot.listed_count());
            prop_assert_eq!(listed, expected(&rules, &hosts, uid, &documents));
        }
    }
}

/// Each path of a host, and whether a document has it as its own.
fn expected(
    rules: &RuleSet,
    hosts: &Hosts,
    uid: &str,
    documents: &[Document<'static>],
) -> BTreeMap<(usize, String), bool> {
    let mut paths = BTreeMap::new();
    for document in documents {
        let built = frontend_path(rules, hosts, uid, document, false);
        let Some(Ok(built)) = built else { continue };
        let locale = rules.locales().position(built.locale.as_str()).unwrap();
        let path = (hosts.host_of(locale), without_trailing_slash(&built.path).to_owned());
        *paths.entry(path).or_default() |= own_value(built.rule, document).is_some();
    }
    paths
}

/// The text of the path field; none if there is no field, or a value that is no text.
pub(super) fn own_value(rule: &Rule, document: &Document<'_>) -> Option<String> {
    match document.field(rule.path_field.as_ref()?) {
        FieldValue::Text(text) if !text.trim().is_empty() => Some(text.clone().into_owned()),
        _ => None,
    }
}
