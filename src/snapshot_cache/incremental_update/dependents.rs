//! Updates the documents of a content type that read changed documents through a relation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::failure::recover;
use super::from_copies::Left;
use super::patching::Reading;
use super::plan::{self, RelationList, referring, relations};
use super::reading::{all_versions, is_in, list_dependents, max_versions, read_by_id};
use super::type_updates::TypeUpdates;
use super::{NotUpdated, Updated, from_copies, lacking};
use crate::rules::Document;
use crate::snapshot::Patch;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::{Hint, Invalidation};
use crate::snapshot_cache::refresh::TypeGroup;

/// From a change to the time from which its follow-up read makes way for no other change, so that
/// continuous edits delay it no longer.
const LATEST_FOLLOW_UP: Duration = Duration::from_mins(1);

/// One round. Follow-up reads come last: one that is in progress ends when there is another change of
/// a document that the type may read, and is repeated later.
pub(super) async fn run_round(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    hints: Vec<Hint>,
) {
    let queue = &updates.dependents;
    let (follow_ups, hints): (Vec<Hint>, Vec<Hint>) =
        hints.into_iter().partition(|hint| hint.is_follow_up);
    let has_change = hints.iter().any(|hint| may_be_read(cache, group, hint));
    if !hints.is_empty() {
        update(cache, group, updates, hints).await;
    }
    if follow_ups.iter().any(|hint| hint.at.elapsed() >= LATEST_FOLLOW_UP) {
        return update(cache, group, updates, follow_ups).await;
    }
    if has_change || follow_ups.is_empty() {
        return queue.schedule_follow_up(follow_ups);
    }
    tokio::select! {
        biased;
        () = queue.has_new(|hint| may_be_read(cache, group, hint)) => queue.schedule_follow_up(follow_ups),
        () = update(cache, group, updates, follow_ups.clone()) => {}
    }
    queue.look_again();
}

/// One round: what the copies can be updated with, then the lists of the other dependents, each put
/// into the copies as soon as it is read, and then the dependents that the copies know and no list
/// has.
///
/// A list that fails does not affect the hints of others.
pub(super) async fn update(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    hints: Vec<Hint>,
) {
    let hints = lacking(group, hints);
    if hints.is_empty() {
        return;
    }
    keep_hints(group, &hints);
    // While a list is read, the circuit breaker may open.
    let _waiting = cache.triggers.wait_for_cms();
    learn_targets(cache, group).await;
    let mut progress = Updated::default();
    let left = from_copies::update(cache, group, updates, &hints, &mut progress).await;
    let page = cache.content.page_size();
    let lists = plan::lists(group, &hints, &left, &mut cache.triggers.targets.lock(), page);
    let mut empty: Vec<&RelationList<'_>> = Vec::new();
    let mut failed: BTreeSet<usize> = BTreeSet::new();
    for (at, left) in left.into_iter().enumerate() {
        if let Left::Failed(reason) = left {
            failed.insert(at);
            recover(cache, group, &updates.dependents, reason, [hints[at].clone()]);
        }
    }
    for list in &lists {
        // Without children there are no grandchildren.
        if empty.iter().any(|shorter| is_level_above(group, shorter, list)) {
            empty.push(list);
            continue;
        }
        match update_listed(cache, group, list, &mut progress).await {
            Ok(true) => {}
            Ok(false) => empty.push(list),
            Err(reason) => {
                let own = |hint: &Hint| list.hints.iter().any(|own| std::ptr::eq(*own, hint));
                let new: Vec<usize> =
                    (0..hints.len()).filter(|at| own(&hints[*at]) && failed.insert(*at)).collect();
                let retried = new.into_iter().map(|at| hints[at].clone());
                recover(cache, group, &updates.dependents, reason, retried);
            }
        }
    }
    let done = (0..hints.len()).filter(|at| !failed.contains(at)).map(|at| &hints[at]);
    let done: Vec<&Hint> = done.filter(|hint| may_be_read(cache, group, hint)).collect();
    if !done.is_empty() {
        // Documents that were read before these changes were known are in the copies from here on.
        drop(updates.named_round.lock().await);
        update_unlisted(cache, group, updates, &done, &progress).await;
    }
}

/// Whether a relation may lead to the changed document.
fn may_be_read(cache: &SnapshotCache, group: &TypeGroup, hint: &Hint) -> bool {
    let (uid, targets) = (&group.query.uid, cache.triggers.targets.lock());
    let target = &*hint.invalidation.uid;
    relations(group).iter().any(|relation| !targets.leads_elsewhere(uid, relation, target))
}

/// For a refresh in flight, which may have read dependents that the copies do not know.
fn keep_hints(group: &TypeGroup, hints: &[Hint]) {
    let since = Instant::now();
    let changed: Vec<&Invalidation> = hints.iter().map(|hint| &*hint.invalidation).collect();
    group.members.iter().for_each(|(_, entry)| entry.keep_hints(since, &changed));
}

/// Learns from the schema where the relations of a type lead, if the token may read it.
async fn learn_targets(cache: &SnapshotCache, group: &TypeGroup) {
    let (uid, targets) = (&group.query.uid, &cache.triggers.targets);
    for relation in relations(group) {
        let is_known = targets.lock().is_known(uid, &relation);
        if is_known {
            continue;
        }
        if let Some(target) = cache.content.target(uid, &relation).await {
            targets.lock().leads(uid, &relation, target.as_str());
        }
    }
}

/// Updates the dependents of one list. Returns whether there are any.
async fn update_listed(
    cache: &SnapshotCache,
    group: &TypeGroup,
    list: &RelationList<'_>,
    progress: &mut Updated,
) -> Result<bool, NotUpdated> {
    let reading = Reading::begin(group);
    let versions = list_dependents(cache, group, list).await?;
    let mut by_id: BTreeMap<String, Vec<Document<'static>>> = BTreeMap::new();
    for version in versions {
        let own = by_id.entry(version.id.clone().into_owned()).or_default();
        own.retain(|other| other.locale != version.locale);
        own.push(version);
    }
    for (id, versions) in &by_id {
        let locales = versions.iter().map(|version| version.locale.clone());
        progress.listed.entry(id.clone()).or_default().extend(locales);
    }
    let patch = |(id, versions)| Patch { id, versions, is_partial: true };
    let patches: Vec<Patch> = by_id.into_iter().map(patch).collect();
    reading.apply(&patches).await?;
    Ok(!patches.is_empty())
}

/// Updates the versions that read a changed document as the copies know them, and that are in no
/// list: they have lost the relation.
async fn update_unlisted(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    hints: &[&Hint],
    progress: &Updated,
) {
    let unlisted = |hint: &&Hint| -> Vec<String> {
        let id = hint.invalidation.document_id.as_str();
        let of_hint = [Some(&progress.listed), progress.from_copies.get(id)];
        let is_updated = |id: &String, locale: &String| {
            let mut own = of_hint.iter().flatten().filter_map(|listed| listed.get(id)).flatten();
            own.any(|own| is_in(own, locale))
        };
        let known = referring(group, id).into_iter();
        let unlisted =
            known.filter(|(id, locales)| !locales.iter().all(|locale| is_updated(id, locale)));
        unlisted.map(|(id, _)| id).collect()
    };
    let of_hints = hints.iter().map(|hint| (*hint, unlisted(hint)));
    let of_hints: Vec<(&Hint, Vec<String>)> = of_hints.filter(|(_, ids)| !ids.is_empty()).collect();
    let ids: BTreeSet<&str> = of_hints.iter().flat_map(|(_, ids)| ids).map(|id| &**id).collect();
    let versions = |ids: usize| ids * group.locales.len();
    let most = of_hints.iter().map(|(_, ids)| versions(ids.len())).max().unwrap_or(0);
    if most > max_versions(group) || versions(ids.len()) > all_versions(group) {
        let hints = of_hints.iter().map(|(hint, _)| (*hint).clone());
        return recover(cache, group, &updates.dependents, NotUpdated::NeedsWalk, hints);
    }
    let reading = Reading::begin(group);
    let (patches, result) = read_by_id(cache, group, &ids).await;
    let applied = reading.apply(&patches).await;
    let read: BTreeSet<&str> = patches.iter().map(|patch| &*patch.id).collect();
    let is_read = |ids: &Vec<String>| ids.iter().all(|id| read.contains(&**id));
    if let Err(reason) = applied.and(result) {
        let retried = of_hints.iter().filter(|(_, ids)| !is_read(ids));
        let retried = retried.map(|(hint, _)| (*hint).clone());
        recover(cache, group, &updates.dependents, reason, retried);
    }
}

/// Whether `above` lists the level of a page tree above that of `list`, for the same documents.
fn is_level_above(group: &TypeGroup, above: &RelationList<'_>, list: &RelationList<'_>) -> bool {
    let (short, long) = (above.relation.segments(), list.relation.segments());
    above.target == list.target
        && list.target == group.query.uid.as_str()
        && long.len() == short.len() + 1
        && long.iter().all(|name| *name == short[0])
        && short.iter().all(|name| *name == short[0])
        && list.hints.iter().all(|own| above.hints.iter().any(|hint| std::ptr::eq(*own, *hint)))
}
