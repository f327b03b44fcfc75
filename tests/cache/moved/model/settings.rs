//! The settings of a random site, and the paths that they give to content.

use std::collections::BTreeSet;

use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::site::{ResolveBy, Site, SitePages};
use frontend_map_catalog::snapshot::Listing;
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{ContentTypeUid, Locale, LocalePrefix, Locales, Rule, RuleSet, Template};

use super::world::{Content, Paths, Version};

pub(super) const SOURCE: u128 = 7;
pub(super) const KEY: &str = "main";
pub(super) const UIDS: [&str; 2] = ["api::a.a", "api::b.b"];
const LOCALES: [&[&str]; 4] = [&["en", "de"], &["de", "en"], &["en"], &["de"]];
/// For each type; some tie with those of the other one.
const TEMPLATES: [[&str; 4]; 2] = [
    ["/{locale}/{slug}", "/{locale}/a/{slug}", "/x/{slug}", "/{locale}/{slug}.html"],
    ["/{locale}/{slug}", "/{locale}/b/{slug}", "/x/{slug}", "/{slug}"],
];

pub(super) struct Settings {
    pub(super) site: Site,
    pub(super) locales: Vec<&'static str>,
    /// The template of each type; `None`: the site has no rule for it.
    pub(super) templates: [Option<&'static str>; 2],
    pub(super) names: LocaleNames,
}

impl Settings {
    pub(super) fn random(random: &mut fastrand::Rng) -> Self {
        let locales = LOCALES[usize::from(random.u8(..4))];
        let mut template = |at: usize| {
            let is_left_out = at == 1 && random.u8(..5) == 0;
            (!is_left_out).then(|| TEMPLATES[at][usize::from(random.u8(..4))])
        };
        let templates = [template(0), template(1)];
        let rule = |(uid, template): (&str, Option<&str>)| {
            let template = Template::parse(template?).unwrap();
            Some(Rule::new(ContentTypeUid::parse(uid).unwrap(), template))
        };
        let rules = UIDS.into_iter().zip(templates).filter_map(rule).collect();
        let codes = locales.iter().map(|code| Locale::parse(code).unwrap()).collect();
        let rules = RuleSet::new(Locales::new(codes).unwrap(), LocalePrefix::Always, rules);
        let hosts = Hosts::one(BaseUrl::parse("https://x.example").unwrap(), locales.len());
        let names = LocaleNames::of(rules.locales(), &hosts);
        let site = Site {
            key: KEY.to_owned(),
            rules,
            hosts,
            resolve: ResolveBy::Documents,
            sitemap_path: String::new(),
            pages: SitePages::default(),
            redirects: None,
            links: Vec::new(),
            links_fingerprint: 0,
            fingerprint: 0,
            source: SOURCE,
        };
        Self { site, locales: locales.to_vec(), templates, names }
    }

    pub(super) fn listing(&self, at: usize) -> Listing<'_> {
        Listing { rules: &self.site.rules, hosts: &self.site.hosts, uid: UIDS[at] }
    }

    /// The owners of all paths: of several versions with one path the one that owned it before, else the
    /// first by locale, then by id.
    pub(super) fn paths(&self, at: usize, content: &Content, before: Option<&Paths>) -> Paths {
        let template = self.templates[at].expect("the site has a rule");
        let mut versions: Vec<(usize, Version, String)> = Vec::new();
        for ((id, locale), slug) in content {
            let is_localized = !locale.is_empty();
            let position = self.locales.iter().position(|own| own == locale);
            let Some(position) = position.or((!is_localized).then_some(0)) else { continue };
            let code = self.locales[position];
            let path = template.replace("{locale}", code).replace("{slug}", slug);
            let version = Version { id: id.clone(), locale: code.to_owned(), is_localized };
            versions.push((position, version, path));
        }
        let path_before = |version: &Version| before.and_then(|before| before.paths.get(version));
        versions.sort_by_key(|(locale, version, path)| {
            let before = path_before(version);
            (before != Some(path), before.is_none(), *locale, version.id.clone())
        });
        let mut taken = BTreeSet::new();
        versions.retain(|(_, _, path)| taken.insert(path.clone()));
        Paths { paths: versions.into_iter().map(|(_, version, path)| (version, path)).collect() }
    }
}
