//! The position of a version of a shared snapshot.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The position of a version, by which versions are ordered: first by epoch, so that the order also
/// holds after Redis has lost its data. As text: `<epoch>-<version>`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// The epoch of the lease of its publisher.
    pub epoch: u64,
    /// The number of the version, which grows with each publication.
    pub version: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.version)
    }
}

/// The text is not a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the position of a version")]
pub struct NoPosition;

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let (epoch, version) = text.split_once('-').ok_or(NoPosition)?;
        let number = |text: &str| text.parse().map_err(|_| NoPosition);
        Ok(Self { epoch: number(epoch)?, version: number(version)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_ordered_by_epoch_and_read_as_written() {
        let position = |epoch, version| Position { epoch, version };
        assert!(position(2, 1) > position(1, 900));
        assert!(position(2, 2) > position(2, 1));
        let largest = position(u64::MAX, 7);
        assert_eq!(largest.to_string().parse(), Ok(largest));
        for text in ["", "1", "1-", "-1", "1-2-3", "1 -2", "a-b", "99999999999999999999-1"] {
            assert_eq!(text.parse::<Position>(), Err(NoPosition), "{text}");
        }
    }
}
