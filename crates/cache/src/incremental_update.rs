//! Incremental updates: after an invalidation, the documents that may have changed are read again and
//! put into the cached copies of all sites.
//!
//! These are the named documents themselves, and their dependents: those that read them through a
//! relation. A list by a filter on the relation finds the ones that do so now, and the copy knows
//! those that did so before. The latter are needed because Strapi drops relations without an event:
//! in the published versions when the related document is unpublished or deleted, and also when it is
//! published after a draft has moved away from it.
//!
//! Each content type has two update loops, one for named documents and one for dependents, each with
//! its own queue: a named document is one request, dependents may be a hundred. The rounds of a loop
//! follow each other. What two reads in flight have found is put together by the times at which they
//! began (`patching`); a change that was known by then shows in the later one. So it does not matter
//! which of them ends first.

mod dependents;
mod differing;
mod failure;
mod full_read;
mod known_locales;
mod lists;
mod named;
mod patching;
mod plan;
mod reading;
mod type_updates;
mod unlisted;
mod update_loops;

pub(super) use differing::differing;
pub use update_loops::apply_invalidations;

use std::collections::BTreeMap;

use super::invalidation::Hint;
use super::refresh::TypeGroup;
use crate::content::ContentError;
use crate::rules::DocumentLocale;

/// Versions of documents: their locales by `documentId`.
type Listed = BTreeMap<String, Vec<DocumentLocale<'static>>>;

/// Why documents could not be updated.
#[derive(Debug)]
enum NotUpdated {
    /// A walk is needed: it is faster, or nothing else can determine the result.
    NeedsWalk,
    /// The CMS does not answer such requests in a usable way: a walk within the share follows.
    /// Without the share each round would cause a walk.
    Unusable,
    /// The CMS did not respond; a later try may succeed.
    Failed(ContentError),
}

impl From<ContentError> for NotUpdated {
    fn from(error: ContentError) -> Self {
        match error {
            // This includes responses of a CMS that ignores the filter.
            ContentError::TlsFailed | ContentError::Unusable(_) | ContentError::Setup(_) => {
                Self::Unusable
            }
            error => Self::Failed(error),
        }
    }
}

/// The hints about changes that a copy of the group's members may lack.
fn lacking(group: &TypeGroup, hints: Vec<Hint>) -> Vec<Hint> {
    let is_lacking = |hint: &Hint| group.members.iter().any(|(_, entry)| entry.may_lack(hint.at));
    hints.into_iter().filter(is_lacking).collect()
}
