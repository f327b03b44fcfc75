//! Measures look-ups, build time and memory at 10 to 100,000 rules, beside `matchit` and `wayfind`.
//!
//! `cargo bench --bench matching` prints tables; `-- --quick` is a short run that only shows that
//! the bench works. All columns include reading the values of the placeholders:
//!
//! - `resolve`: what `/api/get-content-type` needs from `rules`: splitting, decoding and checking the
//!   segments of the pathname (D7), the look-up, the values of the placeholders.
//! - `look-up`: the same with a pathname that is already parsed.
//! - `matchit`, `wayfind`: one call of theirs, on the raw path, with the raw values. They do not
//!   decode or check segments, and do not treat `//` as `/`, so they do less than `resolve`; they
//!   split the path, so they do more than `look-up`.
//!
//! Each figure is the median of several rounds, in nanoseconds per look-up; the routers run in turn
//! within a round. The pathnames are spread over all rules in random order. `build` starts from
//! templates as text. `memory` is what is still allocated after the build: ours also contains the
//! rules for building URLs and for `candidates`, theirs the routes and a number for each.

mod rules;

use std::hint::black_box;
use std::time::{Duration, Instant};

use frontend_map_rules::{
    ContentTypeUid, Locale, LocalePrefix, Locales, Match, Pathname, Rule, RuleSet, Template,
};
use rules::{Set, hits, long_paths, misses};

/// Odd, so that the median is one of them.
const ROUNDS: usize = 11;

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick" || arg == "--test");
    let sizes: &[usize] = if quick { &[10, 1_000] } else { &[10, 100, 1_000, 10_000, 100_000] };
    let round = Duration::from_millis(if quick { 1 } else { 20 });
    for set in [Set::Apart, Set::Overlapping, Set::Ladder] {
        println!("\n{}", set.title());
        for &size in sizes.iter().filter(|size| **size <= set.most_rules()) {
            table(set, size, round);
        }
    }
}

/// A router: its name, and its look-up of the pathname at a position.
struct Router<'c> {
    name: &'static str,
    look_up: Box<dyn Fn(usize) + 'c>,
}

impl<'c> Router<'c> {
    fn new(name: &'static str, look_up: impl Fn(usize) + 'c) -> Self {
        Self { name, look_up: Box::new(look_up) }
    }
}

fn table(set: Set, size: usize, round: Duration) {
    let rules = set.templates(size);
    println!("\n  {} rules", rules.len());
    let ours = build("frontend-map", || ours(&rules));
    let wayfind = build("wayfind", || wayfind(&rules));
    let matchit = match set {
        Set::Apart => build("matchit", || matchit(&rules)),
        Set::Overlapping | Set::Ladder => None,
    };
    let kinds = [("hit", hits(set, size)), ("miss", misses(set, size)), ("long", long_paths(set))];
    for (kind, paths) in kinds {
        let parsed: Vec<Pathname<'_>> = paths.iter().map(|path| Pathname::parse(path)).collect();
        let mut routers = Vec::new();
        if let Some(ours) = &ours {
            routers.push(Router::new("resolve", |at| {
                let pathname = Pathname::parse(black_box(&paths[at]));
                read(ours.find(&pathname));
            }));
            routers.push(Router::new("look-up", |at| {
                read(ours.find(black_box(&parsed[at])));
            }));
            check(kind, &parsed, ours);
        }
        if let Some(router) = &matchit {
            routers.push(Router::new("matchit", |at| {
                if let Ok(found) = router.at(black_box(&paths[at])) {
                    black_box(found.value);
                    found.params.iter().for_each(|param| _ = black_box(param));
                }
            }));
        }
        if let Some(router) = &wayfind {
            routers.push(Router::new("wayfind", |at| {
                if let Some(found) = router.search(black_box(&paths[at])) {
                    black_box(found.data());
                    found.parameters().iter().for_each(|param| _ = black_box(param));
                }
            }));
        }
        let figures = measure(&routers, paths.len(), round);
        let columns: Vec<String> = routers
            .iter()
            .zip(figures)
            .map(|(router, figure)| format!("{} {figure:>8.1}", router.name))
            .collect();
        println!("    {kind:<6} ns  {}", columns.join("   "));
    }
}

/// Reads all parts of a match, as is done with those of the other routers.
fn read(found: Option<Match<'_>>) {
    if let Some(found) = found {
        black_box((found.rule, found.template, found.locale));
        found.params.iter().for_each(|param| _ = black_box(param));
    }
}

/// Checks that hits match and misses do not, so that the figures are of hits and misses.
fn check(kind: &str, parsed: &[Pathname<'_>], ours: &RuleSet) {
    for pathname in parsed {
        let found = ours.find(pathname).is_some();
        assert!(kind == "long" || found == (kind == "hit"), "{kind}: {}", pathname.normalized());
    }
}

/// The median nanoseconds for one look-up of each router; the routers run in turn.
fn measure(routers: &[Router<'_>], paths: usize, round: Duration) -> Vec<f64> {
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); routers.len()];
    for _ in 0..ROUNDS {
        for (figures, router) in rounds.iter_mut().zip(routers) {
            figures.push(one_round(router, paths, round));
        }
    }
    for figures in &mut rounds {
        figures.sort_by(f64::total_cmp);
    }
    rounds.iter().map(|figures| figures[ROUNDS / 2]).collect()
}

#[expect(clippy::cast_precision_loss, reason = "no round has 2^53 look-ups")]
fn one_round(router: &Router<'_>, paths: usize, round: Duration) -> f64 {
    let begin = Instant::now();
    let mut count = 0_usize;
    let mut at = 0;
    // Read the clock rarely, but often enough that a slow router does not take minutes.
    while begin.elapsed() < round {
        for _ in 0..64 {
            (router.look_up)(at);
            at = if at + 1 == paths { 0 } else { at + 1 };
        }
        count += 64;
    }
    begin.elapsed().as_nanos() as f64 / count as f64
}

/// Builds a router, and prints the time and the memory.
fn build<T>(name: &str, build: impl Fn() -> Result<T, String>) -> Option<T> {
    let mut result = None;
    let begin = Instant::now();
    let info = allocation_counter::measure(|| result = Some(build()));
    let took = begin.elapsed().as_secs_f64() * 1e3;
    let kib = info.bytes_current / 1024;
    match result? {
        Ok(router) => {
            println!("    {name:<12} build {took:>9.2} ms   memory {kib:>7} KiB");
            Some(router)
        }
        Err(problem) => {
            println!("    {name:<12} refuses the set: {problem}");
            None
        }
    }
}

fn ours(templates: &[String]) -> Result<RuleSet, String> {
    let uid = ContentTypeUid::parse("api::page.page").map_err(|error| error.to_string())?;
    let rule = |text: &String| Ok(Rule::new(uid.clone(), Template::parse(text)?));
    let rules: Result<Vec<Rule>, frontend_map_rules::TemplateError> =
        templates.iter().map(rule).collect();
    let locales = ["en", "de", "fr"].map(Locale::parse).into_iter().collect::<Result<_, _>>();
    let locales = Locales::new(locales.map_err(|error| error.to_string())?);
    let rules = rules.map_err(|error| error.to_string())?;
    let set =
        RuleSet::new(locales.map_err(|error| error.to_string())?, LocalePrefix::Always, rules);
    set.check_cost().map_err(|error| error.to_string())?;
    Ok(set)
}

fn matchit(templates: &[String]) -> Result<matchit::Router<usize>, String> {
    let mut router = matchit::Router::new();
    for (at, template) in templates.iter().enumerate() {
        router.insert(template.as_str(), at).map_err(|error| format!("{template}: {error}"))?;
    }
    Ok(router)
}

fn wayfind(templates: &[String]) -> Result<wayfind::Router<usize>, String> {
    let mut builder = wayfind::RouterBuilder::new();
    for (at, template) in templates.iter().enumerate() {
        let template = template.replace('{', "<").replace('}', ">");
        builder.insert(&template, at).map_err(|error| format!("{template}: {error}"))?;
    }
    Ok(builder.build())
}
