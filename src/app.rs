//! What all requests share: the sites, where documents come from, the validator.

mod documents;
mod files;
mod lasting;
mod snapshots;
mod validations;

use std::collections::HashMap;
use std::sync::Arc;

use axum::http::HeaderValue;
use secrecy::SecretString;

pub use self::documents::Found;
pub use self::files::Files;
pub use self::lasting::Lasting;
pub use self::snapshots::{Freshness, Hint, How, Index, Kept, Served};
pub use self::validations::{Asker, Broken, Busy, Run, ValidationTimes};

use self::documents::Documents;
use self::files::Texts;
use self::snapshots::Snapshots;
use self::validations::Validations;
use crate::config::{Auth, Cms, Config, Limits};
use crate::content::{Ask, Content, Health, Projection, Strapi, StrapiError};
use crate::outgoing::BuildError;
use crate::rules::ContentTypeUid;
use crate::site::{Site, Sites};
use crate::validator::Validator;

/// The service without its sockets.
pub struct App {
    /// The sites with their rules.
    pub sites: Sites,
    /// Checks public URLs.
    pub validator: Validator,
    /// The origins of the browsers that may ask.
    pub cors_origins: Vec<HeaderValue>,
    /// What caches may do with answers.
    pub caching: Caching,
    /// Whether each request gets a line in the log.
    pub access_log: bool,
    /// What a hint that content has changed has to carry; without it there are no hints.
    pub hook_secret: Option<SecretString>,
    /// What callers have to carry for what is not for everybody.
    pub auth: Auth,
    content: Content,
    /// What to ask of the CMS for one document, by site and content type.
    asks: HashMap<String, HashMap<String, Ask>>,
    /// The public URLs of all content types.
    snapshots: Snapshots,
    /// The texts of sitemap files.
    texts: Texts,
    /// The runs of URL checks.
    validations: Validations,
    /// The last good answers of the CMS about single documents.
    documents: Documents,
    limits: Limits,
    lasting: Arc<Lasting>,
}

/// `Cache-Control` of answers that do not depend on the CMS.
#[derive(Clone, Debug)]
pub struct Caching {
    /// Of a pathname that resolves.
    pub resolve: HeaderValue,
    /// Of one that does not: short, because a new rule may make it one that does.
    pub resolve_miss: HeaderValue,
    /// Of lists of URLs.
    pub sitemap: HeaderValue,
}

/// Why the service cannot be set up although its settings are fine.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The client of the CMS.
    #[error(transparent)]
    Strapi(#[from] StrapiError),
    /// The client of the validator.
    #[error(transparent)]
    Validator(#[from] BuildError),
}

impl App {
    /// The service that these settings describe. Nothing is asked of the CMS yet.
    ///
    /// # Errors
    /// [`SetUpError`] when an HTTP client cannot be built.
    pub fn build(config: Config) -> Result<Self, SetUpError> {
        Self::build_with(config, Arc::default())
    }

    /// The same in a process that goes on when the settings change.
    ///
    /// # Errors
    /// As [`App::build`].
    pub fn build_with(config: Config, lasting: Arc<Lasting>) -> Result<Self, SetUpError> {
        let content = match config.cms {
            Cms::Strapi(settings) => {
                Content::Strapi(Box::new(Strapi::new(settings, Arc::clone(&lasting.metrics))?))
            }
            Cms::Files(files) => Content::Files(files),
        };
        let changes = content.changes();
        let freshness = if changes { config.freshness } else { config.freshness.for_ever() };
        let asks = config.sites.iter().map(|site| (site.key.clone(), asks(site))).collect();
        let validator = Validator::new()?;
        Ok(Self {
            validations: Validations::new(validator.clone(), config.validation),
            snapshots: Snapshots::new(&config.sites, freshness),
            texts: Texts::new(&config.sites),
            documents: Documents::new(config.limits.last_good),
            sites: config.sites,
            validator,
            cors_origins: origins(&config.server.cors_origins),
            caching: Caching {
                resolve: fixed(config.server.cache_control),
                resolve_miss: fixed(config.server.cache_control_404),
                sitemap: header_value(&config.server.cache_control_sitemap),
            },
            access_log: config.log.access,
            hook_secret: config.hook_secret,
            auth: config.auth,
            content,
            asks,
            limits: config.limits,
            lasting,
        })
    }

    /// What outlives this app.
    #[must_use]
    pub fn lasting(&self) -> &Arc<Lasting> {
        &self.lasting
    }

    /// Whether the CMS is asked at the moment; `None`: there is none.
    #[must_use]
    pub fn cms_health(&self) -> Option<Health> {
        self.content.health()
    }

    fn ask(&self, site: &Site, uid: &str) -> Option<&Ask> {
        self.asks.get(&site.key)?.get(uid)
    }
}

/// Checked settings are visible ASCII, so each of them is a header value.
fn header_value(checked: &str) -> HeaderValue {
    HeaderValue::try_from(checked).unwrap_or(HeaderValue::from_static(""))
}

/// The same for the life of the process: no count of references that each answer would change, and
/// all cores would hand to each other.
fn fixed(checked: String) -> HeaderValue {
    HeaderValue::from_static(checked.leak())
}

fn origins(checked: &[String]) -> Vec<HeaderValue> {
    checked.iter().map(|origin| header_value(origin)).collect()
}

fn asks(site: &Site) -> HashMap<String, Ask> {
    let ask = |uid: &ContentTypeUid| {
        let projection = Projection::new(site.rules.fields(uid.as_str()));
        let alternatives = site.rules.alternatives(uid.as_str());
        (uid.to_string(), Ask { uid: uid.clone(), projection, alternatives })
    };
    site.rules.content_types().into_iter().map(ask).collect()
}
