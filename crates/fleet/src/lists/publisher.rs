//! The task that publishes the latest copy of each list that this instance leads.

use std::time::{Duration, Instant};

use tokio::task::block_in_place;

use super::offers::Pauses;
use super::pointer::Position;
use super::publication::Publication;
use super::publish_script::Outcome;
use super::state::{Known, KnownVersion, ListState};
use super::{Lists, Offer, SharedListId};
use crate::redis::{self, Chunks};
use crate::{Fleet, Role};
use frontend_map_catalog::snapshot::Delta;

/// How often the leader extends the lifetimes of its published lists.
const EXTENSION: Duration = Duration::from_mins(30);
/// How long chunks stay that no pointer names any more: a follower may be reading them.
const REPLACED_TTL: Duration = Duration::from_mins(1);
/// How often a publication is tried without a pause.
const ATTEMPTS: usize = 3;

/// Why a copy is not published.
#[derive(Debug, thiserror::Error)]
enum NotPublished {
    /// This instance is not the leader: another one publishes, or will.
    #[error("this instance does not lead")]
    NotLeader,
    /// Other publications have come first, at each attempt.
    #[error("the version that is published keeps changing")]
    KeepsChanging,
    #[error(transparent)]
    Redis(#[from] redis::Error),
}

impl Lists {
    /// Offers the present copy of a list, which replaces an earlier offer. It is published if this
    /// instance leads, and dropped otherwise: a new leader offers what it has.
    pub fn offer(&self, list: SharedListId, offer: Offer) {
        self.offers.lock().put(list, offer);
        self.offered.notify_one();
    }

    /// Publishes the whole list again if this instance has published it, because another instance
    /// cannot use its base.
    pub(super) fn publish_base(&self, list: &SharedListId) {
        let state = self.state(list);
        let Some(offer) = state.published() else { return };
        state.want_base();
        self.offers.lock().put_older(list, offer);
        self.offered.notify_one();
    }

    /// Whether the last publication of a list by this instance has failed.
    #[must_use]
    pub fn is_unpublished(&self, list: &SharedListId) -> bool {
        self.state(list).is_unpublished()
    }

    /// Publishes the copies that are offered; runs for ever.
    pub async fn publish(&self, fleet: &Fleet) {
        let mut extended = Instant::now();
        loop {
            let next = self.offers.lock().take_due();
            if let Some((list, offer, pauses)) = next {
                self.publish_or_keep(fleet, list, offer, pauses).await;
            } else {
                let pause = self.offers.lock().pause().unwrap_or(EXTENSION).min(EXTENSION);
                let _ = tokio::time::timeout(pause, self.offered.notified()).await;
            }
            if extended.elapsed() >= EXTENSION {
                extended = Instant::now();
                self.extend_all(fleet).await;
            }
        }
    }

    async fn publish_or_keep(
        &self,
        fleet: &Fleet,
        list: SharedListId,
        offer: Offer,
        pauses: Pauses,
    ) {
        let key = &offer.key;
        let result = self.publish_one(fleet, &list, &offer).await;
        let state = self.state(&list);
        let error = match &result {
            Ok(()) | Err(NotPublished::NotLeader) => None,
            Err(error) => Some(error.to_string()),
        };
        state.set_unpublished(error.is_some());
        self.changes.set_unpublished(key, error);
        match result {
            Ok(()) => {}
            Err(NotPublished::NotLeader) => {
                state.set_published(None);
                tracing::debug!(site = key.site, uid = key.content_type, "another instance leads");
            }
            Err(error) => {
                let (site, uid) = (&key.site, &key.content_type);
                let is_brief = matches!(error, NotPublished::Redis(redis::Error::Unavailable));
                if is_brief {
                    // The heartbeat logs the outage of Redis.
                    tracing::debug!(site, uid, %error, "a list is not published yet");
                } else {
                    tracing::warn!(site, uid, %error, "a list could not be published; the publication is repeated");
                }
                self.offers.lock().put_back(list, offer, pauses, is_brief);
            }
        }
    }

    async fn publish_one(
        &self,
        fleet: &Fleet,
        list: &SharedListId,
        offer: &Offer,
    ) -> Result<(), NotPublished> {
        let state = self.state(list);
        let mut known = state.known.lock().await;
        for _ in 0..ATTEMPTS {
            let group = fleet.group_of(list).ok_or(NotPublished::NotLeader)?;
            let Role::Leader(epoch) = group.role() else { return Err(NotPublished::NotLeader) };
            let before = known.version.clone();
            // For an updated copy of the same walk, the time must not change by a millisecond.
            let same_walk = before.as_ref().filter(|one| one.list.begun == offer.list.begun);
            let walked_at = same_walk
                .map_or_else(|| self.server_time_of(offer.list.begun), |one| one.walked_at);
            let delta = match &before {
                None => None,
                Some(before) => {
                    let (one, other) = (&before.list.snapshot, &offer.list.snapshot);
                    block_in_place(|| Delta::between(one, other)).ok()
                }
            };
            let is_same = delta.as_ref().is_some_and(Delta::is_empty)
                && before.as_ref().is_some_and(|one| one.list.begun >= offer.list.begun);
            let wants_base = state.wants_base();
            if is_same && !wants_base {
                state.set_published(Some(offer.clone()));
                return Ok(());
            }
            let publication = Publication {
                list,
                group: &group,
                position: Position { epoch, version: known.next() },
                at: &known.at,
                before: before.as_ref(),
                offer,
                walked_at,
                delta: delta.map(|delta| block_in_place(|| delta.serialize())),
                wants_base,
            };
            match self.send(publication).await? {
                Ok(version) => {
                    let replaced = self.record(list, &state, &mut known, (offer, version));
                    self.expire(&replaced).await;
                    return Ok(());
                }
                Err(Outcome::OtherChanges | Outcome::Expired) => {}
                Err(Outcome::OtherVersion) => self.read_again(list, &mut known).await?,
                Err(_) => return Err(NotPublished::NotLeader),
            }
        }
        Err(NotPublished::KeepsChanging)
    }

    /// Records what is published now; returns the chunks that no pointer names any more.
    fn record(
        &self,
        list: &SharedListId,
        state: &ListState,
        known: &mut Known,
        (offer, version): (&Offer, KnownVersion),
    ) -> Vec<Chunks> {
        if version.base.position == version.position {
            state.has_new_base();
        }
        state.versions.published(version.position.version);
        state.set_published(Some(offer.clone()));
        let position = version.position.to_string();
        self.changes.settled(&offer.key, list.as_str(), position, &offer.list.snapshot);
        let mut replaced = std::mem::take(&mut known.replaced);
        let before = known.version.as_ref();
        if let Some(before) = before.filter(|before| before.base != version.base) {
            replaced.push(before.base.chunks.clone());
            replaced.extend(before.deltas.chunks.iter().cloned());
        }
        known.set(&version.position.to_string(), version);
        replaced
    }

    /// Reads the pointer again, because it has changed. The next attempt replaces the list as a
    /// whole, since this instance is the leader.
    async fn read_again(&self, list: &SharedListId, known: &mut Known) -> Result<(), NotPublished> {
        let found = self.find(list).await?;
        if let Some(pointer) = found.pointer {
            known.largest = known.largest.max(pointer.position.version);
            known.replaced.push(pointer.base.chunks);
        }
        known.forget(found.at);
        Ok(())
    }

    /// The time of this instant by Redis's clock, in ms since 1970.
    fn server_time_of(&self, instant: Instant) -> i64 {
        let age = i64::try_from(instant.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.redis.now_ms().saturating_sub(age)
    }

    async fn expire(&self, replaced: &[Chunks]) {
        for chunks in replaced {
            // Otherwise they expire later.
            let _ = self.redis.extend(chunks, REPLACED_TTL).await;
        }
    }

    /// Extends the lifetimes of the lists that this instance leads. Publishes a list again if a
    /// part of it is missing.
    async fn extend_all(&self, fleet: &Fleet) {
        self.states.lock().retain(|list, _| fleet.group_of(list).is_some());
        let states: Vec<_> =
            self.states.lock().iter().map(|(l, s)| (l.clone(), s.clone())).collect();
        for (list, state) in states {
            let leads = fleet.group_of(&list).map(|group| group.role());
            let Some(Role::Leader(_)) = leads else { continue };
            let version = state.known.lock().await.version.clone();
            let Some(version) = version else { continue };
            let offer = state.published();
            let key = offer.as_ref().map(|offer| &offer.key);
            if let Ok(false) = self.extend((&list, key), &version).await {
                tracing::warn!(
                    %list,
                    "a part of a published list is missing; the list is published again"
                );
                self.publish_base(&list);
            }
        }
    }
}
