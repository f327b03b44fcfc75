//! The deployments that use the same keys. Instances of one deployment have the same content; during
//! a rolling deployment that changes it, there are two for a while.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::redis::seal::Sealer;

/// The context of the seal of a description.
pub(in crate::redis) const CONTEXT: &str = "deployment";

/// How long a description of this instance may be found after it was replaced: Redis has it for
/// 5 s, and a heartbeat may be in flight.
const FORMER: Duration = Duration::from_secs(8);

/// The deployment of this instance, and the others that the last heartbeat has found.
#[derive(Default)]
pub(in crate::redis) struct Deployments(Mutex<State>);

#[derive(Default)]
struct State {
    /// The sealed description of the own one; empty: not known yet.
    own: Vec<u8>,
    /// The own ones before a reload, and when they were replaced.
    former: Vec<(Vec<u8>, Instant)>,
    others: Vec<String>,
}

impl Deployments {
    pub(in crate::redis) fn set_own(&self, sealer: &Sealer, description: &str) {
        let (state, own) = (&mut *self.0.lock(), sealer.seal(CONTEXT, description.as_bytes()));
        let former = std::mem::replace(&mut state.own, own);
        if former != state.own {
            state.former.push((former, Instant::now()));
        }
    }

    pub(in crate::redis) fn own(&self) -> Vec<u8> {
        self.0.lock().own.clone()
    }

    pub(in crate::redis) fn others(&self) -> Vec<String> {
        self.0.lock().others.clone()
    }

    /// Records the sealed descriptions of other deployments. Foreign values have no seal that fits.
    /// Logs each deployment that was not there before.
    pub(in crate::redis) fn set_others(&self, sealer: &Sealer, found: &[Vec<u8>]) {
        let state = &mut *self.0.lock();
        state.former.retain(|(_, replaced)| replaced.elapsed() < FORMER);
        let is_own = |found: &Vec<u8>| {
            *found == state.own || state.former.iter().any(|(former, _)| former == found)
        };
        let others = found.iter().filter(|found| !is_own(found) && !state.own.is_empty());
        let open = |found: &Vec<u8>| {
            let text = sealer.open(CONTEXT, found).ok()?;
            String::from_utf8(text.to_vec()).ok()
        };
        let others: Vec<String> = others.filter_map(open).collect();
        for deployment in others.iter().filter(|other| !state.others.contains(other)) {
            tracing::warn!(
                deployment,
                "another deployment uses the same keys of Redis; unless this one replaces it, set another `shared.prefix`"
            );
        }
        state.others = others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_those_whose_seal_fits_without_the_own_one() {
        let (sealer, other) = (Sealer::new("p", None), Sealer::new("q", None));
        let deployments = Deployments::default();
        let own = |text: &str| sealer.seal(CONTEXT, text.as_bytes());
        deployments.set_others(&sealer, &[own("a")]);
        assert_eq!(deployments.others(), Vec::<String>::new(), "the own one is not known yet");
        deployments.set_own(&sealer, "a");
        assert_eq!(deployments.own(), own("a"));
        let found = [own("a"), own("b"), other.seal(CONTEXT, b"c"), b"junk".to_vec()];
        deployments.set_others(&sealer, &found);
        assert_eq!(deployments.others(), ["b"]);
        deployments.set_others(&sealer, &[own("a")]);
        assert_eq!(deployments.others(), Vec::<String>::new());
        deployments.set_own(&sealer, "d");
        deployments.set_others(&sealer, &[own("a"), own("b"), own("d")]);
        assert_eq!(deployments.others(), ["b"], "not the own one from before a reload");
        deployments.0.lock().former[1].1 -= FORMER;
        deployments.set_others(&sealer, &[own("a"), own("d")]);
        assert_eq!(deployments.others(), ["a"], "another instance has it");
    }
}
