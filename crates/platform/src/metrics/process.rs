//! Metrics of the process from `/proc`, with the standard names of Prometheus client libraries.

use std::fmt;
use std::fs::{read_dir, read_to_string};
use std::time::{SystemTime, UNIX_EPOCH};

use super::Encoder;

/// The unit of times in `/proc/self/stat`: a hundredth of a second on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// This process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) started: SystemTime,
}

impl Default for Process {
    fn default() -> Self {
        Self { started: SystemTime::now() }
    }
}

impl Process {
    /// Values that cannot be read are left out.
    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let gauges = [
            (
                "process_start_time_seconds",
                "Start of the process, in seconds since 1970",
                Some(started),
            ),
            ("process_resident_memory_bytes", "Resident memory", resident()),
            ("process_open_fds", "Open file descriptors", open_descriptors()),
            ("process_max_fds", "Limit of open file descriptors", max_descriptors()),
            ("process_threads", "Threads", threads()),
        ];
        for (name, help, value) in gauges {
            encoder.family(name, help, "gauge", value.map(|value| ([], value)))?;
        }
        if let Some(seconds) = cpu_seconds() {
            let help = "CPU time, user and system";
            let name = "process_cpu_seconds_total";
            encoder.family(name, help, "counter", [([], seconds)])?;
        }
        let version = env!("CARGO_PKG_VERSION");
        encoder.gauge(
            "build_info",
            "Always 1; the label is the version",
            [([("version", version)], 1.0)],
        )
    }
}

/// A line of `/proc/self/status`, such as `VmRSS:     1234 kB`.
fn status(name: &str) -> Option<f64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn resident() -> Option<f64> {
    status("VmRSS").map(|kibibytes| kibibytes * 1024.0)
}

fn threads() -> Option<f64> {
    status("Threads")
}

/// Without the descriptor that reads the folder.
fn open_descriptors() -> Option<f64> {
    let open = read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    u32::try_from(open).ok().map(f64::from)
}

fn max_descriptors() -> Option<f64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The 12th and 13th field after the name, which may have any character.
fn cpu_seconds() -> Option<f64> {
    let stat = read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_ascii_whitespace().skip(11).take(2);
    let ticks: f64 = times.filter_map(|time| time.parse::<f64>().ok()).sum();
    Some(ticks / TICKS_PER_SECOND)
}
