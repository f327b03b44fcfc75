//! The names of a site's locales and of their hosts, which outlive the settings that have them.

use crate::frontend_url::Hosts;
use crate::rules::Locales;

/// The locales of a site by their positions in a snapshot: their codes, and the names of their hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocaleNames {
    codes: Box<[Box<str>]>,
    /// `host[:port]` of each locale's base URL; empty for a locale without one.
    hosts: Box<[Box<str>]>,
    /// Whether the locales are on several hosts.
    several_hosts: bool,
}

impl LocaleNames {
    /// The names for a site with these locales and base URLs.
    #[must_use]
    pub fn of(locales: &Locales, hosts: &Hosts) -> Self {
        let codes = locales.codes().iter().map(|code| code.as_str().into());
        let host = |at| hosts.base(at).map_or("", |base| base.host()).into();
        Self {
            hosts: (0..locales.codes().len()).map(host).collect(),
            codes: codes.collect(),
            several_hosts: hosts.are_several(),
        }
    }

    /// From the code and the host of each locale; as [`LocaleNames::iter`] has them.
    #[must_use]
    pub fn from_parts<'p>(
        locales: impl IntoIterator<Item = (&'p str, &'p str)>,
        several_hosts: bool,
    ) -> Self {
        let (codes, hosts): (Vec<Box<str>>, Vec<Box<str>>) =
            locales.into_iter().map(|(code, host)| (code.into(), host.into())).unzip();
        Self { codes: codes.into(), hosts: hosts.into(), several_hosts }
    }

    /// The code and the host of each locale; the host is empty for a locale without a base URL.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.codes.iter().zip(&self.hosts).map(|(code, host)| (&**code, &**host))
    }

    /// Whether the locales are on several hosts.
    #[must_use]
    pub fn has_several_hosts(&self) -> bool {
        self.several_hosts
    }

    /// The code of the locale at a position.
    #[must_use]
    pub fn code(&self, locale: usize) -> &str {
        &self.codes[locale]
    }

    /// The host of a locale of `of` (the site with these or with earlier settings) for comparisons:
    /// `host[:port]`, or empty if the site has one host now or had one then, so that another base URL
    /// changes nothing.
    #[must_use]
    pub fn host_among<'n>(&self, of: &'n Self, locale: usize) -> &'n str {
        if self.several_hosts && of.several_hosts { &of.hosts[locale] } else { "" }
    }

    /// For each of these locales, its position in other ones.
    pub(super) fn positions_in(&self, other: &Self) -> Vec<Option<usize>> {
        let position = |code: &str| other.codes.iter().position(|own| **own == *code);
        self.codes.iter().map(|code| position(code)).collect()
    }
}
