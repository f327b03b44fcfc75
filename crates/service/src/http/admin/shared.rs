//! Redis and the fleet in `/metrics` of the admin listener.

use std::fmt;

use crate::app::App;
use frontend_map_cache::TypeStatus;
use frontend_map_fleet::Role;
use frontend_map_fleet::status::{RedisStatus, SnapshotStatus};
use frontend_map_platform::metrics::{Encoder, gauge_value};

/// Gauges of Redis are `NaN` without `[shared]`.
pub(super) fn metrics(
    app: &App,
    types: &[TypeStatus<'_>],
    encoder: &mut Encoder<'_>,
) -> fmt::Result {
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
    snapshots(types, encoder)
}

fn snapshots(types: &[TypeStatus<'_>], encoder: &mut Encoder<'_>) -> fmt::Result {
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

fn labels<'a>(status: &TypeStatus<'a>) -> [(&'static str, &'a str); 2] {
    [("site", &status.site.key), ("content_type", status.uid.as_str())]
}
