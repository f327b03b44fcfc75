//! Why the CMS refuses what the settings ask for, and what to do about it.

use std::fmt;
use std::sync::Arc;

use frontend_map_rules::{AbsentKey, ContentTypeUid, FieldPath};

/// The token, the permissions or the content types of the CMS do not match the settings. Each text
/// says what to do; all names in it are from the settings or from our own requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupProblem {
    /// 401: the CMS does not accept the token.
    TokenRefused {
        /// The path of the endpoint below `/api`.
        endpoint: Arc<str>,
    },
    /// 403: the token may not read the content type.
    NotPermitted {
        /// The path of the endpoint below `/api`.
        endpoint: Arc<str>,
        /// Whether the request had a token.
        has_token: bool,
    },
    /// 404: there is no such endpoint.
    NoEndpoint {
        /// The path of the endpoint below `/api`.
        endpoint: Arc<str>,
        /// The content type.
        uid: ContentTypeUid,
        /// Whether the path is from `[[content_type]]`.
        is_configured: bool,
    },
    /// 400: the content type has no field or relation of this name.
    UnknownKey {
        /// The content type.
        uid: ContentTypeUid,
        /// The key, if it is one that the request named.
        key: Option<Arc<str>>,
        /// Where the query names it.
        part: Option<QueryPart>,
    },
    /// 400: the content type has this attribute, but the query cannot use it like this.
    UnusableKey {
        /// The content type.
        uid: ContentTypeUid,
        /// The key, which the request named.
        key: Arc<str>,
        /// Where the query names it.
        part: QueryPart,
    },
    /// The CMS is Strapi 4, whose documents have no `documentId`.
    Strapi4,
    /// A requested key is absent from a document (D32). `null` would be a value.
    AbsentKey {
        /// The content type of the document.
        uid: ContentTypeUid,
        /// The path up to the key.
        path: FieldPath,
        /// Whether the settings name a field behind it.
        is_relation: bool,
        /// The content type that the relation leads to, if the token may read the schema.
        target: Option<ContentTypeUid>,
    },
}

impl SetupProblem {
    /// A document of this type lacks this key, a relation to `target` as far as that is known.
    pub fn absent_key(
        uid: ContentTypeUid,
        key: &AbsentKey,
        target: Option<ContentTypeUid>,
    ) -> Self {
        Self::AbsentKey { uid, path: key.path(), is_relation: key.leads_on(), target }
    }
}

/// A part of a query to the CMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryPart {
    /// The fields of a document or of a related one.
    Fields,
    /// The relations and components.
    Populate,
}

impl fmt::Display for SetupProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TokenRefused { endpoint } => write!(
                f,
                "401 on /api/{endpoint}: the token is wrong or has expired; create an API token in Strapi and set it as FRONTEND_MAP__CMS__TOKEN or in cms.token_file"
            ),
            Self::NotPermitted { endpoint, has_token: true } => {
                write!(f, "403 on /api/{endpoint}: grant find and findOne to the token")
            }
            Self::NotPermitted { endpoint, has_token: false } => write!(
                f,
                "403 on /api/{endpoint}: no token is set; set FRONTEND_MAP__CMS__TOKEN or cms.token_file"
            ),
            Self::NoEndpoint { endpoint, uid, is_configured: false } => write!(
                f,
                "404 on /api/{endpoint}: write [[content_type]] uid = \"{uid}\" with the endpoint of the type"
            ),
            Self::NoEndpoint { endpoint, uid, is_configured: true } => write!(
                f,
                "404 on /api/{endpoint}: correct the endpoint in [[content_type]] uid = \"{uid}\", or give the type routes in Strapi"
            ),
            Self::UnknownKey { uid, key: Some(key), .. } => {
                write!(f, "400: {uid} has no field or relation `{key}`; correct the settings")
            }
            Self::UnknownKey { uid, key: None, .. } => {
                write!(
                    f,
                    "400: the CMS refuses the fields or relations of {uid} that the rules name; `frontend-map check` names them"
                )
            }
            Self::UnusableKey { uid, key, part: QueryPart::Fields } => write!(
                f,
                "400: `{key}` of {uid} is private, or a relation, a component, media or a dynamic zone: use another field, or a field of it"
            ),
            Self::UnusableKey { uid, key, part: QueryPart::Populate } if **key == *"locale" => {
                write!(
                    f,
                    "400: a rule of {uid} needs the `locale` of a related document, whose content type is not localized: use another field"
                )
            }
            Self::UnusableKey { uid, key, part: QueryPart::Populate } => write!(
                f,
                "400: `{key}` of {uid} is private, or is neither a relation nor a component: a path cannot lead through it"
            ),
            Self::Strapi4 => f.write_str(
                "it is Strapi 4: upgrade it to Strapi 5, whose documents have a documentId",
            ),
            Self::AbsentKey { uid, path, is_relation: true, target: None } => write!(
                f,
                "the token may not read the relation `{path}` of {uid}: grant find on the content type that it leads to"
            ),
            Self::AbsentKey { uid, path, is_relation: true, target: Some(target) } => write!(
                f,
                "the token may not read the relation `{path}` of {uid}: grant find on {target} to the token"
            ),
            Self::AbsentKey { uid, path, is_relation: false, .. } => {
                write!(f, "the field `{path}` of {uid} is private, or the token may not read it")
            }
        }
    }
}
