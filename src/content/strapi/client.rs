//! The way to one Strapi: who is let through, and when it is whose turn.

use std::sync::Arc;

use tokio::sync::watch;
use tracing::Instrument;

use super::answer::Reply;
use super::breaker::{BreakerState, Pass};
use super::line::{Asked, Line};
use super::turns::{Turn, Turns, TurnsByAddress};
use super::{StrapiError, StrapiSettings};
use crate::content::ContentError;
use crate::metrics::Metrics;
use crate::traces;

/// The connection to one Strapi.
pub(super) struct Client {
    line: Arc<Line>,
    turns: Arc<Turns>,
}

impl Client {
    pub(super) fn new(
        settings: &StrapiSettings,
        metrics: Arc<Metrics>,
        turns: &TurnsByAddress,
    ) -> Result<Self, StrapiError> {
        let line = Arc::new(Line::new(settings, metrics)?);
        let turns = turns.of(settings.url.as_str());
        turns.resize(settings.limits.concurrent);
        Ok(Self { line, turns })
    }

    /// Whether the CMS is asked at the moment.
    pub(super) fn health(&self) -> BreakerState {
        self.line.breaker.health()
    }

    /// Tells when that changes.
    pub(super) fn watch(&self) -> watch::Receiver<BreakerState> {
        self.line.breaker.watch()
    }

    /// One page of a list.
    pub(super) async fn page(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        let most = self.line.limits.page_bytes;
        let (path, query) = (path.to_owned(), query.to_owned());
        self.ask(Asked { path, query, most, list: true, twice: true }).await
    }

    /// One document.
    pub(super) async fn document(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        let most = self.line.limits.document_bytes;
        let (path, query) = (path.to_owned(), query.to_owned());
        self.ask(Asked { path, query, most, list: false, twice: true }).await
    }

    /// Something that is asked before the request that counts, so that a silent CMS is noticed
    /// within one request's time.
    pub(super) async fn once(&self, path: &str) -> Result<Reply, ContentError> {
        let most = self.line.limits.document_bytes;
        let (path, query) = (path.to_owned(), String::new());
        self.ask(Asked { path, query, most, list: false, twice: false }).await
    }

    /// Asks, unless the breaker is open. Nobody waits for a probe: who comes when one is due has it
    /// sent, and gets what all others get.
    async fn ask(&self, asked: Asked) -> Result<Reply, ContentError> {
        let line = &self.line;
        let Some((turn, pass)) = self.admitted(asked.list).await else {
            return Err(line.shed());
        };
        // A task of its own, so that each request tells how it ended, although its caller leaves.
        let call = Arc::clone(line).call(asked, pass, turn).in_current_span();
        let call = tokio::spawn(traces::in_current_span(call));
        if pass.probe {
            return Err(line.shed());
        }
        // It panicked.
        call.await.unwrap_or(Err(ContentError::Unavailable { retry_after: None }))
    }

    async fn admitted(&self, list: bool) -> Option<(Turn, Pass)> {
        let mut health = self.line.breaker.watch();
        let turn = tokio::select! {
            biased;
            turn = self.turns.next(list) => turn,
            // Whoever waits for one stops when the breaker opens.
            _ = health.wait_for(BreakerState::is_open) => return None,
        };
        Some((turn, self.line.breaker.enter()?))
    }
}
