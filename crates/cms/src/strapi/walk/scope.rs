//! What a walk reads.

use super::failures::Failures;
use crate::Strapi;
use crate::strapi::endpoint_cache::ResolvedEndpoint;
use crate::{ContentQuery, KnownDocuments, Pace};
use frontend_map_rules::Locale;

/// One content type in one locale.
#[derive(Clone, Copy)]
pub(super) struct WalkScope<'a> {
    pub(super) strapi: &'a Strapi,
    pub(super) query: &'a ContentQuery,
    pub(super) resolved: &'a ResolvedEndpoint,
    pub(super) locale: &'a Locale,
    /// All locales that are walked, this one among them.
    pub(super) locales: &'a [Locale],
    pub(super) known: Option<KnownDocuments<'a>>,
    /// Whether it is the first of them, which shows whether the type is localized.
    pub(super) is_first: bool,
    /// How long its pages have failed so far.
    pub(super) failures: &'a Failures,
    /// When requests may be sent, if they have to wait.
    pub(super) pace: Option<&'a dyn Pace>,
    /// The rows of a page.
    pub(super) page_size: usize,
}

impl WalkScope<'_> {
    /// Waits until a request may be sent. It has ended when the result is dropped.
    pub(super) async fn permit(&self) -> Option<Box<dyn Send>> {
        match self.pace {
            Some(pace) => Some(pace.begin().await),
            None => None,
        }
    }
}
