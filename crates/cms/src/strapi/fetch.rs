//! Requests for the documents of one content type: resolves the endpoint, and falls back to a
//! request without a locale where the type is not localized.

mod refused;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Refusal, Reply};
use super::endpoint::{Endpoint, EndpointKind};
use super::endpoint_cache::ResolvedEndpoint;
use super::json::object;
use super::{Strapi, query_string};
use crate::{ContentError, ContentQuery, Outage, QueryPart, SetupProblem};
use frontend_map_rules::{ContentTypeUid, Locale};
use refused::{filtered, refused_key};

/// The response to a request for a list.
pub(super) struct ListReply {
    pub(super) body: String,
    /// Whether a locale was requested and accepted.
    pub(super) is_localized: bool,
}

impl Strapi {
    /// The endpoint, if it is known already.
    pub(super) fn known_endpoint(&self, uid: &ContentTypeUid) -> Option<Endpoint> {
        self.endpoints.get(uid).map(|resolved| resolved.endpoint.clone())
    }

    /// The endpoint: configured, else from the schema, else guessed.
    ///
    /// # Errors
    /// [`ContentError`] if the CMS does not respond: the next request would fail as well, after the
    /// deadline.
    pub(super) async fn resolve(
        &self,
        uid: &ContentTypeUid,
    ) -> Result<Arc<ResolvedEndpoint>, ContentError> {
        if let Some(endpoint) = self.endpoints.get(uid) {
            return Ok(endpoint);
        }
        let from_schema = match self.client.schema(&format!("content-types/{uid}")).await {
            Ok(Reply::Json(json)) => Endpoint::from_schema(&json, uid),
            Ok(Reply::Refused(_) | Reply::Unauthorized | Reply::Forbidden)
            | Err(ContentError::Unusable(_) | ContentError::Redirected(_)) => None,
            Err(error) => return Err(scoped_to_type(error, uid)),
        };
        let endpoint = from_schema.unwrap_or_else(|| Endpoint::guess(uid));
        tracing::debug!(%uid, endpoint = endpoint.path(), "endpoint found");
        Ok(self.endpoints.insert(uid, endpoint))
    }

    /// Uses this endpoint from now on.
    pub(super) fn assume(&self, uid: &ContentTypeUid, endpoint: Endpoint) -> Arc<ResolvedEndpoint> {
        self.endpoints.remove(uid);
        self.endpoints.insert(uid, endpoint)
    }

    /// Whether a type has one document or many, if a response or the settings have shown it.
    pub(super) fn known_kind(&self, uid: &ContentTypeUid) -> Option<EndpointKind> {
        self.endpoints.get(uid).map(|resolved| resolved.endpoint.kind())
    }

    /// The endpoint of a type, if a response has shown that it exists.
    pub(super) fn confirmed_endpoint(&self, uid: &ContentTypeUid) -> Option<Endpoint> {
        let resolved = self.endpoints.get(uid)?;
        let is_single = resolved.endpoint.kind() == EndpointKind::Single;
        (is_single || resolved.is_confirmed()).then(|| resolved.endpoint.clone())
    }

    /// A list. With `locale`, the CMS may refuse the locale because the type is not localized
    /// (D19): then the list is requested again without, and so are later ones for a while.
    pub(super) async fn list(
        &self,
        resolved: &ResolvedEndpoint,
        locale: Option<&Locale>,
        query_string: impl Fn(Option<&Locale>) -> String,
    ) -> Result<ListReply, ContentError> {
        let path = resolved.endpoint.path();
        let send = async |query: &str| {
            let reply = self.client.list_page(path, query).await;
            reply.map_err(|error| scoped_to_type(error, &resolved.uid))
        };
        let locale = locale.filter(|_| resolved.is_localized());
        let mut is_localized = locale.is_some();
        let mut query = query_string(locale);
        let mut reply = send(&query).await?;
        if is_localized && refuses_locale(&reply) {
            resolved.set_not_localized();
            is_localized = false;
            query = query_string(None);
            reply = send(&query).await?;
        }
        let body = match self.body(reply, resolved, &query) {
            Err(ContentError::Setup(problem)) => {
                return Err(refused::explained(self, resolved, &query, problem).await);
            }
            body => body?,
        };
        let Some(body) = body else {
            self.endpoints.remove(&resolved.uid);
            return Err(no_endpoint(resolved));
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
        let send = async |query: &str| {
            let reply = self.client.document(path, query).await;
            reply.map_err(|error| scoped_to_type(error, &resolved.uid))
        };
        let locale = resolved.is_localized().then_some(locale);
        let mut query = query_string(locale);
        let mut reply = send(&query).await?;
        if locale.is_some() && refuses_locale(&reply) {
            resolved.set_not_localized();
            query = query_string(None);
            reply = send(&query).await?;
        }
        self.body(reply, resolved, &query)
    }

    /// Whether to repeat the request: the guessed endpoint does not exist, but there is one for a
    /// single type, which is used from now on.
    pub(super) async fn adopt_single_type<T>(&self, result: &Result<T, ContentError>) -> bool {
        let Err(ContentError::Setup(SetupProblem::NoEndpoint { uid, endpoint, .. })) = result
        else {
            return false;
        };
        let single = Endpoint::guess_single(uid);
        // The endpoint that failed may also be configured, or from the schema.
        if *Endpoint::guess(uid).path() != **endpoint || self.endpoints.get(uid).is_some() {
            return false;
        }
        // A draft is requested, because there may be no published version yet.
        let reply = self.client.document(single.path(), "status=draft&fields[0]=documentId").await;
        // Strapi checks the token only where there is an endpoint.
        let exists = match reply {
            Ok(Reply::Json(json)) => single_document(&json),
            Ok(Reply::Unauthorized | Reply::Forbidden) => true,
            _ => false,
        };
        if exists {
            self.endpoints.insert(uid, single);
        }
        exists
    }

    /// Checks that a 404 was about the document and not about a guessed endpoint.
    pub(super) async fn confirm(
        &self,
        query: &ContentQuery,
        resolved: &ResolvedEndpoint,
    ) -> Result<(), ContentError> {
        if !resolved.is_confirmed() {
            self.first_row(query, resolved).await?;
        }
        Ok(())
    }

    /// Sends a cheap request whose outcome only the breaker uses.
    pub(crate) async fn probe(&self, query: &ContentQuery) {
        if let Ok(resolved) = self.resolve(&query.uid).await {
            let _ = self.first_row(query, &resolved).await;
        }
    }

    async fn first_row(
        &self,
        query: &ContentQuery,
        resolved: &ResolvedEndpoint,
    ) -> Result<ListReply, ContentError> {
        self.list(resolved, None, |locale| query_string::first_row(query, locale)).await
    }

    /// The body; `None` for Strapi's own 404.
    pub(super) fn body(
        &self,
        reply: Reply,
        resolved: &ResolvedEndpoint,
        query: &str,
    ) -> Result<Option<String>, ContentError> {
        let endpoint = || resolved.endpoint.path().into();
        let uid = || resolved.uid.clone();
        let problem = match reply {
            Reply::Json(json) => return Ok(Some(json)),
            Reply::Refused(Refusal::NotFound | Refusal::NoContentType) => return Ok(None),
            Reply::Refused(Refusal::InvalidKey(refused)) => refused_key(uid(), refused, query),
            Reply::Refused(Refusal::Invalid) => {
                SetupProblem::UnknownKey { uid: uid(), key: None, part: None }
            }
            Reply::Refused(Refusal::UnreadableFilter(path)) => match filtered(query, &path) {
                Some((path, is_relation)) => {
                    SetupProblem::AbsentKey { uid: uid(), path, is_relation, target: None }
                }
                None => SetupProblem::UnknownKey { uid: uid(), key: None, part: None },
            },
            Reply::Unauthorized => SetupProblem::TokenRefused { endpoint: endpoint() },
            Reply::Forbidden => {
                let has_token = self.client.has_token;
                SetupProblem::NotPermitted { endpoint: endpoint(), has_token }
            }
        };
        Err(problem.into())
    }
}

/// Whether a response has one document.
fn single_document(json: &str) -> bool {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    object(json).is_some_and(|response: Response<'_>| response.data.get().starts_with('{'))
}

/// The error for a 404 on an endpoint instead of on a document.
fn no_endpoint(resolved: &ResolvedEndpoint) -> ContentError {
    let (endpoint, uid) = (resolved.endpoint.path().into(), resolved.uid.clone());
    SetupProblem::NoEndpoint { endpoint, uid, is_configured: resolved.is_configured }.into()
}

/// This error, but a plain 500 as an error of this content type alone.
fn scoped_to_type(error: ContentError, uid: &ContentTypeUid) -> ContentError {
    match error {
        ContentError::Unavailable { retry_after, outage: Outage::Status(500) } => {
            ContentError::TypeFails { uid: uid.clone(), retry_after }
        }
        error => error,
    }
}

/// Whether the CMS refuses a locale because the type is not localized. A refusal about `populate`
/// concerns a type that a relation leads to.
fn refuses_locale(reply: &Reply) -> bool {
    let Reply::Refused(Refusal::InvalidKey(refused)) = reply else { return false };
    refused.key == "locale" && refused.part != Some(QueryPart::Populate)
}
