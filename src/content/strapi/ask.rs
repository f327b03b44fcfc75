//! Asking for a content type: where it lives, and whether it knows locales.

use std::sync::Arc;

use super::answer::Reply;
use super::endpoint::Endpoint;
use super::place::Place;
use super::refusal::Refusal;
use super::{Strapi, query};
use crate::content::{ContentError, ContentQuery};
use crate::rules::{ContentTypeUid, Locale};

/// What is said about answers that mean a wrong set-up.
const DENIED: ContentError =
    ContentError::Unusable("401 or 403: the token is missing, wrong or may not read this type");
const NO_ENDPOINT: ContentError = ContentError::Unusable(
    "404: no such endpoint; does the type have routes, or another endpoint?",
);
const UNKNOWN_KEY: ContentError =
    ContentError::Unusable("400: the type lacks a field or relation that the rules name");

impl Strapi {
    /// The endpoint as configured, else as the schema says, else as guessed.
    ///
    /// # Errors
    /// A CMS that cannot be asked: going on would only fail once more, and too late.
    pub(super) async fn place(&self, uid: &ContentTypeUid) -> Result<Arc<Place>, ContentError> {
        if let Some(place) = self.places.get(uid) {
            return Ok(place);
        }
        let path = format!("content-type-builder/content-types/{uid}");
        let told = match self.client.once(&path).await {
            Ok(Reply::Json(json)) => Endpoint::from_schema(&json, uid),
            Ok(Reply::Refused(_) | Reply::Denied) | Err(ContentError::Unusable(_)) => None,
            Err(error) => return Err(error),
        };
        let endpoint = told.unwrap_or_else(|| Endpoint::guess(uid));
        tracing::debug!(%uid, endpoint = endpoint.path(), "endpoint found");
        Ok(self.places.learn(uid, endpoint))
    }

    /// The body of a list, and whether the type is localised. With `locale`, the answer may be
    /// that it is not (D19): then the list is asked for again without.
    pub(super) async fn list(
        &self,
        (uid, place): (&ContentTypeUid, &Place),
        locale: Option<&Locale>,
        query: impl Fn(Option<&Locale>) -> String,
    ) -> Result<(String, bool), ContentError> {
        let path = place.endpoint.path();
        let mut localised = locale.is_some();
        let mut reply = self.client.page(path, &query(locale)).await?;
        if localised && refuses_locale(&reply) {
            localised = false;
            reply = self.client.page(path, &query(None)).await?;
        }
        let body = json(reply)?.ok_or(NO_ENDPOINT);
        if body.is_ok() {
            place.confirm();
        } else {
            self.places.forget(uid);
        }
        Ok((body?, localised))
    }

    /// The body of one version of a document or single type; `None` if there is none.
    pub(super) async fn version(
        &self,
        place: &Place,
        path: &str,
        locale: &Locale,
        query: impl Fn(Option<&Locale>) -> String,
    ) -> Result<Option<String>, ContentError> {
        let locale = place.is_localised().then_some(locale);
        let mut reply = self.client.document(path, &query(locale)).await?;
        if locale.is_some() && refuses_locale(&reply) {
            place.set_not_localised();
            reply = self.client.document(path, &query(None)).await?;
        }
        json(reply)
    }

    /// Makes sure that a 404 was about the document and not about a guessed endpoint.
    pub(super) async fn check_endpoint(
        &self,
        ask: &ContentQuery,
        place: &Place,
    ) -> Result<(), ContentError> {
        if !place.is_sure() {
            self.list((&ask.uid, place), None, |locale| query::total(ask, locale)).await?;
        }
        Ok(())
    }
}

fn refuses_locale(reply: &Reply) -> bool {
    matches!(reply, Reply::Refused(Refusal::Key(key)) if key == "locale")
}

/// The body; `None` for Strapi's own 404.
fn json(reply: Reply) -> Result<Option<String>, ContentError> {
    match reply {
        Reply::Json(json) => Ok(Some(json)),
        Reply::Refused(Refusal::NotFound) => Ok(None),
        Reply::Refused(Refusal::Key(_)) => Err(UNKNOWN_KEY),
        Reply::Denied => Err(DENIED),
    }
}
