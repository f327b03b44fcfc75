//! The hosts of a site: the base URL of each of its locales.

use super::BaseUrl;

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
    #[must_use]
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
        Self { all: all.into(), by_locale: by_locale.into(), longest }
    }

    /// The hosts of a site with so many locales, all of them below one base URL.
    #[must_use]
    pub fn one(base: BaseUrl, locales: usize) -> Self {
        Self::new(vec![Some(base); locales])
    }

    /// All that have a base URL, in the order of their first locales.
    #[must_use]
    pub fn all(&self) -> &[Host] {
        &self.all
    }

    /// How many locales the site has.
    #[must_use]
    pub fn locales(&self) -> usize {
        self.by_locale.len()
    }

    /// The base URL of the locale at this position of the site's locales, if it has one.
    #[must_use]
    pub fn base(&self, locale: usize) -> Option<&BaseUrl> {
        let at = self.by_locale.get(locale).copied().flatten()?;
        Some(&self.all[at].base)
    }

    /// The absolute URL of a path in a locale, if this has a base URL.
    #[must_use]
    pub fn url(&self, locale: usize, path: &str) -> Option<String> {
        Some(self.base(locale)?.join(path))
    }

    /// The first of these locales that has no base URL.
    #[must_use]
    pub fn first_without(&self, locales: impl IntoIterator<Item = usize>) -> Option<usize> {
        locales.into_iter().find(|locale| self.base(*locale).is_none())
    }

    /// The length of the longest base URL, in bytes; 0 without one.
    #[must_use]
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
    }
}
