//! A run that another instance owns.

use super::claim::Claim;
use super::{LIFETIME, Progress, SharedResult, WITHIN, scripts};
use crate::redis::{self, Argument};

/// The state of a run that another instance owns.
#[derive(Debug)]
pub enum Followed {
    /// It is in progress. `None`: the value of its progress was refused.
    Progress(Option<Progress>),
    /// It has ended, with this result.
    Ended(SharedResult),
    /// It has stopped without a result, or its result was refused.
    Gone,
}

/// A run that another instance owns. Dropping it ends the interest of this instance.
pub struct Following {
    shared: Claim,
    /// The progress when this instance joined it.
    pub progress: Option<Progress>,
}

impl Following {
    pub(super) fn new(shared: Claim, progress: Option<Progress>) -> Self {
        Self { shared, progress }
    }

    /// Reads the state of the run, and renews the interest of this instance.
    ///
    /// # Errors
    /// [`redis::Error`].
    pub async fn poll(&self) -> Result<Followed, redis::Error> {
        let Claim { redis, token, .. } = &self.shared;
        let arguments =
            vec![redis.instance_id().into(), Argument::from(token), LIFETIME.as_millis().into()];
        let (is, sealed): (String, Vec<u8>) =
            redis.script(scripts::FOLLOW, &self.shared.keys(), arguments, WITHIN).await?;
        Ok(match is.as_str() {
            "progress" => Followed::Progress(self.shared.progress(&sealed)),
            "ended" => self.shared.result(&sealed).map_or(Followed::Gone, Followed::Ended),
            _ => Followed::Gone,
        })
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let instance = Argument::from(self.shared.redis.instance_id());
        self.shared.send(scripts::RELEASE, vec![Argument::from(""), instance], None);
    }
}
