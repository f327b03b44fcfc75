//! The walks of a refresh: one for all sites that list a content type.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::member_parts::MemberParts;
use super::type_group::{Member, TypeGroup};
use frontend_map_catalog::snapshot::{NoSnapshot, Part, Snapshot};
use frontend_map_cms::{Content, ContentError, WalkRequest};
use frontend_map_platform::traces;
use frontend_map_rules::{ContentTypeUid, Locale};

/// A snapshot of one site, without the incremental updates since its walk began.
pub(super) struct Fresh {
    pub(super) begun: Instant,
    pub(super) snapshot: Snapshot,
}

/// The outcome for one site.
pub(super) type Found = Result<Fresh, ContentError>;

/// What a walk has found.
struct Walked<'g> {
    begun: Instant,
    /// The parts of each member.
    parts: Vec<Vec<Part<'g>>>,
}

/// Walks once for all members of a group; the outcomes are in their order.
///
/// If the responses are unusable or a plain 500, members that need different fields, conditions or locales
/// are walked by themselves: a field that only one site needs must not affect the others.
pub(super) async fn walk(group: &TypeGroup) -> Vec<Found> {
    let alike = group.alike();
    if alike.len() == 1 || group.may_change() {
        let walked = walk_traced(group).await;
        let affects_others = match &walked {
            Ok(_) => false,
            Err(
                ContentError::Unusable(_) | ContentError::Redirected(_) | ContentError::Setup(_),
            ) => true,
            Err(error) => matches!(error, ContentError::TypeFails { .. }),
        };
        if alike.len() == 1 || !affects_others {
            return finish(group, walked).await;
        }
    }
    let mut found: Vec<Option<Found>> = group.members.iter().map(|_| None).collect();
    for members in alike {
        let own = TypeGroup::new(members.iter().map(|at| group.members[*at].clone()).collect());
        for (at, own) in members.into_iter().zip(finish(&own, walk_traced(&own).await).await) {
            found[at] = Some(own);
        }
    }
    found.into_iter().map(|found| found.expect("each member is in one of the groups")).collect()
}

async fn walk_traced(group: &TypeGroup) -> Result<Walked<'_>, ContentError> {
    let span = traces::background_span("walk");
    let walked = traces::in_span(span.as_ref(), walk_members(group)).await;
    if let Some(span) = span {
        let sites: Vec<&str> = group.members.iter().map(|member| &*member.entry.site).collect();
        span.set("site", sites.join(","));
        span.set("content_type", group.query.uid.as_str().to_owned());
        if walked.is_err() {
            span.fail();
        }
    }
    walked
}

async fn walk_members(group: &TypeGroup) -> Result<Walked<'_>, ContentError> {
    let begun = Instant::now();
    for Member { entry, .. } in &group.members {
        entry.seen.store(0, Ordering::Relaxed);
    }
    let (query, locales) = (&group.query, group.locales.as_slice());
    let snapshots = known_snapshots(group);
    let known = |locale: Option<&Locale>, take: &mut dyn FnMut(&str)| {
        each_document(&snapshots, locale, take);
    };
    let request = WalkRequest { known: Some(&known), ..WalkRequest::new(query, locales) };
    let new_sink = |locale: Option<&_>| MemberParts::new(group, locale);
    let sinks = group.content().walk(request, new_sink).await?;
    Ok(Walked { begun, parts: MemberParts::by_member(sinks, locales.len()) })
}

async fn finish(group: &TypeGroup, walked: Result<Walked<'_>, ContentError>) -> Vec<Found> {
    let Walked { begun, parts } = match walked {
        Ok(walked) => walked,
        Err(error) => return group.members.iter().map(|_| Err(error.clone())).collect(),
    };
    let snapshot = |(member, parts): (&Member, Vec<Part<'_>>)| member.site.builder().finish(parts);
    let built: Vec<Result<Snapshot, NoSnapshot>> =
        tokio::task::block_in_place(|| group.members.iter().zip(parts).map(snapshot).collect());
    let mut found = Vec::with_capacity(built.len());
    for built in built {
        found.push(match built {
            Ok(snapshot) => Ok(Fresh { begun, snapshot }),
            Err(why) => Err(no_snapshot(group.content(), &group.query.uid, why).await),
        });
    }
    found
}

/// The error for documents of this content type that are in no snapshot, for this reason.
pub async fn no_snapshot(content: &Content, uid: &ContentTypeUid, why: NoSnapshot) -> ContentError {
    match why {
        NoSnapshot::TooLarge => {
            ContentError::Unusable("more text in its URLs than a snapshot can hold")
        }
        NoSnapshot::Absent(key) => content.absent_key(uid, &key).await,
    }
}

/// The locales and the snapshots of all members of a group as they are when their refresh begins. A
/// document that an incremental update adds later may have a key that the walk has passed already.
fn known_snapshots(group: &TypeGroup) -> Vec<(&[Locale], Arc<Snapshot>)> {
    let members = group.members.iter();
    members
        .filter_map(|Member { site, entry }| Some((site.locales(), entry.cached()?.snapshot)))
        .collect()
}

fn each_document(
    known: &[(&[Locale], Arc<Snapshot>)],
    locale: Option<&Locale>,
    take: &mut dyn FnMut(&str),
) {
    for (locales, snapshot) in known {
        let wanted = |at: usize| locale.is_none_or(|locale| locales[at] == *locale);
        for mut versions in snapshot.documents(0..snapshot.len()) {
            if let Some(url) = versions.find(|url| wanted(url.locale())) {
                take(url.document_id());
            }
        }
    }
}
