//! Reload: reads the settings again while the service runs, and applies all of them or none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use tokio::signal::unix::Signal;
use tokio::task::block_in_place;
use tokio::time::sleep;

use super::file_watch::FileWatch;
use super::service_manager;
use crate::boot::{self, BootError};
use crate::config::{Config, Problems, RestartSettings};
use frontend_map_catalog::site::Sites;
use frontend_map_service::app::App;
use frontend_map_service::http::Service;

/// How often the files are checked. Kubernetes swaps symbolic links to change config maps and
/// secrets, and file notifications are not reliable for these.
const WATCH_PERIOD: Duration = Duration::from_secs(1);

type Load = Box<dyn Fn() -> Result<Config, Problems> + Send + Sync>;

/// Reloads the settings of a service.
pub(super) struct Reloader {
    load: Load,
    /// The settings from the start that stay in use until a restart.
    at_start: RestartSettings,
    files: FileWatch,
    /// `server.watch`: whether a changed file causes a reload.
    watch: bool,
    /// Takes the sites whose ambiguous rules are logged.
    ambiguous_rules: mpsc::Sender<Sites>,
}

/// Why new settings are refused.
#[derive(Debug, thiserror::Error)]
enum ReloadError {
    #[error(transparent)]
    Settings(#[from] Problems),
    #[error(transparent)]
    Boot(#[from] BootError),
}

impl Reloader {
    /// For a service that starts with these settings.
    pub(super) fn new(
        config: &Config,
        file: PathBuf,
        load: Load,
        ambiguous_rules: mpsc::Sender<Sites>,
    ) -> Self {
        let mut files = FileWatch::new(file);
        files.mark_loaded();
        let at_start = config.restart_settings();
        Self { load, at_start, files, watch: config.server.watch, ambiguous_rules }
    }

    /// Reloads at each SIGHUP, and when a watched file changes, until it is dropped. A signal during
    /// a reload causes one more.
    pub(super) async fn run(mut self, service: Service, mut hangups: Signal) {
        loop {
            tokio::select! {
                _ = hangups.recv() => {}
                () = sleep(WATCH_PERIOD), if self.watch => {
                    if !block_in_place(|| self.files.have_changed()) {
                        continue;
                    }
                }
            }
            // First, so that a change during the reload causes another one.
            block_in_place(|| self.files.mark_loaded());
            // After a panic, which the panic hook has logged, the settings in use stay, and the next
            // reload is tried as usual.
            service_manager::reloading();
            let reload = AssertUnwindSafe(|| self.reload(&service));
            let status = block_in_place(|| catch_unwind(reload));
            let status =
                status.unwrap_or_else(|_| "a reload has failed; the log says why".to_owned());
            service_manager::reloaded(&format!("serving; {status}"));
        }
    }

    /// Reloads once. Returns how it ended, for the status of the service.
    fn reload(&mut self, service: &Service) -> String {
        let previous = service.app();
        let reloads = &previous.shared.metrics.reloads;
        match self.replace(service, &previous) {
            Ok(()) => {
                reloads.applied();
                tracing::info!("the settings are reloaded");
                "the settings are reloaded".to_owned()
            }
            Err(error) => {
                let problems = error.in_one_line();
                reloads.refused(problems.clone());
                tracing::error!(problems, "the reload is refused; the settings in use stay");
                format!("a reload was refused, the settings in use stay: {problems}")
            }
        }
    }

    fn replace(&mut self, service: &Service, previous: &App) -> Result<(), ReloadError> {
        let config = (self.load)()?;
        config.log_warnings();
        let (restart, watch) = (config.restart_settings(), config.server.watch);
        boot::reload(service, config)?;
        self.watch = watch;
        let changed = self.at_start.changed(&restart);
        if !changed.is_empty() {
            let settings = changed.join(", ");
            tracing::warn!(settings, "changed settings need a restart");
        }
        let sites = &service.app().sites;
        if !sites.have_same_fingerprints(&previous.sites) {
            // The thread that checks ends with the process.
            let _ = self.ambiguous_rules.send(sites.clone());
        }
        Ok(())
    }
}

impl ReloadError {
    /// All problems, so that they can be fixed at once.
    fn in_one_line(&self) -> String {
        match self {
            Self::Settings(problems) => {
                problems.iter().map(|problem| &*problem.text).collect::<Vec<_>>().join("; ")
            }
            Self::Boot(error) => error.to_string(),
        }
    }
}
