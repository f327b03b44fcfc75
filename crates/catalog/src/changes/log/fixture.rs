//! A site whose pages a test changes, for unit tests of what reads the change log.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Baseline, ChangeLog, Recorder};
use crate::changes::difference::fixture::{Settings, UID};

/// A recorder for the site `main`, with the settings that build its pages.
pub(crate) struct Site {
    settings: Settings,
    pub(crate) log: Arc<ChangeLog>,
    pub(crate) recorder: Recorder,
}

impl Site {
    /// Without a snapshot yet.
    pub(crate) fn new() -> Self {
        let log = Arc::<ChangeLog>::default();
        let recorder = Recorder::new(Arc::clone(&log));
        recorder.set_types("main", vec![UID.to_owned()]);
        let settings = Settings::new("/articles/{slug}", &[("en", "https://example.com")]);
        Self { settings, log, recorder }
    }

    /// The site has these pages, by id and slug, from this source.
    pub(crate) fn set(&self, pages: &BTreeMap<String, String>, source: u128) {
        let baseline = self.baseline(pages, source);
        self.recorder.record("main", UID, Some(baseline), 1_700_000_000_000);
    }

    pub(super) fn baseline(&self, pages: &BTreeMap<String, String>, source: u128) -> Baseline {
        let rows: Vec<_> = pages.iter().map(|(id, slug)| (&**id, "", &**slug, "")).collect();
        let snapshot = Arc::new(self.settings.snapshot(&rows));
        let locales = self.settings.side(&snapshot).locales.clone();
        Baseline { snapshot, locales, fingerprint: 1, source, is_stored: false }
    }
}
