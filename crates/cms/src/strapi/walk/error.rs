//! Why a walk over one locale has ended without a result.

use super::proof::{RowCounts, Unproven};
use crate::{ContentError, Outage};

/// The CMS, or a cache in front of it, ignores `locale`.
pub(super) const OTHER_LOCALE: ContentError =
    ContentError::Unusable("documents in another locale than requested");

/// Why a walk has ended.
pub(super) enum WalkError {
    /// A request failed, or a response is unusable: another walk would fail, too.
    Failed(ContentError),
    /// The walk is not proved to be complete: another one may be.
    Unproven(Unproven),
}

impl From<ContentError> for WalkError {
    fn from(error: ContentError) -> Self {
        Self::Failed(error)
    }
}

impl From<Unproven> for WalkError {
    fn from(reason: Unproven) -> Self {
        Self::Unproven(reason)
    }
}

/// The error after the last walk that proved nothing.
pub(super) fn final_error(reasons: &[Unproven]) -> ContentError {
    let counts: Vec<RowCounts> = reasons.iter().filter_map(Unproven::counts).collect();
    match reasons.last() {
        Some(Unproven::Unusable(why)) => ContentError::Unusable(why),
        _ if reasons.iter().all(|reason| *reason == Unproven::NotInList) => {
            ContentError::Unusable("lists without documents that it returns by their ids")
        }
        _ if counts.len() == reasons.len() && counts.windows(2).all(|two| two[0] == two[1]) => {
            ContentError::Unusable("totals that contradict the rows, in the same way each time")
        }
        _ => ContentError::unavailable(Outage::KeepsChanging),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_error_is_unavailable_where_the_counts_moved_and_unusable_otherwise() {
        let count = |rows| Unproven::Miscount(RowCounts { before: 3, rows, after: Some(3) });
        let moving = ContentError::unavailable(Outage::KeepsChanging);
        assert_eq!(final_error(&[count(2), count(1), count(2)]), moving);
        assert_eq!(final_error(&[Unproven::Unusable("x"), count(1)]), moving);
        let unusable = ContentError::Unusable("x");
        assert_eq!(final_error(&[count(2), Unproven::Unusable("x")]), unusable);
        assert!(matches!(final_error(&[count(2), count(2)]), ContentError::Unusable(_)));
        assert_eq!(final_error(&[count(2), Unproven::NotInList]), moving);
        let missing = [Unproven::NotInList; 4];
        assert!(matches!(final_error(&missing), ContentError::Unusable(_)));
    }
}
