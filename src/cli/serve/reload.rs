//! Reads the settings anew while the service runs, and puts them to use as a whole or not at all.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::signal::unix::Signal;
use tokio::task::block_in_place;
use tokio::time::sleep;

use super::file_watch::FileWatch;
use crate::app::{App, SetUpError};
use crate::config::{Config, Problems};
use crate::http::Service;
use crate::site::Sites;

/// How often files are looked at. Config maps and secrets of Kubernetes are swapped symbolic links,
/// on which notifications of the system are not to be relied.
const LOOK: Duration = Duration::from_secs(1);

type Load = Box<dyn Fn() -> Result<Config, Problems> + Send + Sync>;

/// Who reads the settings anew.
pub(super) struct Reloader {
    load: Load,
    /// What the service was started with.
    fixed: Fixed,
    files: FileWatch,
    /// Whether files are watched.
    watch: bool,
    /// Where it is told which rules overlap.
    overlaps: mpsc::Sender<Sites>,
}

/// Why the settings in use stay.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    Settings(#[from] Problems),
    #[error(transparent)]
    SetUp(#[from] SetUpError),
}

impl Reloader {
    /// For a service that starts with these settings.
    pub(super) fn new(
        config: &Config,
        file: Option<PathBuf>,
        load: Load,
        overlaps: mpsc::Sender<Sites>,
    ) -> Self {
        let mut files = FileWatch::new(file);
        files.use_now();
        Self { load, fixed: Fixed::of(config), files, watch: config.server.watch, overlaps }
    }

    /// Reads the settings at each SIGHUP, and when a file changes if that is wanted, until it is
    /// dropped. A signal that comes while they are read has them read once more.
    pub(super) async fn run(mut self, service: Service, mut hangups: Signal) {
        loop {
            tokio::select! {
                _ = hangups.recv() => {}
                () = sleep(LOOK), if self.watch => {
                    if !block_in_place(|| self.files.have_changed()) {
                        continue;
                    }
                }
            }
            // First: what changes while they are read is read again.
            block_in_place(|| self.files.use_now());
            block_in_place(|| self.reload(&service));
        }
    }

    fn reload(&mut self, service: &Service) {
        let previous = service.app();
        let reloads = &previous.lasting().metrics.reloads;
        match self.replace(service, &previous) {
            Ok(()) => {
                reloads.applied();
                tracing::info!("the settings were read anew");
            }
            Err(refused) => {
                let problems = refused.in_one_line();
                reloads.refused(problems.clone());
                tracing::error!(problems, "the settings are wrong; those before stay in use");
            }
        }
    }

    fn replace(&mut self, service: &Service, previous: &App) -> Result<(), Refused> {
        let config = (self.load)()?;
        let (fixed, watch) = (Fixed::of(&config), config.server.watch);
        let lasting = Arc::clone(previous.lasting());
        let app = App::build_with(config, lasting, Some(previous))?;
        let app = Arc::new(app);
        service.replace(Arc::clone(&app));
        app.replaces(previous);
        self.watch = watch;
        let changed = self.fixed.other_than(&fixed);
        if !changed.is_empty() {
            let settings = changed.join(", ");
            tracing::warn!(settings, "a changed setting needs a restart; the old one is in use");
        }
        if app.has_other_sites_than(previous) {
            let _ = self.overlaps.send(app.sites.clone());
        }
        Ok(())
    }
}

impl Refused {
    /// All problems: what is wrong is known by who mends it only as a whole.
    fn in_one_line(&self) -> String {
        match self {
            Self::Settings(problems) => problems.iter().collect::<Vec<_>>().join("; "),
            Self::SetUp(error) => error.to_string(),
        }
    }
}

/// Settings that are for the life of the process.
struct Fixed(Vec<(&'static str, String)>);

impl Fixed {
    fn of(config: &Config) -> Self {
        let (server, callers, log) = (&config.server, config.limits.timeouts, &config.log);
        let traces = config.traces.as_ref();
        let (url, ratio) = (traces.map(|to| &to.url), traces.map(|to| to.sample_ratio));
        Self(vec![
            ("server.listen", server.listen.to_string()),
            ("server.connections", server.connections.to_string()),
            ("server.admin_listen", format!("{:?}", server.admin_listen)),
            ("limits.head_timeout_ms", format!("{:?}", callers.head)),
            ("limits.idle_timeout_ms", format!("{:?}", callers.idle)),
            ("limits.write_timeout_ms", format!("{:?}", callers.write)),
            ("log.level", log.level.clone()),
            ("log.format", format!("{:?}", log.format)),
            ("traces.otlp_endpoint", format!("{url:?}")),
            ("traces.sample_ratio", format!("{ratio:?}")),
        ])
    }

    /// Which of them are others.
    fn other_than(&self, after: &Self) -> Vec<&'static str> {
        let pairs = self.0.iter().zip(&after.0).filter(|(before, after)| before != after);
        pairs.map(|((name, _), _)| *name).collect()
    }
}
