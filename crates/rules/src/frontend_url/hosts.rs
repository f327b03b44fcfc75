//! The hosts of a site: the base URL of each of its locales.

use super::{BaseUrl, BaseUrlError};

/// The base URL of each locale of a site. Locales with the same base URL share a host; those without
/// one share a host that has no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Each once, in the order of their first locales.
    all: Box<[Host]>,
    /// For each locale of the site, the position of its host in `all`.
    by_locale: Box<[Option<usize>]>,
    /// The length of the longest base URL, in bytes.
    longest: usize,
    /// Whether the locales are on more than one host.
    are_several: bool,
}

/// A host as a request names it: `host[:port]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    /// Its base URL with each scheme, because the default port depends on the scheme.
    bases: [BaseUrl; 2],
}

impl HostName {
    /// Parses a host in the form that a base URL may have it (D15).
    ///
    /// # Errors
    /// [`BaseUrlError`]: what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        if text.contains(['/', '\\']) {
            return Err(BaseUrlError::Host);
        }
        let base = |scheme: &str| BaseUrl::parse(&format!("{scheme}://{text}"));
        Ok(Self { bases: [base("http")?, base("https")?] })
    }
}

/// Two locales have different base URLs on one host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the locales {} and {} (counted from 0) have different base URLs on the host `{host}`",
    .locales[0],
    .locales[1]
)]
pub struct BaseUrlConflict {
    /// The positions of the two in the site's locales.
    pub locales: [usize; 2],
    /// The host with its port.
    pub host: String,
}

/// A host with its base URL and its locales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The base URL of its locales.
    pub base: BaseUrl,
    /// The positions of its locales in the site's locales, in order.
    pub locales: Vec<usize>,
}

impl Hosts {
    /// The hosts of a site with this base URL for each of its locales.
    pub fn new(bases: Vec<Option<BaseUrl>>) -> Self {
        let mut all: Vec<Host> = Vec::new();
        let mut by_locale = Vec::new();
        for (locale, base) in bases.into_iter().enumerate() {
            by_locale.push(base.map(|base| {
                let known = all.iter().position(|host| host.base == base);
                let at = known.unwrap_or(all.len());
                match all.get_mut(at) {
                    Some(host) => host.locales.push(locale),
                    None => all.push(Host { base, locales: vec![locale] }),
                }
                at
            }));
        }
        let longest = all.iter().map(|host| host.base.as_str().len()).max().unwrap_or_default();
        let are_several = by_locale.windows(2).any(|pair| pair[0] != pair[1]);
        Self { all: all.into(), by_locale: by_locale.into(), longest, are_several }
    }

    /// The hosts of a site with so many locales, all of them below one base URL.
    pub fn one(base: BaseUrl, locales: usize) -> Self {
        Self::new(vec![Some(base); locales])
    }

    /// Refuses two locales whose base URLs differ although they are on one host: a path belongs to a
    /// host.
    ///
    /// # Errors
    /// [`BaseUrlConflict`]: the first two.
    pub fn check_one_base_url_per_host(&self) -> Result<(), BaseUrlConflict> {
        for (at, host) in self.all.iter().enumerate() {
            let is_same = |other: &&Host| other.base.host() == host.base.host();
            if let Some(other) = self.all[..at].iter().find(is_same) {
                let locales = [other.locales[0], host.locales[0]];
                return Err(BaseUrlConflict { locales, host: host.base.host().to_owned() });
            }
        }
        Ok(())
    }

    /// The position of the host of the locale at this position of the site's locales. Locales without
    /// a base URL share the position behind those of all others.
    pub fn host_of(&self, locale: usize) -> usize {
        self.by_locale.get(locale).copied().flatten().unwrap_or(self.all.len())
    }

    /// The position of the host of each locale; empty if all locales share one.
    pub fn by_locale(&self) -> Box<[u16]> {
        let locales = if self.are_several { 0..self.locales() } else { 0..0 };
        let narrow = |host| u16::try_from(host).unwrap_or(u16::MAX);
        locales.map(|locale| narrow(self.host_of(locale))).collect()
    }

    /// Whether the site has paths on several hosts.
    pub fn are_several(&self) -> bool {
        self.are_several
    }

    /// The position of a host by its name. Also `None` if all locales share one host: then the host
    /// decides nothing.
    pub fn position_if_several(&self, name: &HostName) -> Option<usize> {
        self.position(name).filter(|_| self.are_several)
    }

    /// The position of a host by its name, also if it is the only one.
    pub fn position(&self, name: &HostName) -> Option<usize> {
        let is_named = |host: &Host| {
            let same_scheme = |base: &&BaseUrl| base.scheme() == host.base.scheme();
            let own = name.bases.iter().find(same_scheme);
            own.is_some_and(|base| base.host() == host.base.host())
        };
        self.all.iter().position(is_named)
    }

    /// The position of the host of a locale, if the site has several.
    pub fn host_if_several(&self, locale: usize) -> Option<usize> {
        self.are_several.then(|| self.host_of(locale))
    }

    /// The positions of the locales of the host at a position, in order.
    pub fn locales_of(&self, host: usize) -> impl Iterator<Item = usize> + Clone {
        (0..self.locales()).filter(move |locale| self.host_of(*locale) == host)
    }

    /// All that have a base URL, in the order of their first locales.
    pub fn all(&self) -> &[Host] {
        &self.all
    }

    /// How many locales the site has.
    pub fn locales(&self) -> usize {
        self.by_locale.len()
    }

    /// The base URL of the locale at this position of the site's locales, if it has one.
    pub fn base(&self, locale: usize) -> Option<&BaseUrl> {
        let at = self.by_locale.get(locale).copied().flatten()?;
        Some(&self.all[at].base)
    }

    /// The absolute URL of a path in a locale, if this has a base URL.
    pub fn url(&self, locale: usize, path: &str) -> Option<String> {
        Some(self.base(locale)?.join(path))
    }

    /// The first of these locales that has no base URL.
    pub fn first_without(&self, locales: impl IntoIterator<Item = usize>) -> Option<usize> {
        locales.into_iter().find(|locale| self.base(*locale).is_none())
    }

    /// The first locale that has no base URL.
    pub fn first_locale_without_base(&self) -> Option<usize> {
        self.first_without(0..self.locales())
    }

    /// The length of the longest base URL, in bytes; 0 without one.
    pub fn longest(&self) -> usize {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(text: &str) -> BaseUrl {
        BaseUrl::parse(text).unwrap()
    }

    #[test]
    fn locales_with_one_base_url_share_a_host() {
        let [com, de] = ["https://example.com", "https://example.de/start"].map(base);
        let hosts = Hosts::new(vec![Some(com.clone()), Some(de.clone()), None, Some(com.clone())]);
        let expected = [
            Host { base: com.clone(), locales: vec![0, 3] },
            Host { base: de.clone(), locales: vec![1] },
        ];
        assert_eq!(hosts.all(), expected);
        let bases: Vec<_> = (0..5).map(|locale| hosts.base(locale)).collect();
        assert_eq!(bases, [Some(&com), Some(&de), None, Some(&com), None]);
        assert_eq!(hosts.url(1, "/x").as_deref(), Some("https://example.de/start/x"));
        assert_eq!((hosts.first_without([0, 1, 3]), hosts.first_without([3, 2])), (None, Some(2)));
        assert_eq!((hosts.longest(), Hosts::default().longest()), (24, 0));
        assert_eq!(*hosts.by_locale(), [0, 1, 2, 0]);
        assert_eq!(hosts.locales_of(0).collect::<Vec<_>>(), [0, 3]);
        let one = Hosts::one(com, 2);
        assert_eq!((one.by_locale().len(), one.are_several()), (0, false));
    }

    #[test]
    fn host_has_one_base_url() {
        let check = |bases: [&str; 3]| {
            Hosts::new(bases.map(|text| Some(base(text))).into()).check_one_base_url_per_host()
        };
        for different in ["https://a.example/b", "http://a.example"] {
            let same = check(["https://a.example", "https://b.example", different]).unwrap_err();
            assert_eq!((same.locales, same.host.as_str()), ([0, 2], "a.example"));
        }
        let ports = ["https://a.example", "https://a.example:8443", "https://A.example:443/"];
        assert_eq!(check(ports), Ok(()));
    }

    #[test]
    fn host_is_found_by_its_name_in_any_form_of_a_base_url() {
        let bases = ["https://example.com/x", "http://bücher.example:3000", "http://[::1]"];
        let hosts = Hosts::new(bases.map(|text| Some(base(text))).into());
        for (name, expected) in [
            ("example.com", Some(0)),
            ("EXAMPLE.com:443", Some(0)),
            ("example.com:80", None),
            ("bücher.example:3000", Some(1)),
            ("xn--bcher-kva.example:3000", Some(1)),
            ("bücher.example", None),
            ("[::1]", Some(2)),
            ("[::1]:80", Some(2)),
            ("other.example", None),
        ] {
            assert_eq!(
                hosts.position_if_several(&HostName::parse(name).unwrap()),
                expected,
                "{name}"
            );
        }
        for malformed in
            ["", "a/b", "a/", "a\\b", "u@a", "a?", "a#", "a b", "a:", "a:0", "[::1", "a..b"]
        {
            assert!(HostName::parse(malformed).is_err(), "{malformed}");
        }
        let one = Hosts::one(base("https://example.com"), 2);
        assert_eq!(one.position_if_several(&HostName::parse("example.com").unwrap()), None);
    }
}
