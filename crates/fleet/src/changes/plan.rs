//! Decides from the log in Redis what a publication does to it.

use std::sync::Arc;
use std::time::Duration;

use super::SharedChanges;
use super::fields::{self, BaseValue, LAST, LOG, LastValue, LogValue, base_field};
use crate::redis;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_store::SnapshotKey;

/// The time limit of a read of the head of a log.
const READ_WITHIN: Duration = Duration::from_secs(2);

/// A version of a snapshot that is to be published.
#[derive(Clone, Debug)]
pub struct SnapshotReplacement {
    /// What it is a snapshot of.
    pub key: SnapshotKey,
    /// What decides the content of the site whose snapshot it is.
    pub content: u128,
    /// The id of the snapshot.
    pub list: String,
    /// The key of the lease of the snapshot's group, with Redis's prefix.
    pub lease_key: String,
    /// The position and the snapshot of the version that is published now; `None`: there is none,
    /// or it cannot be used.
    pub before: Option<(String, Arc<Snapshot>)>,
    /// The position of the version, which no other version of the snapshot has.
    pub position: String,
    /// The snapshot of the version.
    pub after: Arc<Snapshot>,
}

/// The sealed fields of the head of a log before a publication.
pub(super) struct Known {
    pub(super) log: Option<Vec<u8>>,
    pub(super) last: Option<Vec<u8>>,
    pub(super) base: Option<Vec<u8>>,
}

/// What a publication does to the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Nothing: the log belongs to a group with other settings, of which an instance still runs.
    Nothing,
    /// The changes since this snapshot are appended after the change `last`.
    Append { log: u64, last: u64, since: Since },
    /// The log cannot be continued, for this reason: it begins again, and readers get a reset.
    Restart(&'static str),
}

/// The snapshot with which the new one is compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// The version that is published now.
    Published,
    /// No pages: the content type is new.
    NoPages,
    /// The new snapshot itself, which makes no changes: its pages were there before.
    Itself,
}

impl SharedChanges {
    pub(super) async fn known(&self, version: &SnapshotReplacement) -> Result<Known, redis::Error> {
        let [log_key, _] = self.keys(&version.key.site);
        let base = base_field(&version.key.content_type);
        let names = [LOG, LAST, &base];
        let [log, last, base] =
            self.redis.fields(&log_key, names, fields::MAX_BYTES, READ_WITHIN).await?;
        Ok(Known { log, last, base })
    }

    /// Whether an instance has this lease: a group with other settings is in use then.
    pub(super) async fn is_held(&self, lease_key: &str) -> Result<bool, redis::Error> {
        let mut command = ::redis::cmd("EXISTS");
        command.arg(lease_key);
        self.redis.command(&command, READ_WITHIN).await
    }

    pub(super) async fn plan(
        &self,
        version: &SnapshotReplacement,
        known: &Known,
    ) -> Result<Plan, redis::Error> {
        let (site, uid) = (&version.key.site, &version.key.content_type);
        if self.content_of(site) != version.content {
            // A snapshot from before a reload of the settings.
            return Ok(Plan::Nothing);
        }
        let Some(sealed) = &known.log else { return Ok(Plan::Restart(self.why_missing(site))) };
        let Some(log) = fields::open::<LogValue>(&self.redis, site, LOG, sealed) else {
            return Ok(Plan::Restart("its head is damaged"));
        };
        let last = known.last.as_ref();
        let last = last.and_then(|sealed| fields::open(&self.redis, site, LAST, sealed));
        let Some(LastValue { last, .. }) = last.filter(|last: &LastValue| last.log == log.log)
        else {
            return Ok(Plan::Restart("its end is damaged"));
        };
        if self.has_lost_changes(site, log.log, last) {
            return Ok(Plan::Restart("Redis has lost changes"));
        }
        let Some(sealed) = &known.base else {
            let since = match &version.before {
                Some(_) => Since::Published,
                None if log.types.contains(uid) => Since::Itself,
                None => Since::NoPages,
            };
            return Ok(Plan::Append { log: log.log, last, since });
        };
        let base = fields::open(&self.redis, site, &base_field(uid), sealed);
        let Some(base) = base.filter(|base: &BaseValue| base.log == log.log) else {
            return Ok(Plan::Restart("its base is damaged"));
        };
        if base.list != version.list {
            let is_held = self.is_held(&base.lease).await?;
            let changed = Plan::Restart("the settings have changed");
            return Ok(if is_held { Plan::Nothing } else { changed });
        }
        let is_published = version.before.as_ref().is_some_and(|(at, _)| *at == base.position);
        if !is_published {
            return Ok(Plan::Restart("it goes on from another version"));
        }
        Ok(Plan::Append { log: log.log, last, since: Since::Published })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::content_of;
    use crate::redis::{self, RedisUrl};
    use frontend_map_catalog::site::{ResolveBy, Site, SitePages};
    use frontend_map_rules::{Locale, LocalePrefix, Locales, RuleSet};

    #[expect(clippy::default_trait_access, reason = "this module may not name `Hosts`")]
    fn site() -> Site {
        let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
        Site {
            key: "main".to_owned(),
            rules: RuleSet::new(locales, LocalePrefix::Always, Vec::new()),
            hosts: Default::default(),
            resolve: ResolveBy::Documents,
            sitemap_path: String::new(),
            pages: SitePages::new(Snapshot::default()),
            fingerprint: 0,
            source: 0,
        }
    }

    fn version(site: &Site, content: u128) -> SnapshotReplacement {
        SnapshotReplacement {
            key: SnapshotKey::of(site, "a"),
            content,
            list: String::new(),
            lease_key: String::new(),
            before: None,
            position: String::new(),
            after: Arc::default(),
        }
    }

    #[tokio::test]
    async fn list_from_before_a_reload_of_the_base_url_does_not_begin_the_new_log() {
        // Nothing listens there: the plan needs no answer.
        let url = RedisUrl::parse("redis://127.0.0.1:1").unwrap();
        let redis = redis::Client::start(&redis::Settings::new(url, "p"), Arc::default());
        let changes = SharedChanges::new(redis, Arc::default());
        let (site, present) = (site(), content_of(&site()));
        changes.set_site(&site, &[]);
        let known = Known { log: None, last: None, base: None };
        let plan = changes.plan(&version(&site, present ^ 1), &known).await.unwrap();
        assert_eq!(plan, Plan::Nothing);
        let plan = changes.plan(&version(&site, present), &known).await.unwrap();
        assert!(matches!(plan, Plan::Restart(_)), "{plan:?}");
    }
}
