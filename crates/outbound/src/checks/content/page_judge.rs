//! What a run knows of the hosts whose pages it judges, and the judgement of each page.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::future::join;
use futures::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::body::Page;
use super::fault::{Fault, FaultKind};
use super::judge::judge;
use super::page_url::PageUrl;
use super::robots_txt::RobotsTxt;
use super::soft_404::NotFoundPage;
use crate::checks::client::{Fetched, RobotsFile, Wanted};
use crate::checks::{CONCURRENT_CHECKS, CheckResult, CheckedUrl, Failure, Targets, Validator};

/// A rule that has fewer URLs in a locale is compared with the not-found page of its host alone, so that a
/// small site is not asked twice as much.
const MIN_URLS_OF_GROUP: usize = 10;

/// Judges the pages of some content types of a site.
#[derive(Debug, Default)]
pub struct PageJudge {
    /// By the origin of the base URL.
    robots: BTreeMap<String, RobotsTxt>,
    unreadable_robots: Vec<UnreadableRobots>,
    /// By the origin of the base URL.
    not_found_on_host: HashMap<String, NotFoundPage>,
    not_found_in_group: HashMap<Group, NotFoundPage>,
}

/// A `robots.txt` that cannot be read: crawlers then read no page of the host (RFC 9309, section 2.3.1.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableRobots {
    /// The URL of the file.
    pub url: String,
    /// Why it cannot be read: a status, or why there is no response.
    pub reason: String,
}

/// The URLs of a rule in a locale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Group {
    /// Which of the targets.
    part: usize,
    rule: usize,
    locale: usize,
}

/// URLs that cannot exist.
#[derive(Default)]
struct MissingPages {
    /// By the origin of the base URL.
    on_hosts: BTreeMap<String, String>,
    /// Beside the pages of a group.
    in_groups: Vec<(Group, String)>,
}

/// A page that was judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Whether its content was read.
    pub is_read: bool,
    /// In the order of reports.
    pub faults: Vec<Fault>,
}

impl PageJudge {
    /// Reads `robots.txt` of each host, and requests paths that cannot exist.
    pub async fn prepare(validator: &Validator, targets: &[Targets]) -> Self {
        let mut judge = Self::default();
        let MissingPages { on_hosts, in_groups } = MissingPages::of(targets);
        let hosts = stream::iter(on_hosts)
            .map(async |(origin, missing)| {
                let url = format!("{origin}/robots.txt");
                let robots = async {
                    match validator.fetch_robots(url.clone()).await {
                        RobotsFile::Rules(bytes) => Ok(Some(RobotsTxt::parse(&bytes))),
                        RobotsFile::Absent => Ok(None),
                        RobotsFile::Unreadable(reason) => Err(reason),
                    }
                };
                let (robots, page) = join(robots, not_found_page(validator, missing)).await;
                (origin, url, robots, page)
            })
            .buffer_unordered(CONCURRENT_CHECKS)
            .boxed();
        let groups = stream::iter(in_groups)
            .map(async |(group, url)| Some((group, not_found_page(validator, url).await?)))
            .buffer_unordered(CONCURRENT_CHECKS)
            .boxed();
        let (hosts, groups): (Vec<_>, Vec<_>) = join(hosts.collect(), groups.collect()).await;
        for (origin, url, robots, page) in hosts {
            match robots {
                Ok(robots) => {
                    judge.robots.extend(robots.map(|robots| (origin.clone(), robots)));
                }
                Err(reason) => judge.unreadable_robots.push(UnreadableRobots { url, reason }),
            }
            judge.not_found_on_host.extend(page.map(|page| (origin, page)));
        }
        judge.not_found_in_group.extend(groups.into_iter().flatten());
        judge.unreadable_robots.sort_by(|one, other| one.url.cmp(&other.url));
        judge
    }

    /// The files that cannot be read.
    pub fn unreadable_robots(&self) -> &[UnreadableRobots] {
        &self.unreadable_robots
    }

    /// Judges the page of the URL at a position of one of the targets.
    pub(in crate::checks) fn judge(
        &self,
        part: usize,
        targets: &Targets,
        position: usize,
        fetched: Fetched,
    ) -> Judged {
        let mut judged = Judged::default();
        if fetched.result.class().is_dead() {
            return judged;
        }
        let expected = targets.expected(position);
        let origin = expected.url.origin().ascii_serialization();
        judged.faults.extend(self.disallowed(&origin, &expected.url));
        if let Some(page) = fetched.page {
            let (page, unread) = page.read();
            judged.faults.extend(judge(&page, &expected));
            judged.faults.extend(unread.map(|reason| Fault::new(FaultKind::Unread, reason)));
            judged.is_read = page.html.is_some();
            let (rule, locale) = targets.rule_and_locale(position);
            let in_group = self.not_found_in_group.get(&Group { part, rule, locale });
            let missing = in_group.into_iter().chain(self.not_found_on_host.get(&origin));
            let path = expected.url.path();
            let is_like = |missing: &NotFoundPage| {
                page.html.as_ref().is_some_and(|html| missing.is_like(path, &html.facts))
            };
            if missing.into_iter().any(is_like) {
                // Of course its title is not there.
                judged.faults.retain(|fault| fault.kind != FaultKind::TitleAbsent);
                judged.faults.push(Fault::new(FaultKind::Soft404, ""));
            }
        }
        judged.faults.sort_by_key(|fault| fault.kind);
        judged
    }

    fn disallowed(&self, origin: &str, url: &Url) -> Option<Fault> {
        let robots = self.robots.get(origin)?;
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let rule = robots.forbids(&path)?;
        let detail = format!("{}: Disallow: {}", rule.crawler, rule.pattern);
        Some(Fault::new(FaultKind::RobotsDisallowed, &detail))
    }
}

/// The response to a path that cannot exist, if it is a page with the status 200.
async fn not_found_page(validator: &Validator, url: String) -> Option<NotFoundPage> {
    let path = Url::parse(&url).ok()?.path().to_owned();
    let page: Page = validator.fetch(url, Wanted::Page).await.page?;
    let (page, _) = page.read();
    page.html.map(|html| NotFoundPage::new(&path, &html.facts))
}

impl MissingPages {
    fn of(targets: &[Targets]) -> Self {
        let mut groups = BTreeMap::<Group, (usize, usize)>::new();
        for (part, targets) in targets.iter().enumerate() {
            for position in 0..targets.count() {
                let (rule, locale) = targets.rule_and_locale(position);
                groups.entry(Group { part, rule, locale }).or_insert((position, 0)).1 += 1;
            }
        }
        let mut missing = Self::default();
        for (group, (first, urls)) in groups {
            let url = Url::parse(&targets[group.part].url(first));
            let url = url.expect("a base URL and an encoded path make a URL");
            let origin = url.origin().ascii_serialization();
            let name = format!("frontend-map-check-{:016x}", xxh3_64(origin.as_bytes()));
            let beside = sibling(url.path(), &name);
            if urls >= MIN_URLS_OF_GROUP && beside[1..] != name {
                missing.in_groups.push((group, format!("{origin}{beside}")));
            }
            missing.on_hosts.entry(origin).or_insert_with_key(|origin| format!("{origin}/{name}"));
        }
        missing
    }
}

/// A path with another last segment.
fn sibling(path: &str, name: &str) -> String {
    let (path, slash) = path.strip_suffix('/').map_or((path, ""), |path| (path, "/"));
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    format!("{parent}/{name}{slash}")
}

/// The listed URLs whose status is not 200 and to which canonical links of other pages lead, each with its
/// status.
pub(in crate::checks) fn dead_canonicals<'f>(
    elsewhere: impl Iterator<Item = &'f Fault>,
    checked: impl Iterator<Item = (String, CheckResult)>,
) -> HashMap<String, String> {
    let elsewhere = elsewhere.filter(|fault| fault.kind == FaultKind::CanonicalElsewhere);
    let elsewhere: BTreeSet<&str> = elsewhere.map(|fault| &*fault.detail).collect();
    let mut dead = HashMap::new();
    if elsewhere.is_empty() {
        return dead;
    }
    for (url, result) in checked {
        let outcome = match result {
            CheckResult::Response { status: 200, .. }
            | CheckResult::Failed(Failure::NotChecked) => {
                continue;
            }
            CheckResult::Response { status, .. } => status.to_string(),
            CheckResult::Failed(failure) => failure.to_string(),
        };
        let Ok(url) = Url::parse(&url) else { continue };
        let url = PageUrl::of(&url);
        if elsewhere.contains(url.as_str()) {
            dead.insert(url.as_str().to_owned(), outcome);
        }
    }
    dead
}

/// Marks the canonical links that lead to dead URLs ([`FaultKind::CanonicalDead`]), after all URLs of the
/// targets have been checked.
pub fn mark_dead_canonicals(targets: &[Targets], checked: &mut [Vec<CheckedUrl>]) {
    let faults = checked.iter().flatten().filter_map(|checked| checked.judged.as_ref());
    let faults = faults.flat_map(|judged| &judged.faults);
    let results = targets.iter().zip(checked.iter()).flat_map(|(targets, checked)| {
        checked.iter().map(|checked| (targets.url(checked.position), checked.result.clone()))
    });
    let dead = dead_canonicals(faults, results);
    let judged = checked.iter_mut().flatten().filter_map(|checked| checked.judged.as_mut());
    for fault in judged.flat_map(|judged| &mut judged.faults) {
        mark_dead(fault, &dead);
    }
}

/// Marks a canonical link to another URL as one to a dead URL, if the URL is among the dead ones. Returns
/// whether it is.
pub(in crate::checks) fn mark_dead(fault: &mut Fault, dead: &HashMap<String, String>) -> bool {
    let outcome = dead.get(&*fault.detail);
    let outcome = outcome.filter(|_| fault.kind == FaultKind::CanonicalElsewhere);
    if let Some(outcome) = outcome {
        let detail = format!("{}: {outcome}", fault.detail);
        *fault = Fault::new(FaultKind::CanonicalDead, &detail);
    }
    outcome.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sibling_has_another_last_segment() {
        for (path, expected) in [
            ("/en/articles/hello", "/en/articles/x"),
            ("/en/hello/", "/en/x/"),
            ("/en", "/x"),
            ("/", "/x/"),
        ] {
            assert_eq!(sibling(path, "x"), expected, "{path}");
        }
    }

    #[test]
    fn canonical_links_to_listed_urls_that_are_not_200_are_dead() {
        let at = |path: &str| format!("https://www.example.com/{path}");
        let elsewhere = |path: &str| Fault::new(FaultKind::CanonicalElsewhere, &at(path));
        let mut faults = ["gone", "moved", "fine", "later", "unlisted"].map(elsewhere);
        let status = |status| CheckResult::Response { status, location: None, retry_after: None };
        let checked = [
            (at("gone"), status(404)),
            (at("moved"), status(301)),
            (at("fine"), status(200)),
            (at("later"), CheckResult::Failed(Failure::NotChecked)),
            (at("other"), CheckResult::Failed(Failure::Dns)),
        ];
        let dead = dead_canonicals(faults.iter(), checked.into_iter());
        let marked: Vec<bool> = faults.iter_mut().map(|fault| mark_dead(fault, &dead)).collect();
        assert_eq!(marked, [true, true, false, false, false]);
        let detail = "https://www.example.com/gone: 404";
        assert_eq!(faults[0], Fault::new(FaultKind::CanonicalDead, detail));
    }
}
