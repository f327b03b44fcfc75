mod cms;
mod model;

use std::sync::{Arc, LazyLock};

use super::effect::MAX_ROWS;
use super::*;
use crate::moved::history::PathHistory;
use crate::moved::redirects::SiteHistory;
use crate::site::{ResolveBy, Site};
use crate::snapshot::{Builder, Criterion, Listing};
use cms::{Entry, Settings, condition};
use frontend_map_rules::{
    ContentTypeUid, DocumentLocale, FieldValue, Locale, LocalePrefix, Param, Rule, Source,
    Template, TrailingSlash,
};

const A: &str = "api::a.a";
const B: &str = "api::b.b";

/// A site that resolves by documents, with these rules.
fn site(rules: Vec<Rule>) -> Site {
    settings(rules, Vec::new()).site()
}

fn settings(rules: Vec<Rule>, redirects: Vec<Entry>) -> Settings {
    let (prefix, slash) = (LocalePrefix::Always, TrailingSlash::Never);
    let resolve = ResolveBy::Documents;
    Settings { rules, resolve, hosts: false, prefix, slash, page: None, redirects }
}

fn rule(uid: &str, template: &str) -> Rule {
    Rule::new(ContentTypeUid::parse(uid).unwrap(), Template::parse(template).unwrap())
}

fn field(path: &str) -> FieldPath {
    FieldPath::parse(path).unwrap()
}

/// A version in the first locale with these values of its fields; `-` is null.
fn document(id: &str, values: &[(&str, &str)]) -> Document<'static> {
    let value = |text: &str| match text {
        "-" => FieldValue::Missing,
        "null" => FieldValue::NullAt(0),
        text => FieldValue::Text(text.to_owned().into()),
    };
    Document {
        id: id.to_owned().into(),
        locale: DocumentLocale::Named("en".into()),
        unpublished: true,
        fields: values.iter().map(|(name, _)| field(name)).collect(),
        values: values.iter().map(|(_, text)| value(text)).collect(),
    }
}

/// The world with these published documents of each content type.
fn world<'s>(site: &'s Site, documents: &[(&str, Vec<Document<'static>>)]) -> World<'s> {
    let snapshot = |uid: &'s ContentTypeUid| {
        let mut part = Listing { rules: &site.rules, hosts: &site.hosts, uid: uid.as_str() }.part();
        let own = documents.iter().filter(|(own, _)| *own == uid.as_str());
        for document in own.flat_map(|(_, documents)| documents) {
            part.add(&Document { unpublished: false, ..document.clone() });
        }
        let snapshot = Builder { path_table: true }.finish(vec![part]).unwrap();
        (uid, Arc::new(snapshot))
    };
    let types = site.rules.content_types().into_iter().map(snapshot).collect();
    World {
        site,
        types,
        redirects: Vec::new(),
        history: Some(history()),
        links: None,
        draft_dependents: Vec::new(),
    }
}

/// A history without paths, which takes them.
fn history() -> SiteHistory<'static> {
    static HISTORY: LazyLock<PathHistory> = LazyLock::new(PathHistory::default);
    SiteHistory { history: &HISTORY, id: HISTORY.site(1, "main").unwrap(), now: 1 }
}

fn previewed(world: &World<'_>, uid: &str, draft: &Document<'_>) -> SitePreview {
    let subject = Subject::of(world.site, uid, draft).unwrap();
    let published_at = "2026-03-04T05:06:07.000Z";
    preview(world, subject, &Draft { document: draft, published_at, related: &[] }).unwrap()
}

fn conflict(preview: &SitePreview) -> Option<(Wins, Decider)> {
    preview.publish.conflict.as_ref().map(|conflict| (conflict.wins, conflict.by))
}

#[test]
fn criterion_is_the_first_of_the_order_of_ownership_that_tells_two_apart() {
    let mut own = rule(A, "/{slug}");
    own.path_field = Some(field("path"));
    own.sitemap.exclude_when = vec![condition("hidden", "yes")];
    let site = site(vec![own]);
    let version = |id: &str, slug: &str, path: &str, hidden: &str| {
        document(id, &[("slug", slug), ("path", path), ("hidden", hidden)])
    };
    let published = vec![
        version("live", "x", "-", "no"),
        version("hidden", "y", "-", "yes"),
        version("own", "z", "z", "no"),
        version("draft", "old", "-", "no"),
    ];
    let world = world(&site, &[(A, published)]);
    for (slug, path, hidden, expected) in [
        ("x", "-", "no", Some((Wins::Other, Criterion::OwnedBefore))),
        ("x", "-", "yes", Some((Wins::Other, Criterion::Listed))),
        ("x", "x", "no", Some((Wins::This, Criterion::OwnPath))),
        ("y", "-", "no", Some((Wins::This, Criterion::Listed))),
        ("y", "-", "yes", Some((Wins::Other, Criterion::OwnedBefore))),
        ("z", "-", "no", Some((Wins::Other, Criterion::OwnPath))),
        ("free", "-", "no", None),
        ("old", "-", "no", None),
    ] {
        let preview = previewed(&world, A, &version("draft", slug, path, hidden));
        let expected = expected.map(|(wins, by)| (wins, Decider::Owner(by)));
        assert_eq!(conflict(&preview), expected, "{slug} {path} {hidden}");
        assert_eq!(preview.publish.ok, expected.is_none());
    }
}

#[test]
fn documents_that_move_to_one_path_together_are_left_to_their_dates_of_creation() {
    let mut first = rule(A, "/{handle}");
    first.conditions = vec![condition("kind", "k")];
    let site = site(vec![first, rule(A, "/{parent.slug}-more")]);
    let own = |id: &str, handle: &str, slug: &str| {
        document(id, &[("kind", "k"), ("handle", handle), ("slug", slug)])
    };
    let child = [("kind", "l"), ("parent.slug", "a"), ("parent.documentId", "d")];
    for (id, child_id) in [("d", "e"), ("d", "c")] {
        let published = vec![own(id, "a", "a"), document(child_id, &child)];
        let world = world(&site, &[(A, published)]);
        let preview = previewed(&world, A, &own(id, "b-more", "b"));
        assert_eq!(preview.publish.path.as_deref(), Some("/b-more"));
        let expected = (Wins::Unknown, Decider::Owner(Criterion::Created));
        assert_eq!(conflict(&preview), Some(expected), "{child_id}");
    }
}

#[test]
fn date_of_publication_is_that_of_the_click() {
    let site = site(vec![rule(A, "/{publishedAt:year}/{slug}")]);
    let world = world(&site, &[]);
    let draft = document("d", &[("publishedAt", "-"), ("slug", "x")]);
    assert_eq!(previewed(&world, A, &draft).publish.path.as_deref(), Some("/2026/x"));
    // A document of a type without Draft & Publish keeps its date.
    let mut plain = document("d", &[("publishedAt", "2020-01-01"), ("slug", "x")]);
    plain.unpublished = false;
    assert_eq!(previewed(&world, A, &plain).publish.path.as_deref(), Some("/2020/x"));
}

#[test]
fn parts_of_dates_in_the_path_of_a_dependent_stay() {
    let site = site(vec![rule(A, "/{category.slug}/{on:month}/{on:day}/{slug}")]);
    let values = [
        ("slug", "s"),
        ("on", "2024-02-29"),
        ("category.slug", "c"),
        ("category.documentId", "c1"),
    ];
    let world = world(&site, &[(A, vec![document("a1", &values)])]);
    let preview = previewed(&world, B, &document("c1", &[("slug", "d")]));
    let moves = preview.publish.dependents.first.into_iter().next().map(|page| page.moves);
    let (from, to) = ("/c/02/29/s".to_owned(), "/d/02/29/s".to_owned());
    assert_eq!(moves, Some(PathMove { from, to, redirects: true, redirect: None }));
}

#[test]
fn former_path_leads_where_a_redirect_leads_that_hides_the_page() {
    for (to, force, expected) in [
        ("/elsewhere", true, Some("/elsewhere")),
        ("/elsewhere", false, None),
        // The former path leads back: the redirect would be a loop.
        ("/a", true, None),
    ] {
        let redirect = Entry { from: "/b", to, force, locale: None };
        let settings = settings(vec![rule(A, "/{slug}")], vec![redirect]);
        let site = settings.site();
        let redirects = settings.redirects(&site);
        let redirects = redirects.iter().map(|(uid, own)| (uid, Arc::clone(own))).collect();
        let published = vec![document("d", &[("slug", "a")])];
        let world = World { redirects, ..world(&site, &[(A, published)]) };
        let effect = previewed(&world, A, &document("d", &[("slug", "b")])).publish;
        let named = |own: &PathRedirect| own.to.clone();
        let moves = effect.moves.unwrap();
        assert_eq!(moves.redirect.as_ref().and_then(named).as_deref(), expected, "{to} {force}");
        assert_eq!((moves.redirects, effect.ok), (expected.is_none(), expected.is_none()), "{to}");
        let hides = effect.redirect.filter(|own| own.force);
        assert_eq!(hides.as_ref().and_then(named).as_deref(), expected, "{to} {force}");
    }
}

#[test]
fn page_is_gone_whose_path_is_built_by_a_rule_that_it_does_not_lead_to() {
    // The path leads to the first rule, and to a document of the third one only if that has built it.
    let third = rule(A, "/a/{slug}");
    let site = site(vec![rule("api::c.c", "/a/{slug}"), rule(A, "/{category.slug}/{slug}"), third]);
    let article = [("slug", "x"), ("category.slug", "x/y"), ("category.documentId", "c1")];
    let world = world(&site, &[(A, vec![document("a1", &article)])]);
    let preview = previewed(&world, B, &document("c1", &[("slug", "a")]));
    let gone: Vec<&str> = preview.publish.gone.first.iter().map(|own| own.path.as_str()).collect();
    assert_eq!((gone, preview.publish.ok), (vec!["/a/x"], false));
}

#[test]
fn condition_on_several_documents_leaves_a_dependent_unknown() {
    let mut tagged = rule(A, "/{slug}");
    tagged.conditions = vec![condition("tags.slug", "a")];
    let site = site(vec![tagged, rule(B, "/tags/{slug}")]);
    let list = |ids: &[&str]| {
        FieldValue::List(ids.iter().map(|id| FieldValue::Text((*id).to_owned().into())).collect())
    };
    let mut article =
        document("a1", &[("slug", "x"), ("tags.slug", "-"), ("tags.documentId", "-")]);
    article.values[1..].clone_from_slice(&[list(&["a", "b"]), list(&["t1", "t2"])]);
    let tag = |slug: &str| document("t1", &[("slug", slug)]);
    let world = world(&site, &[(A, vec![article]), (B, vec![tag("a")])]);
    let of = |slug: &str| {
        let preview = previewed(&world, B, &tag(slug));
        (preview.publish.dependents.more, preview.unpublish.dependents.more)
    };
    // Another tag may have the value as well.
    assert_eq!(of("c"), (true, true));
    assert_eq!(of("a"), (false, true));
}

/// The drafts of the first type that read a category.
fn of_drafts(versions: &[(&str, usize)], are_all: bool) -> Vec<DraftDependents> {
    let versions = versions.iter().map(|(id, locale)| ((*id).to_owned(), *locale)).collect();
    let drafts = Some(FirstDrafts { versions, are_all });
    vec![DraftDependents { type_at: 0, relation: field("category"), drafts }]
}

#[test]
fn dependents_may_be_more_if_the_drafts_that_read_a_document_are_of_other_versions() {
    let article = |id: &str, category: &str| {
        let slug = if category == "null" { "null" } else { "c" };
        document(id, &[("slug", id), ("category.slug", slug), ("category.documentId", category)])
    };
    let without_path = document("a4", &[("slug", "-"), ("category.documentId", "null")]);
    let published = vec![article("a1", "c1"), article("a2", "null"), without_path];
    let mut of_category = rule(A, "/{slug}");
    of_category.conditions = vec![condition("category.slug", "c")];
    let sites = [
        site(vec![rule(A, "/{category.slug}/{slug}"), rule(A, "/{slug}")]),
        site(vec![of_category]),
    ];
    // The drafts that read the category, whether there are no others, and whether there may be more
    // dependents: of two rules without a condition, and of a rule for this category.
    for (versions, are_all, expected) in [
        (vec![("a1", 0)], true, [false, false]),
        // Strapi may link the published version of the second one to the category.
        (vec![("a1", 0), ("a2", 0)], true, [true, true]),
        (vec![("a1", 0), ("a2", 0)], false, [true, true]),
        // It was never published, or no rule is for it now.
        (vec![("a1", 0), ("a3", 0)], true, [false, true]),
        (vec![("a1", 0), ("a4", 0)], true, [true, true]),
        // Another locale.
        (vec![("a1", 0), ("a2", 1)], true, [false, false]),
        // The draft of the first one reads another category.
        (vec![], true, [true, true]),
        (vec![("a3", 0)], false, [true, true]),
        // It may be among the drafts that were not read.
        (vec![("a0", 0)], false, [false, true]),
        (vec![], false, [false, false]),
    ] {
        for (site, more) in sites.iter().zip(expected) {
            let without = world(site, &[(A, published.clone())]);
            let draft_dependents = of_drafts(&versions, are_all);
            let world = World { draft_dependents, ..without.clone() };
            let draft = document("c1", &[("slug", "c")]);
            let (preview, unaware) = (previewed(&world, B, &draft), previewed(&without, B, &draft));
            let found = (preview.publish.dependents.more, preview.publish.gone.more);
            assert_eq!(found, (more, more), "{versions:?} {are_all}");
            assert!(!unaware.publish.dependents.more);
            assert_eq!(preview.unpublish, unaware.unpublish);
        }
    }
}

#[test]
fn document_that_only_drafts_read_is_previewed_with_the_fields_that_they_read() {
    let site = site(vec![rule(A, "/{category.slug}/{slug}")]);
    let world = world(&site, &[]);
    let unknown = DraftDependents { drafts: None, ..of_drafts(&[], true).remove(0) };
    let wanted = BTreeSet::from([field("documentId"), field("slug")]);
    for (draft_dependents, wanted, more) in [
        (of_drafts(&[], true), BTreeSet::new(), false),
        (of_drafts(&[("a2", 0)], true), wanted.clone(), false),
        (vec![unknown], wanted, true),
    ] {
        let world = World { draft_dependents, ..world.clone() };
        assert_eq!(fields(&world, B, "c2"), wanted);
        let preview = previewed(&world, B, &document("c2", &[("slug", "c")]));
        assert_eq!(preview.publish.dependents.more, more);
    }
}

#[test]
fn count_of_more_dependents_than_are_computed_is_a_lower_bound() {
    let site = site(vec![rule(A, "/{category.slug}/{slug}")]);
    let count = 10_001;
    let article = |at: usize| {
        let slug = format!("s{at}");
        document(&slug, &[("slug", &slug), ("category.slug", "c"), ("category.documentId", "c1")])
    };
    let world = world(&site, &[(A, (0..count).map(article).collect())]);
    assert_eq!(fields(&world, B, "none"), BTreeSet::new());
    let wanted = fields(&world, B, "c1");
    assert_eq!(wanted, BTreeSet::from([field("documentId"), field("slug")]));
    let preview = previewed(&world, B, &document("c1", &[("documentId", "c1"), ("slug", "d")]));
    let Group { count: moved, more, first } = preview.publish.dependents;
    assert_eq!((moved, more, first.len()), (count - 1, true, MAX_ROWS));
    assert_eq!(preview.unpublish.gone.count, count - 1);
}

#[test]
fn page_below_its_own_descendant_has_no_path() {
    let mut page = rule(A, "/{*path}");
    let source = Some(Source::ancestors(&field("slug"), &field("parent"), 5));
    assert!(page.set_param("path", &Param { source, constraint: None }));
    let site = site(vec![page]);
    let read = site.rules.listing_fields(A);
    let page = |id: &str, values: &[(&str, &str)]| {
        let own = document(id, values);
        let value = |field: &FieldPath| own.field(field).clone();
        Document { values: read.iter().map(value).collect(), fields: read.clone().into(), ..own }
    };
    let top = page("p1", &[("documentId", "p1"), ("slug", "a")]);
    let middle = page("p2", &[("slug", "b"), ("parent.documentId", "p1"), ("parent.slug", "a")]);
    let last = [
        ("slug", "c"),
        ("parent.documentId", "p2"),
        ("parent.slug", "b"),
        ("parent.parent.documentId", "p1"),
        ("parent.parent.slug", "a"),
    ];
    let last = page("p3", &last);
    let world = world(&site, &[(A, vec![top, middle, last])]);
    let below = page("p1", &[("slug", "a"), ("parent.documentId", "p3"), ("parent.slug", "c")]);
    let preview = previewed(&world, A, &below);
    let reason = preview.publish.no_path.map(|own| own.reason);
    assert_eq!(reason.as_deref(), Some("path_ancestor_cycle"));
    let gone: Vec<&str> = preview.publish.gone.first.iter().map(|own| own.path.as_str()).collect();
    assert_eq!(gone, ["/a", "/a/b", "/a/b/c"]);
}

#[test]
fn version_in_a_locale_that_the_site_does_not_have_has_no_preview() {
    let site = site(vec![rule(A, "/{slug}")]);
    assert!(site.rules.locales().get("fr").is_none() && Locale::parse("fr").is_ok());
    let mut draft = document("d", &[("slug", "x")]);
    draft.locale = DocumentLocale::Named("fr".into());
    assert!(Subject::of(&site, A, &draft).is_none());
}
