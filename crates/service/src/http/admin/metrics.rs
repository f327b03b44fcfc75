//! `/metrics`: the counters of the process, which `frontend_map_platform::metrics` names, and the gauges
//! of the current app, which are named here.

use std::fmt;
use std::sync::Arc;

use axum::http::HeaderValue;

use super::text_response;
use crate::app::App;
use crate::http::response::envelope::HttpResponse;
use frontend_map_cache::{CachedSnapshot, TypeStatus};
use frontend_map_catalog::snapshot::Skipped;
use frontend_map_fleet::Role;
use frontend_map_fleet::status::{RedisStatus, SnapshotStatus};
use frontend_map_outbound::webhooks::TargetState;
use frontend_map_platform::metrics::{CONTENT_TYPE, Encoder, encode, gauge_value};
use frontend_map_store::StoreState;

/// The response.
pub(in crate::http) fn get(app: &Arc<App>) -> HttpResponse {
    let text = encode(|encoder| write(app, encoder));
    text_response(HeaderValue::from_static(CONTENT_TYPE), text)
}

/// The series depend on the settings alone: a value that is not known yet is `NaN`.
fn write(app: &App, encoder: &mut Encoder<'_>) -> fmt::Result {
    app.shared.metrics.encode(encoder)?;
    let draining = f64::from(app.shared.is_draining());
    encoder.gauge(
        "draining",
        "1 while the service is draining before it stops",
        [([], draining)],
    )?;
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    encoder.gauge(
        "tasks",
        "Tasks of the runtime: one for each connection, and a few others",
        [([], gauge_value(tasks as u64))],
    )?;
    let open = app.breaker_state().map(|state| ([], f64::from(state.is_open())));
    encoder.gauge("cms_breaker_open", "1 while the circuit breaker of the CMS is open", open)?;
    store(app, encoder)?;
    webhooks(app, encoder)?;
    path_history(app, encoder)?;
    path_indexes(app, encoder)?;
    encoder.gauge(
        "snapshot_interval_seconds",
        "The age from which snapshots are refreshed at present",
        [([], app.snapshots.interval().as_secs_f64())],
    )?;
    let types = app.type_statuses();
    fleet(app, &types, encoder)?;
    walks(&types, encoder)?;
    snapshots(&types, encoder)
}

/// Without a store, its gauges are `NaN`.
fn store(app: &App, encoder: &mut Encoder<'_>) -> fmt::Result {
    let state = app.shared.store.state();
    let bytes = match &state {
        Some(StoreState::Open { bytes }) => Some(*bytes),
        _ => None,
    };
    let is_open = state.map_or(f64::NAN, |_| f64::from(bytes.is_some()));
    let help = "1 while the file of the store is open; at 0, snapshots are in memory only";
    encoder.gauge("store_open", help, [([], is_open)])?;
    let bytes = bytes.map_or(f64::NAN, gauge_value);
    encoder.gauge("store_bytes", "Size of the file of the store", [([], bytes)])?;
    let aside = app.shared.store.moved_aside().map_or(f64::NAN, |files| gauge_value(files as u64));
    let help = "Unreadable files that were moved aside and are still beside the store";
    encoder.gauge("store_files_moved_aside", help, [([], aside)])?;
    let counters = &app.shared.metrics.store;
    let writes = [("ok", counters.written.get()), ("failed", counters.failed.get())];
    let writes = writes.map(|(outcome, writes)| ([("outcome", outcome)], writes));
    encoder.counter(
        "store_writes",
        "Snapshots and runs of URL checks written to the store by outcome",
        writes,
    )
}

fn path_history(app: &App, encoder: &mut Encoder<'_>) -> fmt::Result {
    let paths = app.shared.path_history.len();
    let help = "Paths in the path history, of all sites";
    encoder.gauge("path_history_paths", help, [([], gauge_value(paths as u64))])
}

fn webhooks(app: &App, encoder: &mut Encoder<'_>) -> fmt::Result {
    let counters = &app.shared.metrics.notify;
    let sent = [("ok", counters.delivered.get()), ("failed", counters.failed.get())];
    let sent = sent.map(|(outcome, sent)| ([("outcome", outcome)], sent));
    encoder.counter(
        "notify_requests",
        "Requests sent to the targets of [[notify]] by outcome",
        sent,
    )?;
    let states = app.shared.notifier.states();
    let of_each = |value: fn(&TargetState) -> f64| {
        states.iter().map(move |state| ([("target", state.name.as_str())], value(state)))
    };
    encoder.gauge(
        "notify_waiting",
        "Changes that wait for a target of [[notify]]",
        of_each(|state| gauge_value(state.waiting)),
    )?;
    encoder.gauge(
        "notify_failing",
        "1 while a target of [[notify]] does not accept requests",
        of_each(|state| f64::from(state.is_failing)),
    )
}

/// Of the sites with `resolve = "documents"`.
fn path_indexes(app: &App, encoder: &mut Encoder<'_>) -> fmt::Result {
    let fresh = app.sites.iter().filter_map(|site| {
        let fresh = app.snapshots.path_index(site)?.index.is_fresh();
        Some(([("site", site.key.as_str())], f64::from(fresh)))
    });
    encoder.gauge(
        "path_index_fresh",
        "1 while documents decide all ties between rules: the paths of each content type are known",
        fresh,
    )
}

fn walks(types: &[TypeStatus<'_>], encoder: &mut Encoder<'_>) -> fmt::Result {
    let walks = types.iter().flat_map(|status| {
        let counters = &status.counters;
        let outcomes = [("ok", counters.completed.get()), ("failed", counters.failed.get())];
        outcomes.map(|(outcome, walks)| {
            let [site, uid] = labels(status);
            ([site, uid, ("outcome", outcome)], walks)
        })
    });
    encoder.counter("walks", "Walks over all documents of a content type", walks)?;
    let edits = types.iter().map(|status| (labels(status), status.counters.unannounced.get()));
    encoder.counter(
        "edits_unannounced",
        "Documents whose edits were found and no webhook of the CMS has announced",
        edits,
    )
}

fn snapshots(types: &[TypeStatus<'_>], encoder: &mut Encoder<'_>) -> fmt::Result {
    let mut gauge = |name, help, value: fn(&TypeStatus<'_>) -> f64| {
        encoder.gauge(name, help, types.iter().map(|status| (labels(status), value(status))))
    };
    gauge("snapshot_age_seconds", "Time since the walk of the snapshot began", |status| {
        of_snapshot(status, |cached| cached.begun.elapsed().as_secs_f64())
    })?;
    gauge("snapshot_walk_seconds", "How long the walk of the snapshot took", |status| {
        of_snapshot(status, |cached| cached.refresh_duration().as_secs_f64())
    })?;
    gauge("snapshot_failing", "1 while the last walk failed", |status| f64::from(status.failing))?;
    gauge("snapshot_urls", "Public URLs in the snapshot", |status| {
        of_snapshot(status, |cached| gauge_value(cached.snapshot.len() as u64))
    })?;
    gauge("snapshot_bytes", "Memory of the snapshot", |status| {
        of_snapshot(status, |cached| gauge_value(cached.snapshot.bytes() as u64))
    })?;
    gauge("snapshot_duplicates", "Documents that have the same URL as another one", |status| {
        of_snapshot(status, |cached| gauge_value(cached.snapshot.duplicates().len() as u64))
    })?;
    skipped(types, encoder)
}

fn skipped(types: &[TypeStatus<'_>], encoder: &mut Encoder<'_>) -> fmt::Result {
    let none = Skipped::default();
    let skipped = types.iter().flat_map(|status| {
        let skipped = status.cached.as_ref().map_or(&none, |cached| &cached.snapshot.skipped);
        let [site, uid] = labels(status);
        skipped
            .by_kind()
            .map(move |(kind, count)| ([site, uid, ("reason", kind)], gauge_value(count)))
    });
    encoder.gauge("snapshot_skipped", "Documents without a URL by reason", skipped)
}

fn labels<'a>(status: &TypeStatus<'a>) -> [(&'static str, &'a str); 2] {
    [("site", &status.site.key), ("content_type", status.uid.as_str())]
}

fn of_snapshot(status: &TypeStatus<'_>, value: impl Fn(&CachedSnapshot) -> f64) -> f64 {
    status.cached.as_ref().map_or(f64::NAN, value)
}

/// Redis and the fleet. Gauges of Redis are `NaN` without `[shared]`.
fn fleet(app: &App, types: &[TypeStatus<'_>], encoder: &mut Encoder<'_>) -> fmt::Result {
    let status = app.shared.fleet.redis_status(app.shared.validator.counts());
    let of = |value: fn(&RedisStatus) -> f64| status.as_ref().map_or(f64::NAN, value);
    let help = "1 while this instance can use Redis; at 0, it works by itself";
    let up = of(|status| f64::from(status.state == "available"));
    encoder.gauge("redis_up", help, [([], up)])?;
    let help = "Instances of the fleet, this one included, as last known";
    let instances = of(|status| gauge_value(status.instances as u64));
    encoder.gauge("shared_instances", help, [([], instances)])?;
    let help = "Other deployments that use the same keys of Redis";
    let others = of(|status| gauge_value(status.other_deployments as u64));
    encoder.gauge("shared_other_deployments", help, [([], others)])?;
    let in_flight = of(|status| gauge_value(status.url_checks.in_flight as u64));
    let waiting = of(|status| gauge_value(status.url_checks.waiting as u64));
    let checks = [([("state", "in_flight")], in_flight), ([("state", "waiting")], waiting)];
    let help = "URL checks of this instance that are in flight, and that wait until they may begin";
    encoder.gauge("shared_url_checks", help, checks)?;
    shared_snapshots(types, encoder)
}

fn shared_snapshots(types: &[TypeStatus<'_>], encoder: &mut Encoder<'_>) -> fmt::Result {
    let roles = types.iter().flat_map(|status| {
        Role::NAMES.map(|name| {
            let [site, uid] = labels(status);
            ([site, uid, ("role", name)], f64::from(name == role(status).name()))
        })
    });
    encoder.gauge(
        "shared_role",
        "1 for the role of the instance for the snapshot, 0 for the other roles",
        roles,
    )?;
    let mut gauge = |name, help, value: fn(&SnapshotStatus) -> Option<f64>| {
        let value =
            |status: &TypeStatus<'_>| status.shared.as_ref().and_then(value).unwrap_or(f64::NAN);
        encoder.gauge(name, help, types.iter().map(|status| (labels(status), value(status))))
    };
    gauge(
        "shared_lease_seconds",
        "Time since the instance got the lease of the snapshot",
        |snapshot| snapshot.lease_age.map(|age| age.as_secs_f64()),
    )?;
    gauge("shared_version", "Version of the snapshot in use", |snapshot| {
        snapshot.version.map(gauge_value)
    })?;
    let help =
        "How long a version has been published that the instance does not use; 0 if there is none";
    gauge("shared_missing_seconds", help, |snapshot| {
        Some(snapshot.missing_for.unwrap_or_default().as_secs_f64())
    })?;
    let help =
        "Time from the publication of a version to its adoption by the instance, the last time";
    gauge("shared_lag_seconds", help, |snapshot| snapshot.lag.map(|lag| lag.as_secs_f64()))
}

fn role(status: &TypeStatus<'_>) -> Role {
    status.shared.map_or(Role::Alone, |snapshot| snapshot.role)
}
