//! A CMS in memory with a history: what was published when, by a clock of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use super::generate::{Fault, Plan, Random};
use crate::support::content::Query;
use crate::support::front_of_cms::{list, refusal};
use crate::support::script::{Act, Script};

const LOCALES: [&str; 2] = ["en", "de"];

/// `(locale, documentId)`.
type Key = (String, String);

pub(super) struct World {
    seed: usize,
    random: Random,
    plan: Plan,
    /// One tick a change.
    clock: u64,
    /// When the last walk began.
    walk_began: u64,
    slugs: usize,
    /// From when on a version had which slug; `None`: it was not published.
    versions: BTreeMap<Key, Vec<(u64, Option<String>)>>,
    /// The last answer of each locale.
    last: HashMap<String, Script>,
    /// The slugs that the service has listed last.
    listed: BTreeSet<String>,
    /// Requests and answers, to understand a failure.
    story: Vec<String>,
}

impl World {
    pub(super) fn generate(seed: usize) -> Self {
        let mut random = Random(seed as u64);
        let plan = Plan::generate(&mut random);
        let (versions, last) = (BTreeMap::new(), HashMap::new());
        let (listed, story) = (BTreeSet::new(), Vec::new());
        let mut world = Self {
            seed,
            random,
            plan,
            clock: 0,
            walk_began: 0,
            slugs: 0,
            versions,
            last,
            listed,
            story,
        };
        for _ in 0..world.plan.documents {
            world.publish();
        }
        world
    }

    pub(super) fn story(&self) -> String {
        format!("script {}:\n{}", self.seed, self.story.join("\n"))
    }

    /// The moment before a request to the service.
    pub(super) fn begin(&mut self) -> u64 {
        // Answers of before must not be repeated.
        self.last.clear();
        self.clock
    }

    /// The service has listed these.
    pub(super) fn set_listed(&mut self, paths: Vec<(String, String)>) {
        self.listed = paths.into_iter().map(|(_, slug)| slug).collect();
    }

    /// Whether content has changed since.
    pub(super) fn shifted(&self, since: u64) -> bool {
        self.clock > since
    }

    /// Whether a list has all that was published all the time since, and nothing that never was.
    /// The list may be that of an earlier walk, because the service repeats failed walks by itself.
    pub(super) fn judge(&self, since: u64, paths: &[(String, String)]) -> Result<(), String> {
        let since = since.min(self.walk_began);
        let mut listed: BTreeSet<&(String, String)> = paths.iter().collect();
        if listed.len() != paths.len() {
            return Err("a URL is listed twice".to_owned());
        }
        for ((locale, id), history) in &self.versions {
            let slugs = slugs_since(history, since);
            let had = slugs.iter().flatten().map(|slug| (locale.clone(), slug.clone()));
            let found = had.filter(|path| listed.remove(path)).count();
            if found > 1 || (found == 0 && !slugs.contains(&None)) {
                return Err(format!("{locale} {id} is listed {found} times"));
            }
        }
        if listed.is_empty() { Ok(()) } else { Err(format!("never published: {listed:?}")) }
    }

    pub(super) fn answer(&mut self, target: &str) -> Script {
        let query = Query::parse(target).expect("only lists are asked for");
        if query.locale == LOCALES[0] && query.after.is_empty() && query.size > 1 {
            self.walk_began = self.clock;
        }
        while self.random.percent(self.plan.changes) {
            self.change();
        }
        let faulty = self.random.percent(self.plan.faults);
        let kinds = self.plan.kinds;
        let fault = faulty.then(|| self.random.one_of(kinds));
        let repeats = fault == Some(Fault::Repeated) && !query.after.is_empty();
        let loses = matches!(fault, Some(Fault::LostRow | Fault::Skipped));
        let fault = fault.filter(|_| !loses || query.ids.is_empty());
        let repeated = self.last.get(&query.locale).filter(|_| repeats);
        let script = repeated.cloned().unwrap_or_else(|| self.page(&query, fault));
        let (clock, body) = (self.clock, String::from_utf8_lossy(&script.bytes()).into_owned());
        let body = body.lines().last().unwrap_or_default().to_owned();
        self.story.push(format!("{clock}: {query:?} {fault:?}: {body}"));
        self.last.insert(query.locale, script.clone());
        script
    }

    fn change(&mut self) {
        self.clock += 1;
        match self.random.below(4) {
            0 => self.publish(),
            1 => self.with_any(|world, key| world.set(key, None)),
            2 => self.with_any(|world, key| {
                let slug = world.new_slug();
                world.set(key, Some(slug));
            }),
            _ => self.with_any(|world, (_, id)| {
                for locale in LOCALES {
                    world.set((locale.to_owned(), id.clone()), None);
                }
            }),
        }
    }

    fn with_any(&mut self, change: impl Fn(&mut Self, Key)) {
        let published: Vec<Key> = self.published().map(|(key, _)| key.clone()).collect();
        if !published.is_empty() {
            let at = self.random.below(published.len());
            change(self, published[at].clone());
        }
    }

    /// A new document, or one that is known, anywhere in the order of keys.
    fn publish(&mut self) {
        let id = format!("d{:02}", self.random.below(60));
        for locale in LOCALES {
            if self.random.percent(70) {
                let slug = self.new_slug();
                self.set((locale.to_owned(), id.clone()), Some(slug));
            }
        }
    }

    fn new_slug(&mut self) -> String {
        self.slugs += 1;
        format!("s{}", self.slugs)
    }

    fn set(&mut self, key: Key, slug: Option<String>) {
        self.versions.entry(key).or_default().push((self.clock, slug));
    }

    fn published(&self) -> impl Iterator<Item = (&Key, &String)> {
        let published = self.versions.iter();
        published.filter_map(|(key, history)| current(history).map(|slug| (key, slug)))
    }

    fn page(&mut self, query: &Query, fault: Option<Fault>) -> Script {
        match fault {
            Some(Fault::Reset) => return Script::reset(),
            Some(Fault::Status500) => return refusal(500, "InternalServerError", "{}"),
            Some(Fault::Status429) => return refusal(429, "RateLimitError", "{}"),
            Some(Fault::Html) => return Script::json(200, "<html>"),
            _ => {}
        }
        let after = if fault == Some(Fault::FromTheStart) { "" } else { &query.after };
        let from = Bound::Excluded((query.locale.clone(), after.to_owned()));
        let rows = self.versions.range((from, Bound::Unbounded));
        let own = rows.take_while(|((locale, _), _)| *locale == query.locale);
        let all: Vec<(String, String)> = own
            .filter(|((_, id), _)| query.ids.is_empty() || query.ids.contains(id))
            .filter_map(|((_, id), history)| Some((id.clone(), current(history)?.clone())))
            .collect();
        let script = self.distorted(query, all, fault);
        if fault == Some(Fault::CutOff) { cut_off(&script) } else { script }
    }

    /// The answer with these rows and those behind them, as the fault has it.
    fn distorted(
        &mut self,
        query: &Query,
        mut rows: Vec<(String, String)>,
        fault: Option<Fault>,
    ) -> Script {
        let mut size = query.size.min(self.plan.page_size);
        if fault == Some(Fault::Clamped) {
            size = 1 + self.random.below(size);
        }
        if fault == Some(Fault::Skipped) {
            let on_page = rows.iter().take(size);
            let at = on_page.clone().position(|(_, slug)| self.listed.contains(slug));
            at.map(|at| rows.remove(at));
        }
        let mut total = rows.len();
        let over = usize::from(fault == Some(Fault::OverFull));
        rows.truncate(size + over);
        match fault {
            Some(Fault::WrongTotal) => {
                let wrong = [0, total / 2, total.saturating_sub(1), total + 1, total * 2 + 9];
                total = self.random.one_of(&wrong);
            }
            Some(Fault::Shuffled) => rows.reverse(),
            Some(Fault::LostRow) if !rows.is_empty() => {
                rows.remove(self.random.below(rows.len()));
            }
            _ => {}
        }
        let more = |slug: &str| format!(r#","locale":"{}","slug":"{slug}""#, query.locale);
        let rows: Vec<_> = rows.iter().map(|(id, slug)| (id.as_str(), more(slug))).collect();
        let rows: Vec<_> = rows.iter().map(|(id, more)| (*id, more.as_str())).collect();
        if fault == Some(Fault::NoEcho) {
            return Script::json(200, r#"{"data":[],"meta":{}}"#);
        }
        list(&rows, size, query.with_total.then_some(total))
    }
}

fn current(history: &[(u64, Option<String>)]) -> Option<&String> {
    history.last().and_then(|(_, slug)| slug.as_ref())
}

/// All slugs that a version had since a moment; `None` among them: it was not published.
fn slugs_since(history: &[(u64, Option<String>)], since: u64) -> BTreeSet<Option<String>> {
    let before = history.iter().rev().find(|(from, _)| *from <= since);
    let at_first = before.and_then(|(_, slug)| slug.clone());
    let later = history.iter().filter(|(from, _)| *from > since).map(|(_, slug)| slug.clone());
    later.chain([at_first]).collect()
}

/// Two thirds of an answer, and then the end of the connection.
fn cut_off(script: &Script) -> Script {
    let bytes = script.bytes();
    let sent = bytes[..bytes.len() * 2 / 3].to_vec();
    Script { acts: vec![Act::Send(sent), Act::Close] }
}
