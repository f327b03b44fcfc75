//! A document that may have changed, for which updates are due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Change, Invalidation};
use frontend_map_rules::{ContentTypeUid, Locale};

/// For this time after a change, another change interrupts the read of all its dependents. Later it is
/// interrupted only between two locales, so that continuous edits delay it for seconds alone.
const INTERRUPTIBLE_FOR: Duration = Duration::from_secs(5);
/// A document that may have changed, for which updates are due.
#[derive(Clone, Debug)]
pub(crate) struct PendingInvalidation {
    pub(crate) invalidation: Arc<Invalidation>,
    /// When the last webhook named it.
    pub(crate) at: Instant,
    /// The content type whose snapshots lack the change; `None`: any.
    pub(crate) only: Option<ContentTypeUid>,
    pub(crate) task: Task,
    /// The locales in which the dependents are still to be read; empty: all.
    pub(crate) locales: Vec<Locale>,
    /// The time of the first change of which not all dependents have been read.
    pub(super) incomplete_since: Option<Instant>,
    /// Whether one of the changes is a withdrawal.
    pub(crate) has_withdrawal: bool,
    /// Whether the document was withdrawn before all of its dependents were read. Versions that gained
    /// the relation by the unread change, and lost it with the withdrawal, are found only among those
    /// without a related document.
    pub(crate) may_have_unread_dependents: bool,
    /// How often reading the documents has failed.
    pub(super) attempts: usize,
}

/// What is due for an invalidation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    /// The update that a change needs.
    Update,
    /// A read of all dependents, locale by locale. The updates of newer changes come first.
    FullRead,
}

impl PendingInvalidation {
    /// For a change that is known from now on.
    pub(crate) fn new(invalidation: Invalidation, only: Option<ContentTypeUid>) -> Self {
        Self {
            has_withdrawal: invalidation.change == Change::Withdrawn,
            invalidation: Arc::new(invalidation),
            at: Instant::now(),
            only,
            task: Task::Update,
            locales: Vec::new(),
            incomplete_since: None,
            may_have_unread_dependents: false,
            attempts: 0,
        }
    }

    /// This invalidation with another task, which has not failed yet.
    pub(super) fn with_task(self, task: Task) -> Self {
        let incomplete_since = self.incomplete_since.or(Some(self.at));
        let (locales, has_withdrawal, attempts) = (Vec::new(), false, 0);
        Self { task, locales, incomplete_since, has_withdrawal, attempts, ..self }
    }

    /// Adds another invalidation about the same document, which is as new or newer.
    pub(super) fn add(&mut self, other: Self) {
        let only = (self.only == other.only).then_some(other.only.clone()).flatten();
        let at = self.at.max(other.at);
        let incomplete_since = [self.incomplete_since, other.incomplete_since];
        let incomplete_since = incomplete_since.into_iter().flatten().min();
        let has_withdrawal = self.has_withdrawal || other.has_withdrawal;
        let may_have_unread_dependents = self.may_have_unread_dependents
            || other.may_have_unread_dependents
            || self.is_withdrawn_unread(&other);
        let changes = [&*self, &other].map(|pending| (pending.task, pending.invalidation.change));
        // An update comes before a read; `incomplete_since` says that the read is still due.
        let mut merged = if self.task < other.task { self.clone() } else { other };
        let is_written = changes.contains(&(Task::Update, Change::Written));
        if is_written && merged.invalidation.change == Change::Withdrawn {
            // The documents that read it are listed then, which also shows what was withdrawn.
            Arc::make_mut(&mut merged.invalidation).change = Change::Written;
        }
        *self = Self {
            at,
            only,
            incomplete_since,
            has_withdrawal,
            may_have_unread_dependents,
            ..merged
        };
    }

    /// Whether the later one of both is a withdrawal, and the earlier one a change of which the
    /// dependents are still to be read. A read that was interrupted is added after the newer change.
    fn is_withdrawn_unread(&self, other: &Self) -> bool {
        let (earlier, later) = if self.at <= other.at { (self, other) } else { (other, self) };
        later.task == Task::Update
            && later.has_withdrawal
            && earlier.invalidation.change == Change::Written
    }

    /// Whether another change interrupts the read of its dependents before a locale is complete.
    pub(crate) fn is_interruptible(&self, now: Instant) -> bool {
        self.incomplete_since.is_none_or(|since| now < since + INTERRUPTIBLE_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(task: Task, change: Change) -> PendingInvalidation {
        let (uid, document_id) = ("api::a.a".to_owned(), "a".to_owned());
        let pending = PendingInvalidation::new(Invalidation { uid, document_id, change }, None);
        if task == Task::Update { pending } else { pending.with_task(task) }
    }

    fn added(first: PendingInvalidation, second: PendingInvalidation) -> (Task, Change, bool) {
        let mut pending = first;
        pending.add(second);
        (pending.task, pending.invalidation.change, pending.incomplete_since.is_some())
    }

    #[test]
    fn update_of_a_newer_change_takes_the_place_of_a_read_and_keeps_that_one_is_due() {
        use Change::{Withdrawn, Written};
        use Task::{FullRead, Update};
        for (first, second, expected) in [
            ((Update, Written), (Update, Withdrawn), (Update, Written, false)),
            ((Update, Withdrawn), (Update, Withdrawn), (Update, Withdrawn, false)),
            ((FullRead, Written), (Update, Withdrawn), (Update, Withdrawn, true)),
            // The read has been interrupted by the change.
            ((Update, Withdrawn), (FullRead, Written), (Update, Withdrawn, true)),
        ] {
            let pending = |(task, change)| pending(task, change);
            assert_eq!(added(pending(first), pending(second)), expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn withdrawal_after_a_change_that_was_not_read_has_an_unread_loss() {
        use Change::{Withdrawn, Written};
        use Task::{FullRead, Update};
        for (first, second, expected) in [
            ((Update, Written), (Update, Withdrawn), true),
            ((FullRead, Written), (Update, Withdrawn), true),
            ((Update, Withdrawn), (Update, Withdrawn), false),
            ((Update, Withdrawn), (Update, Written), false),
            ((Update, Written), (Update, Written), false),
        ] {
            let later = Instant::now() + Duration::from_secs(1);
            let first = pending(first.0, first.1);
            let second = PendingInvalidation { at: later, ..pending(second.0, second.1) };
            let (mut added, mut returned) = (first.clone(), second.clone());
            added.add(second);
            // It was interrupted by the second one.
            returned.add(first);
            assert_eq!(
                (added.may_have_unread_dependents, returned.may_have_unread_dependents),
                (expected, expected)
            );
            returned.add(PendingInvalidation { at: later, ..pending(Update, Written) });
            let returned = returned.with_task(FullRead);
            assert_eq!(returned.may_have_unread_dependents, expected, "it stays due");
        }
    }

    #[test]
    fn read_is_interruptible_for_five_seconds_after_the_first_change() {
        let read = pending(Task::FullRead, Change::Written);
        let changed = read.at;
        for (after, is_interruptible) in [(0, true), (4_999, true), (5_000, false)] {
            let now = changed + Duration::from_millis(after);
            assert_eq!(read.is_interruptible(now), is_interruptible, "{after}");
        }
        // However often the document changes again.
        let mut again = read;
        let at = changed + Duration::from_secs(2);
        again.add(PendingInvalidation { at, ..pending(Task::Update, Change::Written) });
        let again = again.with_task(Task::FullRead);
        assert!(!again.is_interruptible(changed + INTERRUPTIBLE_FOR));
    }
}
