//! The hosts of the settings: which addresses are internal, and which path of which site each means.

use std::borrow::Cow;
use std::sync::Arc;

use super::address::{Address, AddressKind, MAX_ADDRESS, clean, merged, without_dots};
use crate::site::{Site, Sites};
use frontend_map_rules::frontend_url::{BaseUrl, HostName};

/// The hosts of all sites.
#[derive(Clone, Debug)]
pub struct KnownHosts {
    sites: Vec<Arc<Site>>,
    /// Whether a base URL has a path, so that several sites may share a host.
    have_paths: bool,
}

/// The version whose content has an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkingVersion<'a> {
    /// The position of its site.
    pub(super) site: usize,
    /// The position of its locale; `None`: it is not localized.
    pub(super) locale: Option<usize>,
    /// Its own path; `None`: it has no URL, or that is not known.
    pub(super) path: Option<&'a str>,
}

/// Where an address leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AddressTarget<'a> {
    /// To a path of a site.
    At(SitePath<'a>),
    /// To a path that belongs to no site.
    Outside,
    /// That depends on the URL of the document, which has none.
    NotKnown,
}

/// A path of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SitePath<'a> {
    /// The position of the site.
    pub(super) site: usize,
    /// The position of the host, if the site has several.
    pub(super) host: Option<usize>,
    /// The path below the base URL as it is written, without dot segments.
    pub(super) path: Cow<'a, str>,
    /// Whether scheme and host are those of the base URL, or not written.
    pub(super) has_canonical_host: bool,
}

/// A host of a site whose name an address has.
struct HostMatch<'a> {
    site: usize,
    at: usize,
    base: &'a BaseUrl,
    is_alias: bool,
}

impl KnownHosts {
    /// The hosts of these sites.
    pub fn new(sites: &Sites) -> Self {
        let mut hosts = sites.iter().flat_map(|site| site.hosts.all());
        let have_paths = hosts.any(|host| !host.base.path().is_empty());
        Self { sites: sites.iter().cloned().collect(), have_paths }
    }

    /// The sites.
    pub fn sites(&self) -> &[Arc<Site>] {
        &self.sites
    }

    /// Which kind an address in content is of.
    pub fn classify<'a>(&self, written: &'a str) -> AddressKind<'a> {
        let kept = clean(written);
        let Some(address) = Address::parse(&kept) else { return AddressKind::Nothing };
        if let Address::Absolute { authority, .. } = address
            && self.hosts(None, authority).next().is_none()
        {
            return AddressKind::External;
        }
        if kept.len() > MAX_ADDRESS { AddressKind::TooLong } else { AddressKind::Internal(kept) }
    }

    /// Where an internal address leads.
    pub(super) fn locate<'a>(
        &self,
        address: &'a str,
        version: LinkingVersion<'_>,
    ) -> AddressTarget<'a> {
        match Address::parse(address) {
            None => AddressTarget::Outside,
            Some(Address::Absolute { scheme, authority, path }) => {
                self.at_host(Some(version.site), authority, without_dots(path), scheme)
            }
            Some(Address::Rooted(path)) => self.at_root(without_dots(path), version),
            Some(Address::Relative(path)) => {
                let Some(own) = version.path else { return AddressTarget::NotKnown };
                let locale = version.locale.unwrap_or_default();
                let base = self.sites[version.site].hosts.base(locale);
                let own = [base.map_or("", BaseUrl::path), own].concat();
                self.at_root(without_dots(merged(&own, path)), version)
            }
        }
    }

    /// The path of a site on the host of the version.
    fn at_root<'a>(&self, path: Cow<'a, str>, version: LinkingVersion<'_>) -> AddressTarget<'a> {
        let hosts = &self.sites[version.site].hosts;
        let locale = version.locale.unwrap_or_default();
        let base = hosts.base(locale);
        // Another site may have the path, or the rest of the host.
        let other = base.filter(|_| self.have_paths);
        let other = other.map(|base| self.at_host(None, base.host(), path.clone(), None));
        let below = base.map_or(Some(&*path), |base| base.below(&path)).map(str::len);
        let own = below.map(|length| SitePath {
            site: version.site,
            host: hosts.host_if_several(locale),
            path: end_of(path, length),
            has_canonical_host: true,
        });
        match (own, other) {
            (Some(own), Some(AddressTarget::At(other))) if other.path.len() < own.path.len() => {
                AddressTarget::At(other)
            }
            (Some(own), _) => AddressTarget::At(own),
            (None, other) => other.unwrap_or(AddressTarget::Outside),
        }
    }

    /// The path of a site on a host: of the one whose base URL has most of the path.
    fn at_host<'a>(
        &self,
        first: Option<usize>,
        authority: &str,
        path: Cow<'a, str>,
        scheme: Option<&str>,
    ) -> AddressTarget<'a> {
        let mut hosts = self.hosts(first, authority);
        let mut found = hosts.find_map(|host| Some((host.base.below(&path)?.len(), host)));
        if self.have_paths {
            for host in hosts {
                if let Some((best, known)) = &found
                    && known.is_alias == host.is_alias
                    && let Some(below) = host.base.below(&path)
                    && below.len() < *best
                {
                    found = Some((below.len(), host));
                }
            }
        }
        let Some((below, host)) = found else { return AddressTarget::Outside };
        let hosts = &self.sites[host.site].hosts;
        let is_scheme = scheme.is_none_or(|scheme| scheme == host.base.scheme());
        AddressTarget::At(SitePath {
            site: host.site,
            host: Some(host.at).filter(|_| hosts.are_several()),
            path: end_of(path, below),
            has_canonical_host: is_scheme && !host.is_alias,
        })
    }

    /// The hosts with this name, those of the `first` site before others; then those with the name with
    /// or without `www.`, which usually redirects.
    fn hosts<'a>(
        &'a self,
        first: Option<usize>,
        authority: &str,
    ) -> impl Iterator<Item = HostMatch<'a>> + use<'a> {
        let other = match authority.get(..4) {
            Some(start) if start.eq_ignore_ascii_case("www.") => authority[4..].to_owned(),
            _ => format!("www.{authority}"),
        };
        let names = [(authority.to_owned(), false), (other, true)];
        let names = names
            .into_iter()
            .filter_map(|(name, is_alias)| Some((HostName::parse(&name).ok()?, is_alias)));
        let as_written = self.hosts_as_written(first, authority);
        as_written.into_iter().chain(names.flat_map(move |(name, is_alias)| {
            let others = (0..self.sites.len()).filter(move |at| Some(*at) != first);
            first.into_iter().chain(others).filter_map(move |site| {
                let hosts = &self.sites[site].hosts;
                let at = hosts.position(&name)?;
                Some(HostMatch { site, at, base: &hosts.all()[at].base, is_alias })
            })
        }))
    }

    /// The first host with exactly this name, without parsing it.
    fn hosts_as_written(&self, first: Option<usize>, authority: &str) -> Option<HostMatch<'_>> {
        first.into_iter().chain(0..self.sites.len()).find_map(|site| {
            let hosts = self.sites[site].hosts.all();
            let at = hosts.iter().position(|host| host.base.host() == authority)?;
            Some(HostMatch { site, at, base: &hosts[at].base, is_alias: false })
        })
    }
}

/// The last bytes of a path, what is below a base URL, as a pathname.
fn end_of(path: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    let at = path.len() - length;
    match path {
        _ if length == 0 => Cow::Borrowed("/"),
        Cow::Borrowed(path) => Cow::Borrowed(&path[at..]),
        Cow::Owned(path) if at == 0 => Cow::Owned(path),
        Cow::Owned(path) => Cow::Owned(path[at..].to_owned()),
    }
}
