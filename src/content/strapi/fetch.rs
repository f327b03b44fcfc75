//! Requests for the documents of one content type: resolves the endpoint, and falls back to a
//! request without a locale where the type is not localized.

use std::collections::HashMap;
use std::sync::Arc;

use super::client::{Client, Refusal, Reply};
use super::endpoint::Endpoint;
use super::endpoint_cache::{EndpointCache, ResolvedEndpoint};
use super::query_string;
use crate::content::{ContentError, ContentQuery};
use crate::rules::{ContentTypeUid, Locale};

/// The errors for responses that show a configuration mistake.
const DENIED: ContentError =
    ContentError::Unusable("401 or 403: the token is missing, wrong or may not read this type");
const NO_ENDPOINT: ContentError = ContentError::Unusable(
    "404: no such endpoint; give the type routes in Strapi, or set its endpoint in `[[content_type]]`",
);
const UNKNOWN_KEY: ContentError =
    ContentError::Unusable("400: the type lacks a field or relation that the rules name");

/// Sends requests about content types through the client.
pub(super) struct Fetcher {
    pub(super) client: Client,
    endpoints: EndpointCache,
}

/// The response to a request for a list.
pub(super) struct ListReply {
    pub(super) body: String,
    /// Whether a locale was requested and accepted.
    pub(super) is_localized: bool,
}

impl Fetcher {
    pub(super) fn new(client: Client, configured: HashMap<ContentTypeUid, Endpoint>) -> Self {
        Self { client, endpoints: EndpointCache::new(configured) }
    }

    /// The endpoint: configured, else from the schema, else guessed.
    ///
    /// # Errors
    /// Those of a CMS that does not respond: the next request would fail as well, after the deadline.
    pub(super) async fn resolve(
        &self,
        uid: &ContentTypeUid,
    ) -> Result<Arc<ResolvedEndpoint>, ContentError> {
        if let Some(endpoint) = self.endpoints.get(uid) {
            return Ok(endpoint);
        }
        let from_schema = match self.client.schema(uid).await {
            Ok(Reply::Json(json)) => Endpoint::from_schema(&json, uid),
            Ok(Reply::Refused(_) | Reply::Denied) | Err(ContentError::Unusable(_)) => None,
            Err(error) => return Err(error),
        };
        let endpoint = from_schema.unwrap_or_else(|| Endpoint::guess(uid));
        tracing::debug!(%uid, endpoint = endpoint.path(), "endpoint found");
        Ok(self.endpoints.insert(uid, endpoint))
    }

    /// A list. With `locale`, the CMS may refuse the locale because the type is not localized
    /// (D19): then the list is requested again without.
    pub(super) async fn list(
        &self,
        resolved: &ResolvedEndpoint,
        locale: Option<&Locale>,
        query_string: impl Fn(Option<&Locale>) -> String,
    ) -> Result<ListReply, ContentError> {
        let path = resolved.endpoint.path();
        let mut is_localized = locale.is_some();
        let mut reply = self.client.list_page(path, &query_string(locale)).await?;
        if is_localized && refuses_locale(&reply) {
            is_localized = false;
            reply = self.client.list_page(path, &query_string(None)).await?;
        }
        let Some(body) = body(reply)? else {
            self.endpoints.remove(&resolved.uid);
            return Err(NO_ENDPOINT);
        };
        resolved.confirm();
        Ok(ListReply { body, is_localized })
    }

    /// The body of one version of a document or single type; `None` if there is no such version.
    pub(super) async fn version(
        &self,
        resolved: &ResolvedEndpoint,
        path: &str,
        locale: &Locale,
        query_string: impl Fn(Option<&Locale>) -> String,
    ) -> Result<Option<String>, ContentError> {
        let locale = resolved.is_localized().then_some(locale);
        let mut reply = self.client.document(path, &query_string(locale)).await?;
        if locale.is_some() && refuses_locale(&reply) {
            resolved.set_not_localized();
            reply = self.client.document(path, &query_string(None)).await?;
        }
        body(reply)
    }

    /// Checks that a 404 was about the document and not about a guessed endpoint.
    pub(super) async fn confirm(
        &self,
        query: &ContentQuery,
        resolved: &ResolvedEndpoint,
    ) -> Result<(), ContentError> {
        if !resolved.is_confirmed() {
            self.total(query, resolved).await?;
        }
        Ok(())
    }

    /// Sends a cheap request whose outcome only the breaker uses.
    pub(super) async fn probe(&self, query: &ContentQuery) {
        if let Ok(resolved) = self.resolve(&query.uid).await {
            let _ = self.total(query, &resolved).await;
        }
    }

    async fn total(
        &self,
        query: &ContentQuery,
        resolved: &ResolvedEndpoint,
    ) -> Result<ListReply, ContentError> {
        self.list(resolved, None, |locale| query_string::total(query, locale)).await
    }
}

fn refuses_locale(reply: &Reply) -> bool {
    matches!(reply, Reply::Refused(Refusal::InvalidKey(key)) if key == "locale")
}

/// The body; `None` for Strapi's own 404.
fn body(reply: Reply) -> Result<Option<String>, ContentError> {
    match reply {
        Reply::Json(json) => Ok(Some(json)),
        Reply::Refused(Refusal::NotFound) => Ok(None),
        Reply::Refused(Refusal::InvalidKey(_)) => Err(UNKNOWN_KEY),
        Reply::Denied => Err(DENIED),
    }
}
