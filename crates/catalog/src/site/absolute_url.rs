//! The absolute URL of a path, without a text of its own: responses have many.

use std::fmt;

use serde::{Serialize, Serializer};

use super::Site;
use crate::snapshot::PublicUrl;
use frontend_map_rules::frontend_url::BaseUrl;

/// The text of the base URL followed by the text of the path.
#[derive(Clone, Copy, Debug)]
pub struct AbsoluteUrl<'a> {
    /// The base URL of the locale.
    pub base: &'a BaseUrl,
    /// The path, which begins with a slash.
    pub path: &'a str,
}

impl Site {
    /// The absolute URL of a path; `None` without a base URL of the locale at this position.
    pub fn absolute_url<'a>(&'a self, locale: usize, path: &'a str) -> Option<AbsoluteUrl<'a>> {
        Some(AbsoluteUrl { base: self.hosts.base(locale)?, path })
    }

    /// The absolute URL of a version.
    pub fn url_of<'a>(&'a self, url: PublicUrl<'a>) -> Option<AbsoluteUrl<'a>> {
        self.absolute_url(url.locale(), url.path())
    }
}

impl fmt::Display for AbsoluteUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.as_str())?;
        f.write_str(self.path)
    }
}

impl Serialize for AbsoluteUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
