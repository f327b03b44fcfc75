//! What all requests share: the sites, where documents come from, the validator.

mod caching;
mod documents;
mod files;
mod lasting;
mod snapshots;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use secrecy::SecretString;

pub use self::caching::Caching;
pub use self::documents::Found;
pub use self::files::Files;
pub use self::lasting::Lasting;
pub use self::snapshots::{Freshness, Hint, How, Index, Kept, Served, TypeState};

use self::files::Frames;
use self::snapshots::Snapshots;
use crate::config::{Auth, Cms, Config, Fingerprint, Limits};
use crate::content::{BreakerState, Content, ContentQuery, Projection, Strapi, StrapiError};
use crate::outgoing::BuildError;
use crate::rules::ContentTypeUid;
use crate::site::{Site, Sites};
use crate::validator::runs::{RunKey, RunTimes, Subscription, TooManyRuns};
use crate::validator::{Targets, Validator};

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
    /// How long after SIGTERM connections are still accepted.
    pub drain_delay: Duration,
    content: Arc<Content>,
    /// How many clients of the CMS there were before, in this process.
    client: u64,
    /// What to ask of the CMS for one document, by site and content type.
    asks: HashMap<String, HashMap<String, ContentQuery>>,
    /// The public URLs of all content types.
    snapshots: Snapshots,
    /// What all sitemap files of a site have in common.
    frames: Frames,
    /// How long runs of URL checks take.
    validation: RunTimes,
    fingerprint: Fingerprint,
    limits: Limits,
    lasting: Arc<Lasting>,
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
        let lasting = Arc::new(Lasting::new(config.limits.cms_requests)?);
        Self::build_with(config, lasting, None)
    }

    /// The same in a process that goes on when the settings change: what `previous` knows is kept
    /// wherever it does not depend on a setting that has changed.
    ///
    /// # Errors
    /// As [`App::build`].
    pub fn build_with(
        config: Config,
        lasting: Arc<Lasting>,
        previous: Option<&Self>,
    ) -> Result<Self, SetUpError> {
        let fingerprint = config.fingerprint;
        let same_client =
            previous.filter(|previous| previous.fingerprint.client == fingerprint.client);
        let content = match same_client {
            Some(previous) => Arc::clone(&previous.content),
            None => Arc::new(content(config.cms, &lasting)?),
        };
        let earlier = |previous: &Self| previous.client + u64::from(same_client.is_none());
        let client = previous.map_or(0, earlier);
        let changes = content.may_change();
        let freshness = if changes { config.freshness } else { config.freshness.for_ever() };
        let asks = config.sites.iter().map(|site| (site.key.clone(), asks(site))).collect();
        let kept = |site: &Site| {
            let same = |app: &&Self| app.fingerprint.site(&site.key) == fingerprint.site(&site.key);
            previous.filter(same).map(|previous| &previous.snapshots)
        };
        Ok(Self {
            snapshots: Snapshots::new(&config.sites, freshness, kept),
            frames: Frames::new(&config.sites),
            validation: config.validation,
            drain_delay: config.server.drain_delay,
            cors_origins: origins(&config.server.cors_origins),
            caching: Caching::new(&config.server),
            sites: config.sites,
            validator: lasting.validator.clone(),
            access_log: config.log.access,
            hook_secret: config.webhook_secret,
            auth: config.auth,
            content,
            client,
            asks,
            fingerprint,
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
    pub fn cms_health(&self) -> Option<BreakerState> {
        self.content.breaker_state()
    }

    /// Whether one of the sites is another one than there.
    #[must_use]
    pub fn has_other_sites_than(&self, previous: &Self) -> bool {
        !self.fingerprint.has_same_sites(&previous.fingerprint)
    }

    /// Equal for sites with equal settings and documents from the same place: what is kept by it
    /// is never found again after a change.
    fn mark(&self, site: &str) -> u128 {
        self.fingerprint.site(site).unwrap_or_default()
    }

    /// How many requests may be under way.
    #[must_use]
    pub fn most_requests(&self) -> usize {
        self.limits.requests
    }

    /// Subscribes to the run of URL checks over these targets, or starts one.
    ///
    /// # Errors
    /// [`TooManyRuns`] when a new run would be needed and the queue of runs is full.
    pub fn validate(&self, targets: Targets) -> Result<Subscription, TooManyRuns> {
        let (site, content_type) = (self.mark(&targets.site), targets.content_type.clone());
        let key = RunKey { site, content_type };
        self.lasting.runs.subscribe(key, targets, self.validation)
    }

    fn ask(&self, site: &Site, uid: &str) -> Option<&ContentQuery> {
        self.asks.get(&site.key)?.get(uid)
    }
}

/// Checked settings are visible ASCII, so each of them is a header value.
fn header_value(checked: &str) -> HeaderValue {
    HeaderValue::try_from(checked).unwrap_or(HeaderValue::from_static(""))
}

fn content(cms: Cms, lasting: &Lasting) -> Result<Content, StrapiError> {
    Ok(match cms {
        Cms::Strapi(settings) => {
            let metrics = Arc::clone(&lasting.metrics);
            Content::Strapi(Box::new(Strapi::new(settings, metrics, &lasting.limiters)?))
        }
        Cms::Files(file) => Content::File(file),
    })
}

fn origins(checked: &[String]) -> Vec<HeaderValue> {
    checked.iter().map(|origin| header_value(origin)).collect()
}

fn asks(site: &Site) -> HashMap<String, ContentQuery> {
    let ask = |uid: &ContentTypeUid| {
        let projection = Projection::new(site.rules.fields(uid.as_str()));
        let alternatives = site.rules.alternatives(uid.as_str());
        (uid.to_string(), ContentQuery { uid: uid.clone(), projection, alternatives })
    };
    site.rules.content_types().into_iter().map(ask).collect()
}
