//! A document that may have changed, for which updates are due.

use std::sync::Arc;
use std::time::Instant;

use super::Invalidation;
use frontend_map_rules::ContentTypeUid;

/// A document that may have changed, for which updates are due.
#[derive(Clone, Debug)]
pub(crate) struct PendingInvalidation {
    pub(crate) invalidation: Arc<Invalidation>,
    /// When the last webhook named it.
    pub(crate) at: Instant,
    /// The content type whose snapshots lack the change; `None`: any.
    pub(crate) only: Option<ContentTypeUid>,
    /// Whether one of the changes is a withdrawal.
    pub(crate) has_withdrawal: bool,
    /// Whether the document has changed again before all of its dependents were read. Versions that
    /// gained the relation by the unread change, and lost it with the next one, are found only among
    /// those without a related document.
    pub(crate) may_have_unread_dependents: bool,
    /// Whether it has more than a page of dependents, which are still to be read.
    pub(crate) is_long: bool,
    /// How often reading the documents has failed.
    pub(super) attempts: usize,
}

impl PendingInvalidation {
    /// For a change that is known from now on.
    pub(crate) fn new(invalidation: Invalidation, only: Option<ContentTypeUid>) -> Self {
        Self {
            has_withdrawal: invalidation.is_withdrawn,
            invalidation: Arc::new(invalidation),
            at: Instant::now(),
            only,
            may_have_unread_dependents: false,
            is_long: false,
            attempts: 0,
        }
    }

    /// This invalidation for the queue of long reads, without a failure; with `is_long` all of its
    /// dependents are to be read there.
    pub(crate) fn for_long_read_queue(
        self,
        is_long: bool,
        may_have_unread_dependents: bool,
    ) -> Self {
        Self { is_long, may_have_unread_dependents, attempts: 0, ..self }
    }

    /// Adds another invalidation about the same document, of which the dependents were not read
    /// either.
    pub(super) fn add(&mut self, other: &Self) {
        let (earlier, later) = if self.at <= other.at { (&*self, other) } else { (other, &*self) };
        let is_written = [earlier, later].iter().any(|one| !one.invalidation.is_withdrawn);
        let mut merged = Self {
            only: later.only.clone().filter(|_| earlier.only == later.only),
            has_withdrawal: earlier.has_withdrawal || later.has_withdrawal,
            // A withdrawal gives no document a relation.
            may_have_unread_dependents: earlier.may_have_unread_dependents
                || later.may_have_unread_dependents
                || !earlier.invalidation.is_withdrawn,
            is_long: earlier.is_long || later.is_long,
            ..later.clone()
        };
        if is_written && merged.invalidation.is_withdrawn {
            // The documents that read it are listed then, which also shows what was withdrawn.
            Arc::make_mut(&mut merged.invalidation).is_withdrawn = false;
        }
        *self = merged;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn change_after_one_whose_dependents_were_not_read_may_have_ended_relations() {
        let (written, withdrawn) = (false, true);
        let start = Instant::now();
        let pending = |is_withdrawn, seconds| {
            let (uid, document_id) = ("api::a.a".to_owned(), "a".to_owned());
            let pending =
                PendingInvalidation::new(Invalidation { uid, document_id, is_withdrawn }, None);
            PendingInvalidation { at: start + Duration::from_secs(seconds), ..pending }
        };
        for (first, second, both, is_unread) in [
            (written, withdrawn, written, true),
            (written, written, written, true),
            (withdrawn, withdrawn, withdrawn, false),
            (withdrawn, written, written, false),
        ] {
            let (mut added, mut returned) = (pending(first, 0), pending(second, 1));
            added.add(&pending(second, 1));
            // It has failed, and the second one has come in the meantime.
            returned.add(&pending(first, 0));
            for one in [added, returned] {
                assert_eq!(one.may_have_unread_dependents, is_unread, "{first:?} {second:?}");
                assert_eq!(one.invalidation.is_withdrawn, both);
                assert_eq!(one.has_withdrawal, first || second);
                assert_eq!(one.at, start + Duration::from_secs(1));
            }
        }
    }

    #[test]
    fn read_that_is_due_stays_due_with_another_change() {
        let pending = |only: Option<&str>| {
            let (uid, document_id) = ("api::a.a".to_owned(), "a".to_owned());
            let invalidation = Invalidation { uid, document_id, is_withdrawn: true };
            let only = only.map(|uid| ContentTypeUid::parse(uid).unwrap());
            PendingInvalidation::new(invalidation, only)
        };
        let mut merged = pending(Some("api::b.b")).for_long_read_queue(true, true);
        merged.add(&pending(Some("api::b.b")));
        assert!(merged.is_long && merged.may_have_unread_dependents && merged.only.is_some());
        merged.add(&pending(None));
        assert!(merged.is_long && merged.may_have_unread_dependents && merged.only.is_none());
    }
}
