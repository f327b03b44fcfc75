//! Edits in a CMS that reports them by its webhook, and edits that only a walk finds.

use super::{apply, assert_leads, leads_to};
use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::refusal;
use crate::support::hook::{SECRET, post_body};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

fn settings(cms: &Cms, template: &str) -> Settings {
    site("main").resolve("documents").rule("api::page.page", template).strapi(cms)
}

pub(super) fn service(cms: &Cms, template: &str) -> Service {
    let service = settings(cms, template).env("FRONTEND_MAP__HOOKS__SECRET", SECRET).start();
    for path in ["/no-such", "/no-such/path"] {
        until_so("the first walk", || leads_to(&service, path) != "503");
    }
    service
}

/// The webhook about a document, or about any.
pub(super) fn report(service: &Service, id: Option<&str>) {
    let entry = id.map(|id| {
        format!(
            r#"{{"event":"entry.publish","model":"page","uid":"api::page.page","entry":{{"documentId":"{id}"}}}}"#
        )
    });
    let response = post_body(service, entry.unwrap_or_default().as_bytes());
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
}

/// Reports each of these documents, and waits until a path leads somewhere.
fn edited(service: &Service, ids: &[&str], path: &str, leads: &str) {
    for id in ids {
        report(service, Some(id));
    }
    until_so(path, || leads_to(service, path) == leads);
}

/// From now on walks fail, so that documents are read by themselves alone.
fn fail_walks(content: &Content) {
    content.fail(|target| {
        let is_of_all = Query::parse(target)?.ids.is_empty();
        is_of_all.then(|| refusal(500, "InternalServerError", "{}"))
    });
}

#[test]
fn document_that_is_renamed_there_and_back_redirects_from_the_other_path_alone() {
    let content = Content::new(&[("en", "a", "one"), ("en", "b", "b")]);
    let cms = content.start();
    let service = service(&cms, "/{slug}");
    fail_walks(&content);
    content.publish("en", "a", "two");
    edited(&service, &["a"], "/two", "document a");
    assert_leads(&service, &[("/one", "redirect /two"), ("/b", "document b")]);
    content.publish("en", "a", "one");
    edited(&service, &["a"], "/one", "document a");
    assert_leads(&service, &[("/two", "redirect /one")]);
    content.publish("en", "a", "three");
    edited(&service, &["a"], "/three", "document a");
    assert_leads(&service, &[("/one", "redirect /three"), ("/two", "redirect /three")]);
}

#[test]
fn swapped_paths_are_live_and_later_lead_to_their_last_owners() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
    let cms = content.start();
    let service = service(&cms, "/{slug}");
    fail_walks(&content);
    content.publish("en", "a", "y");
    content.publish("en", "b", "x");
    edited(&service, &["a", "b"], "/x", "document b");
    until_so("/y", || leads_to(&service, "/y") == "document a");
    content.publish("en", "a", "u");
    edited(&service, &["a"], "/u", "document a");
    assert_leads(&service, &[("/x", "document b"), ("/y", "redirect /u")]);
    content.publish("en", "b", "v");
    edited(&service, &["b"], "/v", "document b");
    assert_leads(&service, &[("/x", "redirect /v"), ("/y", "redirect /u")]);
}

#[test]
fn path_that_three_documents_hand_round_leads_to_the_last_one() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "b"), ("en", "c", "c")]);
    let cms = content.start();
    let service = service(&cms, "/{slug}");
    fail_walks(&content);
    for (from, to) in [("a", "b"), ("b", "c")] {
        content.publish("en", from, &format!("{from}2"));
        content.publish("en", to, "x");
        edited(&service, &[from, to], "/x", &format!("document {to}"));
        let own = (format!("/{from}2"), format!("document {from}"));
        until_so(&own.0, || leads_to(&service, &own.0) == own.1);
    }
    content.publish("en", "c", "c2");
    edited(&service, &["c"], "/c2", "document c");
    assert_leads(
        &service,
        &[("/x", "redirect /c2"), ("/b", "redirect /b2"), ("/c", "redirect /c2")],
    );
}

#[test]
fn document_that_is_unpublished_is_gone_until_it_is_published_again() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "b")]);
    let cms = content.start();
    let service = service(&cms, "/{slug}");
    fail_walks(&content);
    content.publish("en", "a", "y");
    edited(&service, &["a"], "/x", "redirect /y");
    content.unpublish("en", "a");
    edited(&service, &["a"], "/y", "gone");
    assert_leads(&service, &[("/x", "gone"), ("/b", "document b")]);
    content.publish("en", "a", "z");
    edited(&service, &["a"], "/z", "document a");
    assert_leads(&service, &[("/x", "redirect /z"), ("/y", "redirect /z")]);
}

#[test]
fn path_that_another_document_takes_over_is_live() {
    // Two documents have the path; the first by its id owns it.
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "x")]);
    let cms = content.start();
    let service = service(&cms, "/{slug}");
    fail_walks(&content);
    assert_leads(&service, &[("/x", "document a")]);
    content.publish("en", "a", "y");
    edited(&service, &["a"], "/x", "document b");
    content.unpublish("en", "b");
    edited(&service, &["b"], "/x", "gone");
    assert_leads(&service, &[("/y", "document a")]);
}

#[test]
fn renamed_parent_that_a_walk_finds_moves_all_its_documents() {
    let content = Content::default();
    let put = |parent: &str| {
        for n in 0..300 {
            let fields =
                format!(r#","slug":"s{n}","parent":{{"documentId":"p","slug":"{parent}"}}"#);
            content.put("en", &format!("d{n:03}"), &fields);
        }
    };
    put("old");
    let cms = content.start();
    let service = service(&cms, "/{parent.slug}/{slug}");
    until_so("the first walk", || leads_to(&service, "/old/s0") == "document d000");
    for parent in ["new", "newer", "old"] {
        put(parent);
        report(&service, None);
        let path = format!("/{parent}/s299");
        until_so(&path, || leads_to(&service, &path) == "document d299");
    }
    for n in [0, 150, 299] {
        let document = format!("document d{n:03}");
        let [old, new, newer] = ["old", "new", "newer"].map(|parent| format!("/{parent}/s{n}"));
        let redirect = format!("redirect {old}");
        assert_leads(&service, &[(&old, &document), (&new, &redirect), (&newer, &redirect)]);
    }
}

#[test]
fn walk_that_fails_enters_nothing() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = service(&cms, "/{slug}");
    content.unpublish("en", "a");
    fail_walks(&content);
    report(&service, None);
    assert!(service.logs("a walk failed"), "{}", service.log());
    assert_leads(&service, &[("/x", "document a")]);
}

#[test]
fn path_by_rules_that_are_replaced_is_never_without_a_document() {
    let content = Content::new(&[("en", "a", "w"), ("en", "b", "b")]);
    let cms = content.start();
    let service = service(&cms, "/{slug}");
    content.publish("en", "a", "x");
    edited(&service, &["a"], "/w", "redirect /x");
    // No walk by the new rules can end, and no rule matches the old paths.
    content.close();
    service.rewrite("settings.toml", &settings(&cms, "/p/{slug}").toml());
    service.send_signal("HUP");
    until_so("/x", || leads_to(&service, "/x") == "503");
    assert_leads(&service, &[("/w", "503"), ("/b", "503"), ("/no-such", "404")]);
    content.open();
    until_so("/x", || match leads_to(&service, "/x").as_str() {
        "503" => false,
        "redirect /p/x" => true,
        other => panic!("{other}"),
    });
    assert_leads(&service, &[("/w", "redirect /p/x"), ("/b", "redirect /p/b")]);
    // Whichever request comes first by the next rules.
    service.rewrite("settings.toml", &settings(&cms, "/q/{slug}").toml());
    service.send_signal("HUP");
    until_so("/p/x", || match leads_to(&service, "/p/x").as_str() {
        "503" | "document a" => false,
        "redirect /q/x" => true,
        other => panic!("{other}"),
    });
}

#[test]
fn documents_of_another_cms_are_others() {
    let [one, other] =
        ["x", "y"].map(|slug| Content::new(&[("en", "a", slug), ("en", "b", slug)]).start());
    let service = service(&one, "/{slug}");
    assert_leads(&service, &[("/x", "document a")]);
    for (cms, path) in [(&other, "/y"), (&one, "/x")] {
        apply(&service, &settings(cms, "/{slug}"));
        until_so(path, || leads_to(&service, path) == "document a");
    }
    assert_leads(&service, &[("/y", "none")]);
    // The history of the first one goes on.
    apply(&service, &settings(&one, "/p/{slug}"));
    until_so("it redirects", || leads_to(&service, "/x") == "redirect /p/x");
}
