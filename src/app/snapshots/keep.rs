//! Who keeps snapshots without being asked: at the start, and for path indexes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::sleep;

use super::slot::{Found, Slot};
use crate::app::App;
use crate::content::{BreakerState, Content};

/// How often those who keep snapshots without being asked look whether one is due.
const ROUND: Duration = Duration::from_secs(5);
/// The same while the CMS fails: a probe that is due may find that all requests are taken.
const SHORTEST: Duration = Duration::from_millis(500);
/// How many content types are walked at once where nobody waits. The CMS has a limit of its own.
const AT_ONCE: usize = 4;

/// What is known of the CMS between two looks.
struct Keeper {
    content: Arc<Content>,
    watched: watch::Receiver<BreakerState>,
    /// How often the breaker had opened when all that is owed was last walked. At first what
    /// another client owes is: this one may fare better.
    openings: Option<u64>,
    probes: usize,
}

impl Keeper {
    fn of(app: &App) -> Self {
        let content = Arc::clone(&app.content);
        Self { watched: content.watch_breaker(), content, openings: None, probes: 0 }
    }

    /// Begins what is due; says when to look again.
    fn look(&mut self, app: &Arc<App>) -> Duration {
        // An app of before may have begun one after it was replaced.
        app.part();
        let health = *self.watched.borrow_and_update();
        let next = health.next_probe();
        if let Some(next) = next {
            if next <= Instant::now() && app.is_any_owed() {
                app.probe(self.probes);
                self.probes = (self.probes + 1) % app.snapshots.all().count().max(1);
            }
        } else {
            if self.openings != Some(health.openings) {
                self.openings = Some(health.openings);
                app.launch_owed();
            }
            app.launch_wanted();
        }
        let round = ROUND.min(app.snapshots.freshness.soft);
        let left = next.map(|next| next.saturating_duration_since(Instant::now()));
        left.map_or(round, |left| left.clamp(SHORTEST, round.max(SHORTEST)))
    }
}

impl App {
    /// Builds what is wanted before anybody asks for it, keeps the path indexes fresh, and walks
    /// again what could not be walked while the CMS failed, all of the app that is the current one,
    /// until it is dropped.
    pub async fn keep_snapshots(current: impl Fn() -> Arc<Self>) {
        let mut keeper = Keeper::of(&current());
        loop {
            let app = current();
            if !Arc::ptr_eq(&keeper.content, &app.content) {
                keeper = Keeper::of(&app);
            }
            let round = keeper.look(&app);
            let lasting = Arc::clone(&app.lasting);
            drop(app);
            tokio::select! {
                () = lasting.landed.notified() => {}
                Ok(()) = keeper.watched.changed() => {}
                () = sleep(round) => {}
            }
        }
    }

    /// Whether a walk waits until the CMS answers again.
    fn is_any_owed(&self) -> bool {
        self.snapshots.all().any(|slot| slot.is_owed() || self.is_wanted(slot))
    }

    /// Finds out whether it does, by another content type each time: one may have trouble of its
    /// own.
    fn probe(self: &Arc<Self>, number: usize) {
        let Some(slot) = self.snapshots.all().nth(number) else { return };
        let (app, slot) = (Arc::clone(self), Arc::clone(slot));
        tokio::spawn(async move { app.content.probe(&slot.ask).await });
    }

    /// Walks at once what waited for the CMS.
    fn launch_owed(self: &Arc<Self>) {
        for slot in self.snapshots.all().filter(|slot| slot.is_owed()) {
            self.launch(slot);
        }
    }

    fn launch_wanted(self: &Arc<Self>) {
        let all = || self.snapshots.all();
        // A walk that takes long keeps no other one waiting.
        let busy = all().filter(|slot| slot.is_under_way()).count();
        let wanted = all().filter(|slot| !slot.is_under_way() && self.is_wanted(slot));
        for slot in wanted.take(AT_ONCE.saturating_sub(busy)) {
            self.launch(slot);
        }
    }

    /// All are wanted once at the start, those of an index always.
    fn is_wanted(&self, slot: &Slot) -> bool {
        let indexed = self.snapshots.indexes.contains_key(&slot.site);
        match slot.find(self.snapshots.freshness) {
            Found::Copy { due, .. } => indexed && due && self.content.may_change(),
            Found::Nothing if slot.failed_within(ROUND) => false,
            Found::Nothing if indexed => true,
            Found::Nothing => self.snapshots.freshness.at_start && slot.kept().is_none(),
        }
    }
}
