//! Incremental updates: after an invalidation, the documents that may have changed are read again and
//! put into the cached snapshots of all sites.
//!
//! These are the named documents themselves, and their dependents: those that read them through a
//! relation. A list by a filter on the relation finds the ones that do so now, and the snapshot
//! knows those that did so before. The latter are needed because Strapi drops relations without an
//! event: in the published versions when the related document is unpublished or deleted, and also
//! when it is published after a draft has moved away from it.
//!
//! Each content type has three update loops, each with its own queue: one for named documents (a
//! request), one for their dependents (up to a page of them), and one for long reads, of thousands of
//! dependents. The rounds of a loop follow each other; the loops do not wait for each other. What
//! reads in flight have found is put together by the times at which they began (`patching`); a change
//! that was known by then shows in the later one. So it does not matter which of them ends first. A read
//! may find versions that read a document which has changed since it began: then the change is looked
//! at again (`Member::invalidations_to_repeat`).
//!
//! # From a webhook to new URLs
//!
//! 1. The operation `cms_hook` checks the secret, reads the body to its end, and parses its
//!    beginning: event, content type, `documentId`, and whether `publishedAt` is null. An event
//!    about a draft ends here. A body that names no document means that anything may have
//!    changed: all types are walked.
//! 2. The last good responses about the document and about documents that read others are dropped.
//!    The event becomes an invalidation in the queue of each content type that it may concern.
//!    A loop waits for a pause of 0.2 s (0.05 s if it has started no round for a second), at most 1 s
//!    (debounce); ten thousand events about fifty documents become fifty invalidations.
//! 3. `incremental_update` decides for each content type what to read. A document of the type
//!    itself is read again. Its dependents, which are the documents of the type that read the
//!    changed one through a relation of the rules (a category, each level of parents), are found
//!    in two ways: the cached snapshot knows which versions did so before, and a list with a filter
//!    on the relation has those that do so now. The first is needed because Strapi drops
//!    relations without an event, and after an unpublish or delete no filter finds them.
//!    - The dependents of a document that has more than `cms.page_size` of them are read page
//!      by page, locale by locale (`long_reads`), and until then their paths stand. A path that
//!      is computed from a new category and a known slug may never have existed: the article
//!      may have been renamed, and the webhook about that be lost or late (D60).
//!    - After a withdrawal no filter finds the dependents, so the versions without a related
//!      document are read page by page, and those of the others that the snapshot knows by their
//!      ids.
//!    - A version that gained the relation by an unread change, and lost it by the next one, has no
//!      related document any more, and the snapshot knows it as a dependent of another one. The next
//!      one is a withdrawal, or another publication after the draft has moved away. If a document
//!      changes while a read of its dependents is due, or at most five seconds after such a read (the
//!      event may be late), the versions without a related document are therefore read (`unread`).
//!      Through several relations they cannot be told: after a withdrawal a walk follows.
//! 4. Which content type a relation leads to is learned from the schema, if the token may read it,
//!    from events about documents that the snapshot reads, and from responses (`plan::targets`).
//!    Where it is not known, the service requests the changed document from the endpoint of its
//!    type, together with one that the snapshot reads through the relation. If the response has the
//!    document that the snapshot reads, the type is the target. If it has the changed document
//!    alone, the type is excluded and costs no request for a day, as long as the snapshot reads the
//!    other document. If it has neither, each event about the type costs a list of dependents. A
//!    path that no document of the snapshot proves to be a relation is never a filter, because it
//!    may lead through a component, for which Strapi answers with a 500: after an event, at most every
//!    ten minutes for each type, a walk within the share looks for a first reference.
//! 5. `strapi::walk::selection` sends the lists: one request for all locales where the result
//!    fits on a page, otherwise a walk for each locale with the same filter and the same proof.
//!    A page of such a walk that fails is requested again, for up to a minute in the whole walk:
//!    while Strapi publishes a category with thousands of articles, it responds to nothing for
//!    seconds, and a list that began again each time might never end. Every row must match the
//!    filter, so a CMS that ignores it is noticed. A response with versions in one locale alone
//!    is confirmed locale by locale if the snapshot knows others.
//! 6. The versions are put into the snapshots of all sites as soon as they are read, under a lock,
//!    and into that of a walk that began before, once it completes. An older read never replaces
//!    a newer one: each read has the time before its first request, and what is put into a snapshot
//!    while other reads are in flight is kept until these end, and then put over what they have
//!    found. If a read has found documents that read a changed one and have not been read again
//!    since, the invalidation is repeated.
//! 7. A walk follows at once where it is faster or nothing else can determine the result: more than
//!    a quarter of the type's versions by their ids because of one document, more than all of them
//!    in one round, or a document that lacks a key which decides. A list that fails affects only
//!    the invalidations that it is for. It is repeated after 1, 2, 4, 8, 16 and 30 s; then a walk
//!    follows. While the circuit breaker is open, the loops wait, the refresher sends the probes,
//!    and the rounds begin as soon as it closes. After an unusable response, such as one of a CMS
//!    that ignores the filter, a walk within the share of the CMS follows.

mod dependents;
mod failure;
mod long_reads;
mod patching;
mod plan;
mod reading;
mod unread;
mod update_loops;

pub(super) use reading::differing;
pub use update_loops::apply_invalidations;

use std::collections::BTreeMap;
use std::time::Instant;

use crate::invalidation::{InvalidationQueue, PendingInvalidation};
use crate::refresh::{TypeGroup, walk_failure};
use frontend_map_cms::ContentError;
use frontend_map_fleet::WalkFailure;
use frontend_map_rules::DocumentLocale;
use unread::UnreadDependents;

/// Versions of documents: their locales by `documentId`.
type Listed = BTreeMap<String, Vec<DocumentLocale<'static>>>;

/// Why documents could not be updated.
#[derive(Debug)]
enum NotUpdated {
    /// A walk is needed: it is faster, or nothing else can determine the result.
    NeedsWalk,
    /// There are more versions than a short read has.
    TooMany,
    /// The CMS does not answer such requests in a usable way: a walk within the share follows.
    /// Without the share each round would cause a walk.
    Unusable,
    /// The CMS did not respond; a later try may succeed.
    Failed(ContentError),
}

impl From<ContentError> for NotUpdated {
    fn from(error: ContentError) -> Self {
        match walk_failure(&error) {
            // This includes responses of a CMS that ignores the filter.
            WalkFailure::Unusable => Self::Unusable,
            _ => Self::Failed(error),
        }
    }
}

/// The queues of the update loops of a content type.
#[derive(Default)]
struct TypeUpdates {
    named: InvalidationQueue,
    dependents: InvalidationQueue,
    /// Of documents whose dependents may be more than a page.
    long_reads: InvalidationQueue,
    unread: UnreadDependents,
}

impl TypeUpdates {
    /// Queues a read of all dependents, and with `with_unrelated` of the versions without a related
    /// document.
    fn read_long(&self, pending: PendingInvalidation, with_unrelated: bool) {
        self.unread.begin_long_read(&pending, Instant::now());
        self.long_reads.add(pending.for_long_read_queue(true, with_unrelated));
    }
}

/// The invalidations about changes that a snapshot of the group's members may lack.
fn lacking(group: &TypeGroup, invalidations: Vec<PendingInvalidation>) -> Vec<PendingInvalidation> {
    let is_lacking = |pending: &PendingInvalidation| {
        group.members.iter().any(|member| member.entry.may_lack(pending.at))
    };
    invalidations.into_iter().filter(is_lacking).collect()
}
