//! Documents from a Strapi 5 over its REST API.
//!
//! How Strapi answers was read off a real one; what is asked and believed follows decisions D18 to
//! D20, D23, D27 and D28.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde::Deserialize;
use tokio::sync::watch;
use url::Url;

use crate::content::{ContentError, ContentQuery};
use crate::metrics::Metrics;
use crate::outgoing::BuildError;
use crate::rules::ContentTypeUid;

mod answer;
mod ask;
mod breaker;
mod client;
mod endpoint;
mod line;
mod one;
mod page;
mod place;
mod plural;
mod proof;
mod query;
mod random;
mod refusal;
mod rows;
mod schema;
mod turns;
mod walk;

pub use breaker::BreakerState;
pub use endpoint::{Endpoint, EndpointError, EndpointKind};
pub use page::Page;
#[cfg(fuzzing)]
pub use page::{FuzzedPage, fuzz_document, fuzz_page, fuzz_reply};
pub use schema::{SchemaError, Schemas};
pub use turns::TurnsByAddress;

use client::Client;
use place::Places;

/// Which Strapi, and how to talk to it.
#[derive(Clone, Debug)]
pub struct StrapiSettings {
    /// Where it lives, without `/api`: `http` or `https`, with a host, without user information,
    /// query or fragment. The caller has checked that.
    pub url: Url,
    /// An API token that may `find` and `findOne` the content types of the rules.
    pub token: Option<SecretString>,
    /// The endpoints that are known; the others are asked of the CMS or guessed.
    pub endpoints: HashMap<ContentTypeUid, Endpoint>,
    /// How long and how much.
    pub limits: StrapiLimits,
}

/// The limits toward the CMS (D28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrapiLimits {
    /// For a connection, name look-up and TLS included. Default 1 s.
    pub connect: Duration,
    /// For one request with its whole answer. Default 5 s.
    pub request: Duration,
    /// For one page of a list, in bytes after decompression. Default 16 MiB.
    pub page_bytes: usize,
    /// For one document, in bytes after decompression. Default 1 MiB.
    pub document_bytes: usize,
    /// Requests at a time; further ones wait. Default 16.
    pub concurrent: usize,
}

impl Default for StrapiLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(1),
            request: Duration::from_secs(5),
            page_bytes: 16 << 20,
            document_bytes: 1 << 20,
            concurrent: 16,
        }
    }
}

/// Why a Strapi source cannot be set up. None of the texts shows the token.
#[derive(Debug, thiserror::Error)]
pub enum StrapiError {
    /// The token has characters that a header cannot carry.
    #[error("the token of the CMS is not a header value: is there a line break in it?")]
    Token,
    /// TLS, or the HTTP client.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The HTTP client refuses its settings.
    #[error("cannot set up the HTTP client for the CMS")]
    Client,
}

/// A Strapi as a source of documents. Nothing is asked of it before the first document is.
pub struct Strapi {
    client: Client,
    places: Places,
}

impl Strapi {
    /// A source with these settings. Its requests are counted in `metrics`, and take the turns of
    /// its address, of which there are from now on as many as it may have.
    ///
    /// # Errors
    /// [`StrapiError`]
    pub fn new(
        settings: StrapiSettings,
        metrics: Arc<Metrics>,
        turns: &TurnsByAddress,
    ) -> Result<Self, StrapiError> {
        let client = Client::new(&settings, metrics, turns)?;
        Ok(Self { client, places: Places::new(settings.endpoints) })
    }

    /// Whether it is asked at the moment.
    #[must_use]
    pub fn breaker_state(&self) -> BreakerState {
        self.client.health()
    }

    /// What everybody gets while it is not.
    #[must_use]
    pub fn circuit_open(&self) -> Option<ContentError> {
        let health = self.client.health();
        health.is_open().then(|| line::not_asked(health))
    }

    /// Tells when that changes.
    #[must_use]
    pub fn watch_breaker(&self) -> watch::Receiver<BreakerState> {
        self.client.watch()
    }

    /// Finds out whether it answers again, if it is time for that.
    pub async fn probe(&self, ask: &ContentQuery) {
        if let Ok(place) = self.place(&ask.uid).await {
            // What it says is for the breaker.
            let _ = self.list((&ask.uid, &place), None, |locale| query::total(ask, locale)).await;
        }
    }
}

/// Reads one JSON object, and nothing else: a derived struct would accept a list in its place.
fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    json.trim_ascii_start().starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
}
