//! What a walk reads.

use crate::content::ContentQuery;
use crate::content::strapi::endpoint_cache::ResolvedEndpoint;
use crate::content::strapi::fetch::Fetcher;
use crate::rules::Locale;

/// One content type in one locale.
#[derive(Clone, Copy)]
pub(super) struct WalkScope<'a> {
    pub(super) fetcher: &'a Fetcher,
    pub(super) query: &'a ContentQuery,
    pub(super) resolved: &'a ResolvedEndpoint,
    pub(super) locale: &'a Locale,
    /// All locales that are walked, this one among them.
    pub(super) locales: &'a [Locale],
}
