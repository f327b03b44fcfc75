//! The snapshots of the public URLs through the real binary: one walk however many ask, how old a
//! snapshot gets, what a failing CMS and a webhook change, conditional requests, what is listed.

mod cms_share;
mod collapse;
mod conditional;
mod dependents;
mod freshness;
mod herd;
pub(crate) mod hook;
mod incremental_update;
mod locales;
mod shared_walk;
mod sitemap_options;
mod start;
mod storms;
mod update_loops;

use crate::support::cms::Cms;
use crate::support::content::Query;
use crate::support::front_of_cms::{SITEMAP, articles, setup, urls};
use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};

/// A site in two locales in front of the CMS, not yet started.
fn in_two_locales(cms: &Cms) -> Setup {
    setup(&articles().locales(&["en", "de"]).strapi(cms))
}

/// In English alone, so that a walk is one request after the other.
fn in_english(cms: &Cms) -> Setup {
    setup(&articles().strapi(cms))
}

fn soft(setup: Setup, seconds: u64) -> Setup {
    setup.env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", &seconds.to_string())
}

fn sitemap(service: &Service) -> Response {
    http::get(service.addr(), SITEMAP)
}

/// The paths of the sitemap, without the base URL.
fn paths(response: &Response) -> Vec<String> {
    let base = "https://www.example.com";
    let path = |url: &String| url.strip_prefix(base).expect("the site's base").to_owned();
    urls(response).iter().map(path).collect()
}

fn cache_status(response: &Response) -> String {
    response.header("cache-status").unwrap_or_default()
}

/// Whether the snapshot was there, and is past its soft limit.
fn is_past_soft(response: &Response) -> bool {
    let status = cache_status(response);
    let ttl = status.split("ttl=").nth(1).and_then(|rest| rest.split(';').next()?.parse().ok());
    ttl.is_some_and(|ttl: i64| ttl <= 0)
}

fn age(response: &Response) -> u64 {
    response.header("age").and_then(|age| age.parse().ok()).expect("an age in seconds")
}

/// How many walks over one locale have begun.
fn walks(cms: &Cms, locale: &str) -> usize {
    let first = |query: &Query| query.locale == locale && query.after.is_empty() && query.size > 1;
    cms.targets().iter().filter_map(|target| Query::parse(target)).filter(first).count()
}

/// How many of them have come to their end: the total is asked for last.
fn ends(cms: &Cms, locale: &str) -> usize {
    let last = |query: &Query| query.locale == locale && query.size == 1 && query.ids.is_empty();
    cms.targets().iter().filter_map(|target| Query::parse(target)).filter(last).count()
}
