//! Examples of each type: one with all members, and one with the fewest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::http::response::error::ApiError;
use crate::http::responses::{
    Accepted, BatchResult, Candidate, ChangeList, CheckedPage, ClearedMisses, DeadUrl, Details,
    DocumentUrls, FrontendUrl, LastCheck, LastContent, LastRun, LocaleUrl, ProgressEvent,
    PublishPreview, ReadingLinks, RedirectType, SiteRow, Sites, StoppedEvent, Success, UrlState,
    ValidationResult, Validations,
};
use frontend_map_catalog::changes::log::{ChangeRow, Kind as ChangeKind};
use frontend_map_catalog::json::to_text;
use frontend_map_catalog::links::{ContentLink, LinkFigures, LinkRows, VerdictCounts};
use frontend_map_catalog::misses::{MissCount, MissRow, MissSuggestion, Misses, NewRedirect};
use frontend_map_catalog::moved::redirects::{EntryName, FormerPathRow, RedirectCount, Redirects};
use frontend_map_catalog::path_index::{PathOwner, SharedPath};
use frontend_map_catalog::preview::{
    Decider, DocumentVersion, Group, LostPage, MovedPage, NoPath, PathConflict, PathMove,
    PathRedirect, PublishEffect, RelatedDocument, SiteDecider, SitePreview, Wins,
};
use frontend_map_catalog::resolve::{
    Alternates, Breadcrumb, CompactMatch, Gone, Kind, ParamValues, PathMatch, Redirection,
    ResolvedBy, ResolvedPath, RuleMatch,
};
use frontend_map_catalog::site::AbsoluteUrl;
use frontend_map_catalog::sitemap::{Form, List};
use frontend_map_catalog::snapshot::{Builder, Listing};
use frontend_map_catalog::tables::{
    PageCount, PageRow, Pages, Problem, ProblemCount, Problems, RedirectProblem, Rows, VersionRow,
};
use frontend_map_cms::ContentError;
use frontend_map_outbound::checks::content::{Fault, FaultKind, FaultTally, UnreadableRobots};
use frontend_map_outbound::checks::report::{Classes, FoundInPages, Tally, UrlCheck};
use frontend_map_outbound::checks::{Finding, Source};
use frontend_map_outbound::webhooks::{ChangesMessage, ChangesOfSite};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

const UID: &str = "api::article.article";
const AT: &str = "2024-03-06T10:00:00.000Z";

fn text(text: &str) -> String {
    text.to_owned()
}

fn at() -> String {
    text(AT)
}

/// A value as the service writes it.
fn written(value: &impl Serialize) -> Value {
    serde_json::from_str(&to_text(value)).unwrap()
}

/// The response with a payload.
fn success(data: impl Serialize) -> Value {
    written(&Success::new(data))
}

/// The response with a table.
fn table<R: Rows>(figures: &R::Figures, rows: Vec<Value>) -> Value {
    let mut data = written(figures);
    data[R::NAME] = rows.into();
    success(data)
}

fn base() -> BaseUrl {
    BaseUrl::parse("https://example.com").unwrap()
}

/// The examples of the success of an operation.
pub(super) fn of_route(method: &str, path: &str) -> Vec<Value> {
    match (method, path) {
        (_, "/api/get-content-type") => {
            vec![success(path_match()), success(CompactMatch { content_type: UID })]
        }
        (_, "/api/resolve") => resolved(),
        (_, "/api/frontend-url") => vec![frontend_url(Some(shared_path())), frontend_url(None)],
        (_, "/api/frontend-urls") => vec![frontend_urls()],
        (_, "/api/document") => vec![document()],
        (_, "/api/publish-preview") => previews(),
        (_, "/api/sites") => vec![sites()],
        (_, "/api/build-sitemap") => [vec![url_list()], validations_of_run()].concat(),
        (_, "/api/pages") => vec![pages()],
        (_, "/api/problems") => vec![problems()],
        ("delete", "/api/misses") => vec![success(ClearedMisses { cleared: 1 })],
        (_, "/api/misses") => vec![misses()],
        (_, "/api/redirects") => vec![redirects()],
        (_, "/api/validations") => vec![validations(Some(link_figures())), validations(None)],
        ("post", "/api/links") => vec![success(ReadingLinks { is_reading: true })],
        (_, "/api/links") => vec![links()],
        (_, "/api/changes") => {
            let (cursor, changes) = (text("0"), changes());
            vec![success(ChangeList { cursor, more: true, reset: false, changes })]
        }
        (_, "/hooks/cms") => {
            let accepted = |content_types| success(Accepted { accepted: true, content_types });
            vec![accepted(Some(1)), accepted(None)]
        }
        (_, "/openapi.json") => vec![json!({})],
        _ => Vec::new(),
    }
}

/// The examples of schemas that no response of an operation has.
pub(super) fn of_components() -> Vec<(&'static str, Vec<Value>)> {
    let message = |reset| ChangesMessage {
        kind: "frontend-map.changes",
        timestamp: at(),
        data: ChangesOfSite { site: "main", reset, changes: changes() },
    };
    let progress = ProgressEvent { checked: 1, total: 2, by_class: Classes::default() };
    vec![
        ("ChangesMessage", vec![written(&message(Some(true))), written(&message(None))]),
        (
            "FindingEvent",
            vec![
                written(&finding(redirected(), UID, faults())),
                written(&finding(failed(), "pages", Vec::new())),
            ],
        ),
        ("ProgressEvent", vec![written(&progress)]),
        ("StoppedEvent", vec![written(&StoppedEvent { reason: "shutdown" })]),
    ]
}

/// Each error that clients see.
pub(super) fn errors() -> Vec<Value> {
    let no_match = |candidates, gone| Details::NoMatch {
        pathname: text("/x"),
        normalized_path: text("/x"),
        candidates,
        gone,
    };
    let candidate = |segment| Candidate {
        collection_type: text(UID),
        rule: text("/{slug}"),
        reason: "static_mismatch",
        segment,
    };
    let no_url = |rule| Details::NoUrl { reason: "no_version".into(), rule };
    let not_found = |details| ApiError::not_found("not found").with(details);
    let errors = [
        ApiError::validation("invalid"),
        ApiError::unauthorized(),
        ApiError::forbidden(),
        ApiError::missing("no_route"),
        ApiError::missing("no_site"),
        ApiError::missing("no_file"),
        not_found(no_match(Some(vec![candidate(Some(0)), candidate(None)]), None)),
        not_found(no_match(None, Some(Gone::since(0)))),
        not_found(no_match(None, Some(gone_by_redirect()))),
        not_found(no_url(Some(text("/{slug}")))),
        not_found(no_url(None)),
        ApiError::not_configured("not configured"),
        ApiError::not_configured("not configured").with(Details::Path { path: text("/x") }),
        ApiError::method_not_allowed("GET"),
        ApiError::target_too_long(1),
        ApiError::payload_too_large(1),
        ApiError::request_timeout(Duration::from_secs(1)),
        ApiError::overloaded(),
        ApiError::internal(),
        ContentError::TimedOut.into(),
        ContentError::TlsFailed.into(),
    ];
    errors.iter().map(|error| serde_json::from_slice(&error.text()).unwrap()).collect()
}

fn path_match() -> PathMatch<'static> {
    PathMatch { site: "main", pathname: "/x", locale: "en", matched: rule_match() }
}

fn rule_match() -> RuleMatch<'static> {
    let params = ParamValues { locale: "en", captured: None };
    RuleMatch { collection_type: UID, rule: "/{slug}", params }
}

fn gone_by_redirect() -> Gone<'static> {
    Gone { since: None, status: Some(410), entry: Some("r1") }
}

fn resolved() -> Vec<Value> {
    let base = base();
    let url = AbsoluteUrl { base: &base, path: "/x" };
    let redirection = |to: Option<&str>, document_id, since| Redirection {
        to: to.map(text),
        path: Some(text("/y")),
        status: 301,
        document_id,
        locale: "en",
        since,
        entry: to.map(|_| "r1"),
    };
    let breadcrumb =
        |url| Breadcrumb { path: "/", url, content_type: None, document_id: None, page: None };
    let breadcrumbs = || {
        vec![
            Breadcrumb { page: Some("home"), ..breadcrumb(None) },
            Breadcrumb {
                content_type: Some(UID),
                document_id: Some("a1"),
                ..breadcrumb(Some(url))
            },
        ]
    };
    // With and without what may be `null` or absent.
    let of_kind = |kind, is_full: bool| {
        let mut path = ResolvedPath::of_rule(path_match(), ResolvedBy::Documents);
        path.kind = kind;
        if is_full {
            path.resource = Some(text("/api/articles/a1"));
            path.last_modified = Some(at());
            path.breadcrumbs = breadcrumbs();
            path.alternates = Alternates::default();
        }
        path
    };
    let mut paths = Vec::new();
    for is_full in [true, false] {
        let redirect = || {
            if is_full {
                redirection(Some("https://example.com/y"), Some("a1"), Some(at()))
            } else {
                redirection(None, None, None)
            }
        };
        let canonical_url = is_full.then_some(url);
        paths.push(success(ResolvedPath {
            document_id: Some("a1"),
            canonical_path: Some("/y"),
            canonical_url,
            is_canonical: Some(!is_full),
            redirect: is_full.then(redirect),
            former_paths: is_full.then(|| vec![text("/z")]),
            shared_path: is_full.then(shared_path),
            ..of_kind(Kind::Document, is_full)
        }));
        paths.push(success(ResolvedPath {
            matched: None,
            page: Some("contact"),
            canonical_path: Some("/y"),
            canonical_url,
            is_canonical: Some(!is_full),
            redirect: is_full.then(redirect),
            ..of_kind(Kind::Page, is_full)
        }));
        paths.push(success(ResolvedPath {
            matched: is_full.then(rule_match),
            redirect: Some(redirect()),
            ..of_kind(Kind::Redirect, is_full)
        }));
        paths.push(success(ResolvedPath {
            gone: is_full.then(gone_by_redirect),
            ..of_kind(Kind::None, is_full)
        }));
    }
    paths.push(success(ResolvedPath { gone: Some(Gone::since(0)), ..of_kind(Kind::None, false) }));
    paths
}

fn shared_path() -> SharedPath {
    SharedPath {
        owner: PathOwner {
            content_type: text(UID),
            document_id: text("a2"),
            locale: text("en"),
            admin_url: None,
        },
    }
}

fn frontend_url(shared_path: Option<SharedPath>) -> Value {
    success(FrontendUrl { url: text("https://example.com/x"), path: text("/x"), shared_path })
}

fn frontend_urls() -> Value {
    let (base, shared_path) = (base(), shared_path());
    let full = BatchResult {
        uid: Some(UID),
        document_id: Some("a1"),
        locale: Some("en"),
        url: Some(AbsoluteUrl { base: &base, path: "/x" }),
        path: Some("/x"),
        reason: Some("no_version"),
        rule: Some("/{slug}"),
        shared_path: Some(&shared_path),
    };
    success(json!({ "results": [written(&full), written(&BatchResult::default())] }))
}

fn document() -> Value {
    let url = |is_full: bool| UrlState::Url {
        url: is_full.then(|| text("https://example.com/x")),
        path: text("/x"),
        former_paths: vec![text("/y")],
        shared_path: is_full.then(shared_path),
        last_check: is_full.then(|| Box::new(last_check(redirected()))),
    };
    let failed = UrlState::Url {
        url: None,
        path: text("/x"),
        former_paths: Vec::new(),
        shared_path: None,
        last_check: Some(Box::new(last_check(failed()))),
    };
    let no_url = |rule| UrlState::NoUrl { reason: text("slug_missing"), rule };
    let states = [url(true), url(false), failed, no_url(Some("/{slug}")), no_url(None)];
    let locales = states.into_iter().map(|state| LocaleUrl { locale: "en", state }).collect();
    success(DocumentUrls { site: "main", content_type: UID, document_id: "a1", locales })
}

fn last_check(entry: UrlCheck) -> LastCheck {
    LastCheck { entry, at: at(), locale: text("en") }
}

/// A result with a response.
fn redirected() -> UrlCheck {
    UrlCheck {
        url: text("https://example.com/x"),
        status: Some(301),
        ok: false,
        location: Some(text("/y")),
        reason: None,
    }
}

/// A result without a response.
fn failed() -> UrlCheck {
    let reason = Some(text("fetch failed: dns"));
    UrlCheck { url: text("https://example.com/x"), status: None, ok: false, location: None, reason }
}

fn previews() -> Vec<Value> {
    let sites = |is_full| vec![preview(is_full)];
    [true, false]
        .into_iter()
        .map(|is_full| {
            success(PublishPreview {
                content_type: UID,
                document_id: "a1",
                locale: "en",
                sites: sites(is_full),
                unknown: if is_full { vec!["other"] } else { Vec::new() },
            })
        })
        .collect()
}

fn preview(is_full: bool) -> SitePreview {
    SitePreview {
        site: text("main"),
        path: is_full.then(|| text("/x")),
        publish: if is_full { effect() } else { PublishEffect::default() },
        unpublish: PublishEffect::default(),
        delete: PublishEffect {
            conflict: Some(conflict(false)),
            moves: Some(moves(false)),
            ..PublishEffect::default()
        },
    }
}

fn effect() -> PublishEffect {
    let related = || vec![RelatedDocument { field: text("category"), document_id: text("c1") }];
    let moved = |is_full| MovedPage { version: version(is_full), moves: moves(is_full) };
    let lost = |is_full| LostPage { version: version(is_full), path: text("/x") };
    PublishEffect {
        ok: false,
        path: Some(text("/x")),
        url: Some(text("https://example.com/x")),
        no_path: Some(NoPath {
            reason: text("slug_missing"),
            rule: text("/{slug}"),
            message: text("the slug is missing"),
        }),
        unpublished: related(),
        assumed: related(),
        conflict: Some(conflict(true)),
        redirect: Some(path_redirect(Some("/y"))),
        moves: Some(moves(true)),
        dependents: Group { count: 2, more: false, first: vec![moved(true), moved(false)] },
        gone: Group { count: 2, more: true, first: vec![lost(true), lost(false)] },
    }
}

fn version(is_full: bool) -> DocumentVersion {
    DocumentVersion {
        content_type: text(UID),
        document_id: text("a1"),
        locale: text("en"),
        title: is_full.then(|| text("Welcome")),
        admin_url: is_full.then(|| text("https://cms.example.com/admin")),
    }
}

fn conflict(is_full: bool) -> PathConflict {
    PathConflict {
        path: text("/x"),
        document: is_full.then(|| version(true)),
        page: is_full.then(|| text("contact")),
        rule: is_full.then(|| text("/{slug}")),
        wins: Wins::This,
        by: Decider::Site(SiteDecider::OwnPath),
    }
}

fn moves(is_full: bool) -> PathMove {
    let redirect = is_full.then(|| path_redirect(None));
    PathMove { from: text("/x"), to: text("/y"), redirects: true, redirect }
}

fn path_redirect(to: Option<&str>) -> PathRedirect {
    PathRedirect { document: version(false), to: to.map(text), force: false }
}

fn sites() -> Value {
    let row = |is_full: bool| RedirectType {
        content_type: UID,
        from: text("from"),
        to: is_full.then(|| text("to")),
        document: is_full.then(|| text("target")),
    };
    let redirects = vec![row(true), row(false)];
    let site = SiteRow { key: "main", locales: vec!["en"], content_types: vec![UID], redirects };
    success(Sites { sites: vec![site] })
}

/// The list of a snapshot with one URL.
fn url_list() -> Value {
    let uid = ContentTypeUid::parse(UID).unwrap();
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    let rule = Rule::new(uid, Template::parse("/{slug}").unwrap());
    let rules = RuleSet::new(locales, LocalePrefix::Always, vec![rule]);
    let hosts = Hosts::one(base(), 1);
    let mut part = Listing { rules: &rules, hosts: &hosts, uid: UID }.part();
    part.add(&Document {
        id: "a1".into(),
        locale: DocumentLocale::None,
        unpublished: false,
        fields: Arc::new([FieldPath::parse("slug").unwrap()]),
        values: vec![FieldValue::Text("x".into())],
    });
    let snapshot = (Builder { path_table: true }).finish(vec![part]).unwrap();
    let text: String = List::new(Arc::new(snapshot), None, &hosts, Form::Json).collect();
    serde_json::from_str(&text).unwrap()
}

fn tally() -> Tally {
    Tally { count: 1, by_class: Classes::default(), by_status: BTreeMap::from([(200, 1)]) }
}

fn finding(entry: UrlCheck, content_type: &'static str, faults: Vec<Fault>) -> Finding<'static> {
    let (document_id, locale, rule) = ("a1", "en", "/{slug}");
    let (title, admin_url) = (None, None);
    Finding { entry, content_type, document_id, locale, rule, title, admin_url, faults }
}

fn faults() -> Vec<Fault> {
    vec![Fault::new(FaultKind::Noindex, "<meta>: noindex"), Fault::new(FaultKind::Soft404, "")]
}

fn found_in_pages(robots: Vec<UnreadableRobots>) -> FoundInPages {
    let mut tally = FaultTally::default();
    tally.add(true, &faults());
    FoundInPages { tally, robots }
}

fn unreadable_robots() -> Vec<UnreadableRobots> {
    vec![UnreadableRobots { url: text("https://example.com/robots.txt"), reason: text("503") }]
}

fn validation<R: Serialize>(content: Option<FoundInPages>, results: Vec<R>) -> Value {
    let (site, content_type, tally) = ("main", UID, tally());
    success(ValidationResult { validated: true, site, content_type, tally, content, results })
}

fn validations_of_run() -> Vec<Value> {
    let findings =
        || vec![finding(redirected(), UID, faults()), finding(failed(), "pages", Vec::new())];
    vec![
        validation(None, vec![redirected(), failed()]),
        validation(Some(found_in_pages(unreadable_robots())), findings()),
        validation(Some(found_in_pages(Vec::new())), findings()),
    ]
}

fn pages() -> Value {
    let base = base();
    let row = |is_full: bool| PageRow {
        path: "/x",
        url: is_full.then_some(AbsoluteUrl { base: &base, path: "/x" }),
        locale: "en",
        content_type: is_full.then_some(UID),
        document_id: is_full.then_some("a1"),
        rule: is_full.then_some("/{slug}"),
        params: is_full.then_some(ParamValues { locale: "en", captured: None }),
        page: is_full.then_some("contact"),
        last_modified: is_full.then(at),
        listed: is_full,
    };
    let rows = [true, false].map(|is_full| written(&row(is_full)));
    table::<Pages>(&PageCount { count: 2 }, rows.into())
}

fn problems() -> Value {
    let version = |is_full: bool| VersionRow {
        content_type: UID,
        document_id: "a1",
        locale: is_full.then_some("en"),
        title: is_full.then_some("Welcome"),
        admin_url: is_full.then(|| text("https://cms.example.com/admin")),
        rule: 0,
    };
    let of_version = |is_full: bool| {
        let no_url =
            Problem::NoUrl { version: version(is_full), reason: "slug_missing", rule: "/{slug}" };
        let redirect = RedirectProblem {
            kind: "redirect_unusable",
            version: version(is_full),
            path: is_full.then(|| text("/x")),
            reason: is_full.then_some("target_missing"),
        };
        [written(&no_url), written(&Problem::Redirect(redirect))]
    };
    let others = vec![version(true), version(false)];
    let shared = |owner| Problem::SharedPath { path: "/x", owner, others: others.clone() };
    let shared = [written(&shared(version(true)))];
    let rows = [true, false].into_iter().flat_map(of_version).chain(shared).collect();
    table::<Problems>(&ProblemCount { count: 5, truncated: false }, rows)
}

fn misses() -> Value {
    let row = |is_full: bool| MissRow {
        kind: if is_full { "path" } else { "scanners" },
        host: is_full.then(|| text("example.com")),
        path: is_full.then(|| text("/x")),
        count: 1,
        error: 0,
        first_at: is_full.then(at),
        last_at: is_full.then(at),
        suggestion: None,
        redirect: None,
    };
    let suggestion = |is_full: bool| MissSuggestion {
        path: text("/y"),
        url: is_full.then(|| text("https://example.com/y")),
        locale: text("en"),
        content_type: is_full.then(|| text(UID)),
        document_id: is_full.then(|| text("a1")),
        page: is_full.then(|| text("contact")),
        reason: "similar",
    };
    let redirect = |is_full: bool| NewRedirect {
        from: text("/x"),
        to: is_full.then(|| text("/y")),
        locale: is_full.then(|| text("en")),
    };
    let with_both = |is_full| MissRow {
        suggestion: Some(suggestion(is_full)),
        redirect: Some(redirect(is_full)),
        ..row(true)
    };
    let rows = [with_both(true), with_both(false), row(false)].map(|row| written(&row));
    table::<Misses>(&MissCount { count: 3, uncounted: 0 }, rows.into())
}

fn redirects() -> Value {
    let row = |is_full: bool| FormerPathRow {
        from: text("/x"),
        host: is_full.then_some("example.com"),
        to: is_full.then(|| text("https://example.com/y")),
        path: is_full.then(|| text("/y")),
        status: if is_full { 301 } else { 410 },
        document_id: is_full.then_some("a1"),
        content_type: is_full.then_some(UID),
        locale: "en",
        since: is_full.then(at),
        entry: is_full.then_some(EntryName { content_type: UID, document_id: "r1", force: true }),
    };
    let rows = [true, false].map(|is_full| written(&row(is_full)));
    table::<Redirects>(&RedirectCount { count: 2, gone: 1 }, rows.into())
}

fn link_figures() -> LinkFigures {
    let verdicts = VerdictCounts::default();
    let (count, documents, broken) = (2, 2, 0);
    LinkFigures { count, documents, broken, verdicts, read_at: at(), left_out: 0, unreadable: 0 }
}

fn links() -> Value {
    let row = |is_full: bool| ContentLink {
        content_type: UID.into(),
        document_id: "a1".into(),
        locale: is_full.then(|| "en".into()),
        url: is_full.then(|| text("https://example.com/x")),
        admin_url: is_full.then(|| text("https://cms.example.com/admin")),
        field: text("body"),
        text: "More".into(),
        address: "/y".into(),
        path: is_full.then(|| text("/y")),
        verdict: "ok".into(),
        to: is_full.then(|| "https://example.com/y".into()),
    };
    table::<LinkRows>(&link_figures(), [true, false].map(|is_full| written(&row(is_full))).into())
}

fn validations(links: Option<LinkFigures>) -> Value {
    let source = |is_page: bool| {
        if is_page {
            Source::Page { page: "contact", locale: "en" }
        } else {
            Source::Document { document_id: "a1", locale: "en", rule: "/{slug}" }
        }
    };
    let dead = |UrlCheck { url, status, reason, .. }: UrlCheck, is_page: bool| DeadUrl {
        url,
        status,
        reason,
        source: source(is_page),
        since: at(),
    };
    let page = |entry, faults| CheckedPage { entry, source: source(false), faults };
    let content = |robots| LastContent { ended_at: at(), found: found_in_pages(robots) };
    let run = |pages, content| LastRun {
        content_type: UID,
        tally: tally(),
        started_at: at(),
        ended_at: at(),
        truncated: false,
        content,
        pages,
        dead: vec![dead(redirected(), false), dead(failed(), true)],
    };
    let pages = vec![page(redirected(), faults()), page(failed(), Vec::new())];
    let with_robots = run(Some(pages), Some(content(unreadable_robots())));
    let validations = vec![with_robots, run(None, Some(content(Vec::new()))), run(None, None)];
    success(Validations { validations, links })
}

fn changes() -> Vec<ChangeRow> {
    let change = |from: Option<&str>| ChangeRow {
        kind: ChangeKind::Moved,
        content_type: text(UID),
        document_id: text("a1"),
        locale: text("en"),
        path: text("/y"),
        from: from.map(text),
        at: at(),
    };
    vec![change(Some("/x")), change(None)]
}
