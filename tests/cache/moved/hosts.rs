//! Paths of a site with a host for each locale.

use super::{apply, data, edit, pages, start};
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::Settings;

/// `en` and `de`, each on its own host.
fn settings(template: &str) -> Settings {
    let bases = r#"{ en = "https://a.example", de = "https://b.example" }"#;
    super::settings(template).front_end_url(bases)
}

/// The URL to which a path on a host is redirected; empty without a redirect.
fn redirect(service: &Service, pathname: &str, host: &str) -> String {
    let target = format!("/api/resolve?site=main&pathname={pathname}{host}");
    let data = data(&http::get(service.addr(), &target));
    data["redirect"]["to"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn former_path_belongs_to_the_host_that_had_it() {
    let service = start(
        &settings("/{slug}"),
        &pages(&[("a", "en", "x"), ("b", "de", "x"), ("b", "en", "z")]),
    );
    edit(&service, &pages(&[("a", "en", "y"), ("b", "de", "w"), ("b", "en", "z")]));
    for (pathname, host, expected) in [
        ("/x", "&host=a.example", "https://a.example/y"),
        ("/x", "&host=b.example", "https://b.example/w"),
        // The first host that knows it.
        ("/x", "", "https://a.example/y"),
        ("/x", "&host=c.example", "https://a.example/y"),
        ("/z", "&host=a.example", ""),
        ("/z", "&host=b.example", ""),
    ] {
        assert_eq!(redirect(&service, pathname, host), expected, "{pathname} {host}");
    }
}

#[test]
fn path_from_when_the_site_had_one_host_is_known_on_each() {
    let one = settings("/{locale}/{slug}").front_end_url("https://old.example");
    let service = start(&one, &pages(&[("a", "en", "x"), ("a", "de", "y")]));
    edit(&service, &pages(&[("a", "en", "u"), ("a", "de", "v")]));
    apply(&service, &settings("/{slug}"));
    for host in ["", "&host=a.example", "&host=b.example"] {
        assert_eq!(redirect(&service, "/en/x", host), "https://a.example/u", "{host}");
        assert_eq!(redirect(&service, "/de/y", host), "https://b.example/v", "{host}");
    }
}

#[test]
fn path_of_the_host_that_remains_is_known() {
    let several = settings("/{slug}");
    let one = several.clone().front_end_url("https://a.example");
    let service = start(&several, &pages(&[("a", "en", "x"), ("b", "en", "z")]));
    edit(&service, &pages(&[("a", "en", "y"), ("b", "en", "z")]));
    apply(&service, &one);
    for host in ["", "&host=a.example"] {
        assert_eq!(redirect(&service, "/x", host), "https://a.example/y", "{host}");
    }
    assert_eq!(redirects(&service), ["/x"]);
    // The last one to have the path is from when the site had one host.
    edit(&service, &pages(&[("a", "en", "y"), ("b", "en", "x")]));
    edit(&service, &pages(&[("a", "en", "y"), ("b", "en", "z")]));
    assert_eq!(redirect(&service, "/x", ""), "https://a.example/z");
    assert_eq!(redirects(&service), ["/x"]);
}

/// The paths that `/api/redirects` lists.
fn redirects(service: &Service) -> Vec<String> {
    let data = data(&http::get(service.addr(), "/api/redirects?site=main"));
    let rows = data["redirects"].as_array().expect("a list");
    rows.iter().map(|row| row["from"].as_str().expect("a path").to_owned()).collect()
}
