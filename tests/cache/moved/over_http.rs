//! The model of the history with the real service: random edits, webhooks, walks that fail, changed rules
//! and restarts, against a naive history. `MOVED_HTTP_STEPS=2000 MOVED_HTTP_WORLDS=8` makes a long run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{APPLIED, leads_to};
use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::refusal;
use crate::support::hook::{SECRET, post_body};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const LOCALES: [&[&str]; 3] = [&["en", "de"], &["de", "en"], &["en"]];
const TEMPLATES: [&str; 3] = ["/{locale}/{slug}", "/{locale}/a/{slug}", "/{locale}/{slug}.html"];
const DOCUMENTS: u8 = 5;
const SLUGS: u8 = 6;
/// The document that each step changes: where it is shown, all that the step has changed is known.
const MARKER: &str = "marker";
/// Longer than a step takes on the slowest machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// `(documentId, locale)`.
type Version = (String, String);
/// The version that owns each path.
type Owners = BTreeMap<String, Version>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rules {
    template: &'static str,
    locales: &'static [&'static str],
}

/// What the CMS has, by which rules it is shown, and what must be known of the past.
struct World {
    random: fastrand::Rng,
    content: Content,
    cms: Cms,
    /// The slugs of the published versions.
    slugs: BTreeMap<Version, String>,
    rules: Rules,
    /// The owners after the last step, which keep their paths.
    owned: Owners,
    /// The version that had a path last.
    former: Owners,
    /// How often the marker was published.
    marks: u64,
    store: PathBuf,
    _folder: tempfile::TempDir,
}

fn number(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(default, |number| number.parse().expect("a number"))
}

#[test]
fn redirects_of_the_service_are_those_of_a_naive_history() {
    let (steps, worlds) = (number("MOVED_HTTP_STEPS", 40), number("MOVED_HTTP_WORLDS", 2));
    let seed = number("MOVED_SEED", fastrand::u64(..));
    println!("MOVED_SEED={seed}");
    std::thread::scope(|scope| {
        for world in 0..worlds {
            scope.spawn(move || World::new(seed.wrapping_add(world)).run(steps / worlds));
        }
    });
}

impl World {
    fn new(seed: u64) -> Self {
        let content = Content::default();
        let cms = content.start();
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self {
            random: fastrand::Rng::with_seed(seed),
            cms,
            content,
            slugs: BTreeMap::new(),
            rules: Rules { template: TEMPLATES[0], locales: LOCALES[0] },
            owned: Owners::new(),
            former: Owners::new(),
            marks: 0,
            store: folder.path().join("store.redb"),
            _folder: folder,
        }
    }

    fn run(&mut self, steps: u64) {
        for _ in 0..10 {
            self.edit();
        }
        let mut service = self.start();
        self.check(&service, "the start");
        self.owned = self.owners();
        for step in 0..steps {
            let before = self.owners();
            let what = match self.random.u8(..20) {
                0..11 => self.report_edit(&service),
                11..15 => self.report_several(&service),
                15 => self.fail_a_walk(&service),
                16..18 => self.change_rules(&service),
                _ => {
                    assert_eq!(service.signal("TERM"), Some(0));
                    // As if it had not been running.
                    if self.random.bool() {
                        self.edit();
                    }
                    self.mark();
                    service = self.start();
                    "a restart"
                }
            };
            self.enter(&before);
            let step = format!("step {step}: {what}");
            self.wait_for_mark(&service, &step);
            self.check(&service, &step);
        }
    }

    fn settings(&self) -> Settings {
        let Rules { template, locales } = self.rules;
        site("main")
            .locales(locales)
            .resolve("documents")
            .rule("api::page.page", template)
            .strapi(&self.cms)
    }

    fn start(&self) -> Service {
        self.settings()
            .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
            .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
            .env("FRONTEND_MAP__SERVER__DRAIN_DELAY_MS", "0")
            .env("FRONTEND_MAP__STORE__PATH", self.store.to_str().expect("a path in UTF-8"))
            .start()
    }

    /// Changes a version in the CMS, and returns its document and the event.
    fn edit(&mut self) -> (String, &'static str) {
        let id = format!("d{}", self.random.u8(..DOCUMENTS));
        let locale = if self.random.bool() { "en" } else { "de" };
        let version = (id.clone(), locale.to_owned());
        if self.random.u8(..4) == 0 {
            self.content.unpublish(locale, &id);
            self.slugs.remove(&version);
            (id, "entry.unpublish")
        } else {
            let slug = format!("s{}", self.random.u8(..SLUGS));
            self.content.publish(locale, &id, &slug);
            self.slugs.insert(version, slug);
            (id, "entry.publish")
        }
    }

    /// Publishes the marker anew.
    fn mark(&mut self) {
        self.marks += 1;
        self.content.publish("en", MARKER, &format!("mark{}", self.marks));
    }

    /// Otherwise a read for this step, which changes no path, might see a part of the next one.
    fn wait_for_mark(&self, service: &Service, what: &str) {
        let slug = format!("mark{}", self.marks);
        let path = self.rules.template.replace("{locale}", "en").replace("{slug}", &slug);
        until_so(&format!("{what}: {path}"), || {
            leads_to(service, &path) == format!("document {MARKER}")
        });
    }

    fn report_edit(&mut self, service: &Service) -> &'static str {
        let (id, event) = self.edit();
        self.mark();
        report_document(service, &id, event);
        report_document(service, MARKER, "entry.publish");
        "an edit"
    }

    /// Several edits at once, which a walk finds.
    fn report_several(&mut self, service: &Service) -> &'static str {
        self.content.close();
        for _ in 0..self.random.u8(2..6) {
            self.edit();
        }
        self.swap();
        self.mark();
        self.content.open();
        report(service, "");
        "several edits"
    }

    /// Two versions exchange their slugs.
    fn swap(&mut self) {
        let versions: Vec<Version> = self.slugs.keys().cloned().collect();
        let mut pick = || versions.get(self.random.usize(..versions.len().max(1))).cloned();
        let (Some(one), Some(other)) = (pick(), pick()) else { return };
        let (first, second) = (self.slugs[&one].clone(), self.slugs[&other].clone());
        for (version, slug) in [(one, second), (other, first)] {
            self.content.publish(&version.1, &version.0, &slug);
            self.slugs.insert(version, slug);
        }
    }

    fn fail_a_walk(&mut self, service: &Service) -> &'static str {
        self.content.fail(|target| {
            let is_of_all = Query::parse(target)?.ids.is_empty();
            is_of_all.then(|| refusal(500, "InternalServerError", "{}"))
        });
        self.mark();
        report(service, "");
        self.check(service, "a walk that fails");
        self.content.heal();
        "a walk after a failure"
    }

    fn change_rules(&mut self, service: &Service) -> &'static str {
        let template = TEMPLATES[self.random.usize(..TEMPLATES.len())];
        self.rules = Rules { template, locales: LOCALES[self.random.usize(..LOCALES.len())] };
        let count = || service.log().matches(APPLIED).count();
        let before = count();
        self.mark();
        service.rewrite("settings.toml", &self.settings().toml());
        service.send_signal("HUP");
        until_so(APPLIED, || count() > before);
        // A reload without other rules causes no walk.
        report_document(service, MARKER, "entry.publish");
        "changed rules"
    }

    /// The owner of each path: of several versions the one that owned it before, else the first of those
    /// that owned another one, else the first by `documentId`.
    fn owners(&self) -> Owners {
        let mut versions: BTreeMap<String, Vec<&Version>> = BTreeMap::new();
        for (version, slug) in &self.slugs {
            let locale = &*version.1;
            if self.rules.locales.contains(&locale) {
                let path = self.rules.template.replace("{locale}", locale).replace("{slug}", slug);
                versions.entry(path).or_default().push(version);
            }
        }
        let owner = |path: &String, versions: Vec<&Version>| {
            let is_new = |version: &&Version| {
                let had_path = self.owned.get(path) == Some(version);
                (!had_path, !self.owned.values().any(|owner| owner == *version))
            };
            versions.into_iter().min_by_key(is_new).expect("a version has the path").clone()
        };
        versions.into_iter().map(|(path, all)| (path.clone(), owner(&path, all))).collect()
    }

    /// Enters the paths that versions had and have no longer.
    fn enter(&mut self, before: &Owners) {
        let after = self.owners();
        for (path, version) in before {
            if after.get(path) != Some(version) {
                self.former.insert(path.clone(), version.clone());
            }
        }
        self.owned = after;
    }

    /// What each path leads to, `none` without a document whether a rule matches it or not.
    fn expected(&self) -> BTreeMap<String, String> {
        let owners = self.owners();
        let former = |path: &str| match self.former.get(path) {
            None => "none".to_owned(),
            Some(version) => match owners.iter().find(|(_, owner)| *owner == version) {
                Some((now, _)) => format!("redirect {now}"),
                None => "gone".to_owned(),
            },
        };
        let paths: BTreeSet<String> = TEMPLATES
            .iter()
            .flat_map(|template| ["en", "de"].map(|locale| template.replace("{locale}", locale)))
            .flat_map(|path| (0..SLUGS).map(move |n| path.replace("{slug}", &format!("s{n}"))))
            .collect();
        let leads = |path: String| {
            let leads = match owners.get(&path) {
                Some((id, _)) => format!("document {id}"),
                None => former(&path),
            };
            (path, leads)
        };
        paths.into_iter().map(leads).collect()
    }

    /// Waits until each path leads where it should. A path that a document has or had is never without
    /// one meanwhile.
    fn check(&self, service: &Service, what: &str) {
        let (expected, begun) = (self.expected(), Instant::now());
        loop {
            let found: BTreeMap<String, String> = expected
                .keys()
                .map(|path| {
                    let leads = leads_to(service, path);
                    let leads = match leads.as_str() {
                        "404" => "none",
                        "404 gone" => "gone",
                        other => other,
                    };
                    (path.clone(), leads.to_owned())
                })
                .collect();
            if found == expected {
                return;
            }
            for (path, leads) in &found {
                let is_lost = leads == "none" && self.former.contains_key(path);
                assert!(!is_lost, "{what}: {path} is forgotten");
            }
            assert!(begun.elapsed() < PATIENCE, "{what}: {found:?}, not {expected:?}");
        }
    }
}

fn report_document(service: &Service, id: &str, event: &str) {
    report(
        service,
        &format!(
            r#"{{"event":"{event}","model":"page","uid":"api::page.page","entry":{{"documentId":"{id}"}}}}"#
        ),
    );
}

fn report(service: &Service, event: &str) {
    let response = post_body(service, event.as_bytes());
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
}
