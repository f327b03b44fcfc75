//! What `/api/resolve` says while the documents of some content types are not known (D33).

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use super::{by, document_of, resolve, rules, service, uid, until};
use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::http::{self, Response};
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::site;
use crate::support::wait::until_so;

const SILENT: u16 = 0;

/// The faults of a CMS with one document of each content type, by the name of the type.
#[derive(Clone, Default)]
pub(crate) struct Faults(Arc<Mutex<Vec<(String, u16)>>>);

impl Faults {
    /// From now on lists of this type get this status; 0: no response.
    pub(crate) fn set(&self, name: &str, status: u16) {
        let mut faults = self.0.lock().expect("no panic");
        faults.retain(|(own, _)| own != name);
        faults.push((name.to_owned(), status));
    }

    pub(crate) fn heal(&self) {
        self.0.lock().expect("no panic").clear();
    }

    fn of(&self, target: &str) -> Option<u16> {
        let faults = self.0.lock().expect("no panic");
        let has = |(name, _): &&(String, u16)| target.starts_with(&format!("/api/{name}?"));
        faults.iter().find(has).map(|(_, status)| *status)
    }

    /// `about` is a page, `journey` a story, `refund` a question, all in English.
    pub(crate) fn start(&self) -> Cms {
        let faults = self.clone();
        Cms::start(move |target| match faults.of(target) {
            Some(SILENT) => Script::silence(),
            Some(status) => refusal(status, "Error", "{}"),
            None => document(target),
        })
    }
}

fn document(target: &str) -> Script {
    let slugs = [("page", "about"), ("story", "journey"), ("faq", "refund")];
    let own = slugs.iter().find(|(name, _)| target.starts_with(&format!("/api/{name}?")));
    let (Some((name, slug)), true) = (own, target.contains("locale=en")) else {
        return list(&[], 100, 0);
    };
    let more = format!(r#","locale":"en","slug":"{slug}""#);
    let rows = [(*name, more.as_str())];
    list(if target.contains("$gt") { &[] } else { &rows }, 100, 1)
}

pub(crate) fn setup(cms: &Cms) -> Setup {
    rules(site("main").locales(&["en", "de"]).resolve("documents"))
        .more("[snapshots]\nsoft_seconds = 1")
        .strapi(cms)
        .singular_endpoints()
        .setup()
}

fn get(service: &Service, pathname: &str) -> Response {
    http::get(service.addr(), &document_of(pathname))
}

/// Page and story decide about the first path, the question about the second.
fn until_all_are_known(service: &Service) {
    for pathname in ["/en/journey", "/help/refund.html"] {
        until(service, &document_of(pathname), |response| response.status == 200);
    }
}

fn id(response: &Response) -> String {
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["data"]["documentId"].as_str().unwrap_or("none").to_owned()
}

#[track_caller]
fn assert_not_known(response: &Response, uid: &str) {
    let body = format!(
        r#"{{"data":null,"error":{{"status":503,"name":"ServiceUnavailableError","message":"the documents of {uid} are not known at present"}}}}"#
    );
    assert_eq!((response.status, response.text()), (503, body.as_str()));
    assert_eq!(response.header("retry-after").as_deref(), Some("5"));
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    assert_eq!(response.header("etag"), None);
}

#[test]
fn path_is_resolved_as_soon_as_the_types_that_decide_about_it_are_known() {
    for status in [SILENT, 404, 403, 500] {
        let faults = Faults::default();
        faults.set("story", status);
        let cms = faults.start();
        let service = setup(&cms).start();
        until(&service, &document_of("/help/refund.html"), |response| response.status == 200);
        until(&service, &document_of("/en/about"), |response| response.status == 200);
        // The page comes first in the order of the settings, whatever the stories are.
        for (pathname, expected) in [("/help/refund.html", "faq"), ("/en/about", "page")] {
            let response = get(&service, pathname);
            assert_eq!((id(&response).as_str(), by(&response).as_str()), (expected, "documents"));
        }
        assert_eq!(id(&get(&service, "/help/none.html")), "none", "no story can have this path");
        for pathname in ["/en/journey", "/en/missing", "/de/about"] {
            assert_not_known(&get(&service, pathname), "api::story.story");
        }
        assert_eq!(get(&service, "/no/such/path").status, 404);
        for (pathname, expected, decided) in [
            ("/en/about", "api::page.page", "documents"),
            ("/en/journey", "api::page.page", "rules; index=missing"),
            ("/help/none.html", "api::faq.faq", "rules"),
        ] {
            let response = http::get(service.addr(), &resolve("main", pathname));
            assert_eq!((uid(&response).as_str(), by(&response).as_str()), (expected, decided));
            let is_short = response.header("cache-control").as_deref()
                != Some("public, max-age=60, stale-if-error=86400");
            assert_eq!(is_short, decided.contains("missing"), "{pathname}");
        }
        faults.heal();
        if status != SILENT {
            let journey = document_of("/en/journey");
            let response = until(&service, &journey, |response| response.status == 200);
            assert_eq!((id(&response).as_str(), by(&response).as_str()), ("story", "documents"));
        }
    }
}

#[test]
fn first_rule_of_a_type_that_is_not_known_decides_about_no_path_that_it_could_own() {
    let faults = Faults::default();
    faults.set("page", 404);
    let service = setup(&faults.start()).start();
    until(&service, &document_of("/help/refund.html"), |response| response.status == 200);
    // A page could own it, and comes before the story.
    until_so("the story is known", || service.log().matches("a snapshot is built").count() >= 2);
    for pathname in ["/en/journey", "/en/about", "/de/x"] {
        assert_not_known(&get(&service, pathname), "api::page.page");
    }
}

#[test]
fn stale_index_still_names_the_document_of_a_tie() {
    let faults = Faults::default();
    let service = setup(&faults.start()).start();
    until_all_are_known(&service);
    for name in ["page", "story", "faq"] {
        faults.set(name, 500);
    }
    let journey = document_of("/en/journey");
    let response = until(&service, &journey, |response| response.header("age").is_some());
    assert_eq!((id(&response).as_str(), uid(&response).as_str()), ("story", "api::story.story"));
    assert_eq!(by(&response), "documents; index=stale");
    let age: u64 = response.header("age").expect("it is stale").parse().expect("seconds");
    // Ten refreshes of a second have been missed.
    assert!((10..600).contains(&age), "{age}");
    for (pathname, expected) in
        [("/en/about", "page"), ("/help/refund.html", "faq"), ("/en/missing", "none")]
    {
        // Each content type has an age of its own.
        let is_stale = |response: &Response| by(response) == "rules; index=stale";
        let response = until(&service, &document_of(pathname), is_stale);
        assert_eq!(id(&response), expected);
        assert_ne!(
            response.header("cache-control").as_deref(),
            Some("public, max-age=60, stale-if-error=86400")
        );
        assert!(response.header("age").is_some());
    }
    let response = http::get(service.addr(), &resolve("main", "/en/journey"));
    assert_eq!(
        (uid(&response).as_str(), by(&response).as_str()),
        ("api::page.page", "rules; index=stale")
    );
    assert_eq!(response.header("age"), None);
}

#[test]
fn stale_type_matters_only_for_the_paths_that_it_could_own() {
    let faults = Faults::default();
    let service = setup(&faults.start()).start();
    until_all_are_known(&service);
    faults.set("story", 500);
    let journey = document_of("/en/journey");
    until(&service, &journey, |response| by(response) == "documents; index=stale");
    for (pathname, expected) in [("/en/about", "page"), ("/help/refund.html", "faq")] {
        let response = get(&service, pathname);
        assert_eq!((id(&response).as_str(), by(&response).as_str()), (expected, "documents"));
        assert_eq!(response.header("age"), None);
    }
    // A refresh in progress can make the story known once more.
    let is_stale = |response: &Response| by(response) == "rules; index=stale";
    let missing = until(&service, &document_of("/en/missing"), is_stale);
    assert_eq!(id(&missing), "none");
}

#[test]
fn copies_beyond_the_hard_limit_are_not_known() {
    let faults = Faults::default();
    // The share must not delay refreshes beyond the limit.
    let setup = setup(&faults.start()).env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "1");
    let service = setup.env("FRONTEND_MAP__SNAPSHOTS__HARD_SECONDS", "6").start();
    until(&service, &document_of("/en/journey"), |response| response.status == 200);
    faults.set("page", 500);
    let journey = document_of("/en/journey");
    let refused = until(&service, &journey, |response| response.status != 200);
    assert_not_known(&refused, "api::page.page");
    assert_eq!(get(&service, "/no/such/path").status, 404);
    until(&service, &document_of("/help/refund.html"), |response| response.status == 200);
    let response = http::get(service.addr(), &resolve("main", "/en/journey"));
    assert_eq!(
        (uid(&response).as_str(), by(&response).as_str()),
        ("api::page.page", "rules; index=stale")
    );
    faults.heal();
    let response = until(&service, &journey, |response| response.status == 200);
    assert_eq!(id(&response), "story");
}

#[test]
fn content_of_a_file_is_known_for_ever() {
    let service = service();
    let ids: HashSet<String> = ["/en/about", "/en/journey", "/help/refund.html"]
        .map(|pathname| id(&get(&service, pathname)))
        .into();
    assert_eq!(ids, ["p1", "s1", "f1"].map(str::to_owned).into());
}
