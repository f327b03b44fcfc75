//! The settings of a Strapi source, and why one cannot be set up.

use std::collections::HashMap;
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::endpoint::Endpoint;
use frontend_map_platform::http_client::BuildError;
use frontend_map_rules::ContentTypeUid;

/// The address of Strapi, and how requests to it are sent.
#[derive(Clone, Debug)]
pub struct StrapiSettings {
    /// The address without `/api`: `http` or `https`, with a host, without user information, query
    /// or fragment. The caller has checked that.
    pub url: Url,
    /// An API token with the permissions `find` and `findOne` on the content types of the rules.
    pub token: Option<SecretString>,
    /// The configured endpoints. The endpoint of any other content type is read from the CMS's
    /// schema, or guessed.
    pub endpoints: HashMap<ContentTypeUid, Endpoint>,
    /// The rows of a list that one request of a walk asks for. Strapi returns at most
    /// `api.rest.maxLimit` of them, 100 by default.
    pub page_size: usize,
    /// Timeouts and sizes.
    pub limits: StrapiLimits,
}

/// The limits of one request to the CMS (D28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrapiLimits {
    /// For a connection, name look-up and TLS included.
    pub connect: Duration,
    /// For one request with its whole response.
    pub request: Duration,
    /// For one page of a list, in bytes after decompression.
    pub page_bytes: usize,
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
