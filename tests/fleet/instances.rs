//! Instances of a fleet in front of one scripted CMS, on a real redis-server.

use std::time::{Duration, Instant};

use crate::support::cms::Cms;
use crate::support::content::{Content, Query, selected};
use crate::support::front_of_cms::{SITEMAP, articles, setup, urls};
use crate::support::hook::{SECRET, post_body};
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::{Service, Setup};
use crate::support::settings::Settings;
use crate::support::wait::{until, until_so};

pub(super) const UID: &str = "plugin::cms.article";

/// Instances with the same settings.
pub(super) struct Instances {
    pub(super) content: Content,
    pub(super) cms: Cms,
    pub(super) redis: Redis,
    pub(super) all: Vec<Service>,
}

/// An instance that is not yet started.
pub(crate) fn instance(cms: &Cms, redis: &Redis) -> Setup {
    instance_of(&articles().strapi(cms), redis)
}

/// One with settings of its own.
pub(super) fn instance_of(settings: &Settings, redis: &Redis) -> Setup {
    setup(settings)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SHARED__URL", &redis.url())
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .env("RUST_LOG", "frontend_map=debug")
}

impl Instances {
    /// These many instances, which have the list of this content.
    pub(super) fn start(count: usize, content: &Content) -> Self {
        let instances = Self::starting(count, content, Redis::start());
        instances.agree(&sorted(&instances.served(0)));
        instances
    }

    /// These many instances, as soon as they listen.
    pub(super) fn starting(count: usize, content: &Content, redis: Redis) -> Self {
        let (content, cms) = (content.clone(), content.start());
        let all = (0..count).map(|_| instance(&cms, &redis).start()).collect();
        Self { content, cms, redis, all }
    }

    /// The paths that an instance serves now.
    pub(super) fn served(&self, at: usize) -> Vec<String> {
        paths(&self.all[at])
    }

    /// Waits until all instances serve these paths.
    #[track_caller]
    pub(super) fn agree(&self, expected: &[String]) {
        for service in &self.all {
            serves(service, expected);
        }
    }

    /// Waits until exactly one instance leads and all others follow, and returns its index.
    #[track_caller]
    pub(super) fn leader(&self) -> usize {
        until("one instance leads, and the others follow", || {
            let roles: Vec<String> = self.all.iter().map(role).collect();
            let leader = roles.iter().position(|role| role == "leader")?;
            let following = roles.iter().filter(|role| *role == "follower").count();
            (following + 1 == roles.len()).then_some(leader)
        })
    }

    /// Waits until the role of each instance is alone.
    #[track_caller]
    pub(super) fn are_alone(&self) {
        until_so("each instance is alone", || {
            self.all.iter().all(|service| role(service) == "alone")
        });
    }

    /// The index of an instance that is a follower.
    #[track_caller]
    pub(super) fn follower(&self) -> usize {
        usize::from(self.leader() == 0)
    }

    /// How many walks over the list have begun.
    pub(super) fn walks(&self) -> usize {
        walks(&self.cms)
    }

    /// How many requests have named this document.
    pub(super) fn reads(&self, id: &str) -> usize {
        let is_of = |target: &String| selected(target).iter().any(|own| own == id);
        self.cms.targets().iter().filter(|target| is_of(target)).count()
    }
}

/// How many walks over the list have begun.
pub(super) fn walks(cms: &Cms) -> usize {
    let first = |query: &Query| query.after.is_empty() && query.size > 1 && query.ids.is_empty();
    cms.targets().iter().filter_map(|target| Query::parse(target)).filter(first).count()
}

/// The role of an instance for its list, as `/readyz` shows it.
pub(super) fn role(service: &Service) -> String {
    let ready = http::get(service.admin(), "/readyz").json();
    ready["contentTypes"][0]["shared"]["role"].as_str().unwrap_or("none").to_owned()
}

/// The paths that an instance serves now.
pub(super) fn paths(service: &Service) -> Vec<String> {
    let base = "https://www.example.com/en/articles/";
    let path = |url: &String| url.strip_prefix(base).expect("the site's base").to_owned();
    urls(&http::get(service.addr(), SITEMAP)).iter().map(path).collect()
}

/// Waits until an instance serves these paths.
#[track_caller]
pub(crate) fn serves(service: &Service, expected: &[impl AsRef<str> + std::fmt::Debug]) {
    let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
    until_so(&format!("the list {expected:?}"), || sorted(&paths(service)) == expected);
}

/// Waits until all of these instances serve these paths.
#[track_caller]
pub(super) fn all_serve(services: &[Service], expected: &[&str]) {
    for service in services {
        serves(service, expected);
    }
}

pub(super) fn sorted(paths: &[String]) -> Vec<String> {
    let mut paths = paths.to_vec();
    paths.sort();
    paths
}

/// Sends an event about a document; returns how long the answer took.
#[track_caller]
pub(super) fn send_event(service: &Service, event: &str, id: &str) -> Duration {
    let event = format!(
        r#"{{"event":"{event}","model":"article","uid":"{UID}","entry":{{"id":7,"documentId":"{id}","locale":"en"}}}}"#
    );
    let begun = Instant::now();
    assert!(post_body(service, event.as_bytes()).starts_with("HTTP/1.1 202 "));
    begun.elapsed()
}

/// Sends the event that a document was published.
#[track_caller]
pub(super) fn changed(service: &Service, id: &str) -> Duration {
    send_event(service, "entry.publish", id)
}
