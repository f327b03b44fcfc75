//! What the task of a run sends to its readers, beside the results.

use tokio::sync::watch;

/// Whether a run is begun or followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is not known yet.
    Pending,
    Accepted,
    Refused,
}

/// The sending half of a run's channels. Its drop wakes all readers: no further result will come.
pub(super) struct Publisher {
    pub(super) result_count: watch::Sender<usize>,
    /// Closed with this.
    pub(super) _ended: watch::Sender<()>,
    pub(super) admission: watch::Sender<Admission>,
}

impl Publisher {
    pub(super) fn is_accepted(&self) -> bool {
        *self.admission.borrow() == Admission::Accepted
    }

    pub(super) fn admit(&self, admission: Admission) {
        self.admission.send_replace(admission);
    }
}
