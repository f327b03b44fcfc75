//! A Strapi in memory with related documents. Its relations are those of the database: published
//! versions have links of their own, which Strapi changes without an event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use crate::shifting::generate::Random;
use crate::support::front_of_cms::{list, refusal};
use crate::support::script::{Act, Script};

const LOCALES: [&str; 2] = ["en", "de"];
/// Documents of each of the two types.
const DOCUMENTS: usize = 12;
const CATEGORIES: usize = 4;
/// The levels of a page tree.
const LEVELS: usize = 4;

/// One version: its slug, and the document that it reads.
#[derive(Clone, Debug)]
struct Row {
    slug: String,
    link: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Version {
    draft: Option<Row>,
    published: Option<Row>,
}

/// What a webhook says.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) name: &'static str,
    pub(super) uid: String,
    pub(super) id: String,
    pub(super) is_draft: bool,
}

/// The content of one type and of what it reads.
pub(super) struct World {
    number: usize,
    random: Random,
    slugs: usize,
    /// By `documentId` and locale; those of categories begin with `c`.
    versions: BTreeMap<(String, &'static str), Version>,
    story: Vec<String>,
}

impl World {
    pub(super) fn new(number: usize, seed: usize) -> Self {
        let random = Random((seed * 1_000_003 + number) as u64);
        let (versions, story) = (BTreeMap::new(), Vec::new());
        let mut world = Self { number, random, slugs: 0, versions, story };
        let mut random = Random(world.next());
        for _ in 0..DOCUMENTS * 3 {
            world.edit(&mut random);
        }
        world.story.clear();
        world
    }

    pub(super) fn next(&mut self) -> u64 {
        self.random.number()
    }

    pub(super) fn story(&self) -> String {
        format!("type {}: {}", self.number, self.story.join("; "))
    }

    fn is_tree(&self) -> bool {
        self.number % 2 == 1
    }

    /// One edit, and its webhook.
    pub(super) fn edit(&mut self, random: &mut Random) -> Option<Event> {
        let is_category = !self.is_tree() && random.percent(40);
        let id = if is_category {
            format!("c{:02}", random.below(CATEGORIES))
        } else {
            format!("d{:02}", random.below(DOCUMENTS))
        };
        let locale = random.one_of(&LOCALES);
        let kind = random.below(10);
        let name = match kind {
            0 => self.delete(&id),
            1 | 2 => self.unpublish(&id, locale),
            3 => Some(self.save(random, &id, locale)),
            _ => {
                self.save(random, &id, locale);
                self.publish(&id, locale)
            }
        };
        self.story.push(format!("{name:?} {id} {locale}"));
        let n = self.number;
        let uid = if is_category { format!("api::c{n}.c{n}") } else { format!("api::t{n}.t{n}") };
        Some(Event { name: name?, uid, id, is_draft: kind == 3 })
    }

    /// Saves a draft: a new slug, or another document that it reads.
    fn save(&mut self, random: &mut Random, id: &str, locale: &'static str) -> &'static str {
        self.slugs += 1;
        let new = if random.percent(15) { random.below(3) } else { self.slugs };
        let link = self.link(random, id);
        let version = self.versions.entry((id.to_owned(), locale)).or_default();
        let draft =
            version.draft.get_or_insert(Row { slug: format!("s{new}"), link: link.clone() });
        if random.percent(50) {
            draft.slug = format!("s{new}");
        } else {
            draft.link = link;
        }
        "entry.update"
    }

    fn link(&self, random: &mut Random, id: &str) -> Option<String> {
        if id.starts_with('c') || random.percent(10) {
            return None;
        }
        if !self.is_tree() {
            return Some(format!("c{:02}", random.below(CATEGORIES)));
        }
        let number: usize = id[1..].parse().expect("a number");
        let level = number % LEVELS;
        let above = LEVELS * random.below(DOCUMENTS / LEVELS) + level.checked_sub(1)?;
        Some(format!("d{above:02}"))
    }

    fn publish(&mut self, id: &str, locale: &'static str) -> Option<&'static str> {
        let key = (id.to_owned(), locale);
        let mut row = self.versions.get(&key)?.draft.clone()?;
        let is_public = |link: &String| self.published(link, locale).is_some();
        row.link = row.link.filter(is_public);
        self.versions.get_mut(&key)?.published = Some(row);
        // The links of the drafts become those of the published versions.
        for ((_, other), version) in &mut self.versions {
            let (Some(draft), Some(public)) = (&version.draft, &mut version.published) else {
                continue;
            };
            if *other == locale && draft.link.as_deref() == Some(id) {
                public.link = Some(id.to_owned());
            } else if *other == locale && public.link.as_deref() == Some(id) {
                public.link = None;
            }
        }
        Some("entry.publish")
    }

    fn unpublish(&mut self, id: &str, locale: &'static str) -> Option<&'static str> {
        self.versions.get_mut(&(id.to_owned(), locale))?.published.take()?;
        self.unlink(id, |other| other == locale, false);
        Some("entry.unpublish")
    }

    fn delete(&mut self, id: &str) -> Option<&'static str> {
        let before = self.versions.len();
        self.versions.retain(|(other, _), _| other != id);
        self.unlink(id, |_| true, true);
        (self.versions.len() < before).then_some("entry.delete")
    }

    fn unlink(&mut self, id: &str, is_in: impl Fn(&str) -> bool, with_drafts: bool) {
        for ((_, locale), version) in &mut self.versions {
            let draft = version.draft.as_mut().filter(|_| with_drafts);
            for row in draft.into_iter().chain(&mut version.published) {
                if is_in(locale) && row.link.as_deref() == Some(id) {
                    row.link = None;
                }
            }
        }
    }

    fn published(&self, id: &str, locale: &str) -> Option<&Row> {
        let locale = LOCALES.into_iter().find(|own| *own == locale)?;
        self.versions.get(&(id.to_owned(), locale))?.published.as_ref()
    }

    /// The documents above a version, nearest first.
    fn above<'w>(&'w self, row: &'w Row, locale: &str) -> Vec<(&'w str, &'w Row)> {
        let mut above = Vec::new();
        let mut link = row.link.as_deref();
        while let Some(id) = link {
            let Some(row) = self.published(id, locale) else { break };
            above.push((id, row));
            link = row.link.as_deref();
        }
        above
    }

    fn documents(&self) -> impl Iterator<Item = (&str, &'static str, &Row)> {
        let own = self.versions.iter().filter(|((id, _), _)| id.starts_with('d'));
        own.filter_map(|((id, locale), version)| {
            Some((&**id, *locale, version.published.as_ref()?))
        })
    }

    /// The paths of all public documents, in order.
    pub(super) fn public(&self) -> Vec<String> {
        let path = |(_, locale, row): (&str, &str, &Row)| {
            let above = self.above(row, locale);
            if !self.is_tree() && above.is_empty() {
                return None;
            }
            let mut slugs: Vec<&str> = above.iter().rev().map(|(_, row)| &*row.slug).collect();
            slugs.push(&row.slug);
            Some(format!("/{locale}/t{}/{}", self.number, slugs.join("/")))
        };
        self.documents().filter_map(path).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn json(&self, locale: &str, row: &Row) -> String {
        let name = if self.is_tree() { "parent" } else { "category" };
        let mut inner = "null".to_owned();
        for (id, row) in self.above(row, locale).iter().rev() {
            inner =
                format!(r#"{{"id":1,"documentId":"{id}","slug":"{}","{name}":{inner}}}"#, row.slug);
        }
        format!(
            r#","locale":"{locale}","slug":"{}","publishedAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z","{name}":{inner}"#,
            row.slug
        )
    }

    fn list(&self, query: &Query) -> Script {
        let matching = self.documents().filter(|(id, locale, row)| {
            let in_locale = query.locale == "%2A" || query.locale == *locale;
            in_locale
                && **id > *query.after
                && query.filters.iter().all(|(depth, ids)| {
                    let id = match depth.checked_sub(1) {
                        None => Some(*id),
                        Some(above) => self.above(row, locale).get(above).map(|(id, _)| *id),
                    };
                    id.is_some_and(|id| ids.iter().any(|own| own == id))
                })
                && query.unrelated.is_none_or(|depth| self.above(row, locale).len() < depth)
        });
        let rows: Vec<(&str, String)> =
            matching.map(|(id, locale, row)| (id, self.json(locale, row))).collect();
        // Some have a CMS that has smaller pages.
        let size = if self.number.is_multiple_of(3) { query.size.min(5) } else { query.size };
        let page: Vec<(&str, &str)> =
            rows.iter().take(size).map(|(id, more)| (*id, more.as_str())).collect();
        list(&page, size, rows.len())
    }
}

/// What a list is requested for.
#[derive(Debug, Default)]
struct Query {
    locale: String,
    after: String,
    size: usize,
    /// Ids, and through how many relations they are.
    filters: BTreeMap<usize, Vec<String>>,
    /// The number of relations through which they read no document.
    unrelated: Option<usize>,
}

impl Query {
    fn parse(query: &str) -> Self {
        let mut found = Self::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "locale" => value.clone_into(&mut found.locale),
                "pagination[pageSize]" => found.size = value.parse().expect("a number"),
                "filters[documentId][$gt]" => value.clone_into(&mut found.after),
                name if name.starts_with("filters") => {
                    let depth =
                        name.matches("[category]").count() + name.matches("[parent]").count();
                    if name.ends_with("[$null]") {
                        found.unrelated = Some(depth);
                    } else {
                        found.filters.entry(depth).or_default().push(value.to_owned());
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// The response to a request for a list of one of the worlds, as it was some milliseconds ago.
pub(super) fn respond(worlds: &[Mutex<World>], target: &str) -> Script {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let number = path.strip_prefix("/api/t").and_then(|number| number.parse::<usize>().ok());
    let Some(world) = number.and_then(|number| worlds.get(number)) else {
        return refusal(404, "NotFoundError", "{}");
    };
    let mut world = world.lock().expect("no panic");
    let (before, after) = (world.next() % 8, world.next() % 12);
    drop(world);
    std::thread::sleep(Duration::from_millis(before));
    let query = Query::parse(query);
    let world = worlds[number.expect("it is one of them")].lock().expect("no panic");
    let mut script = world.list(&query);
    drop(world);
    script.acts.insert(0, Act::Pause(Duration::from_millis(after)));
    script
}
