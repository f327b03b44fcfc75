//! The names of a site's locales and of their hosts, which outlive the settings that have them.

use serde::{Deserialize, Serialize};

use frontend_map_rules::Locales;
use frontend_map_rules::frontend_url::Hosts;

/// The locales of a site by their positions in a snapshot: their codes, and the names of their hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocaleNames {
    locales: Box<[LocaleName]>,
    /// Whether the locales are on several hosts.
    several_hosts: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LocaleName {
    code: Box<str>,
    /// `host[:port]` of its base URL; empty without one.
    host: Box<str>,
}

impl LocaleNames {
    /// The names for a site with these locales and base URLs.
    pub fn of(locales: &Locales, hosts: &Hosts) -> Self {
        let codes = locales.codes().iter().map(|code| code.as_str().into());
        let host = |at| hosts.base(at).map_or("", |base| base.host()).into();
        let locales = codes.enumerate().map(|(at, code)| LocaleName { code, host: host(at) });
        Self { locales: locales.collect(), several_hosts: hosts.are_several() }
    }

    /// The number of locales.
    pub fn count(&self) -> usize {
        self.locales.len()
    }

    /// The code of the locale at a position.
    pub fn code(&self, locale: usize) -> &str {
        &self.locales[locale].code
    }

    /// The host of a locale of the site with these or with `other` settings (earlier ones), to which it
    /// belongs, for comparisons: `host[:port]`, or empty if the site has one host now or had one then,
    /// so that another base URL changes nothing.
    pub fn host_among<'n>(&self, other: &'n Self, locale: usize) -> &'n str {
        if self.several_hosts && other.several_hosts { &other.locales[locale].host } else { "" }
    }

    /// For each of these locales, its position in other ones if it has the same host there.
    pub fn same_in(&self, other: &Self) -> Vec<Option<usize>> {
        let positions = self.positions_in(other).into_iter().enumerate();
        let same = |(own, at): (usize, Option<usize>)| {
            at.filter(|at| self.host_among(other, own) == other.host_among(self, *at))
        };
        positions.map(same).collect()
    }

    /// For each of these locales, its position in other ones.
    pub(super) fn positions_in(&self, other: &Self) -> Vec<Option<usize>> {
        let position = |code: &str| other.locales.iter().position(|own| *own.code == *code);
        self.locales.iter().map(|locale| position(&locale.code)).collect()
    }
}
