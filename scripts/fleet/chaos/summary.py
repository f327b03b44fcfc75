"""Prints the results of a run of chaos."""

import time
from collections import Counter
from typing import TYPE_CHECKING

from faults.load import quantile
from faults.report import Report
from fleet.chaos.judge import FAILED, LATE, NEVER_WAS, PARTIAL, WRONG
from fleet.cms import LIST

if TYPE_CHECKING:
    from fleet.chaos.run import Chaos

# Faults that do not affect the change log, which is in Redis.
OF_INSTANCES = {"start", "kill-leader", "kill-follower", "restart"}
OPERATIONS = {"list", "xml", "pages", "resolve", "frontend-url", "batch"}


def show(report: Report, chaos: "Chaos") -> None:
    findings, reader = chaos.findings, chaos.reader
    asked, elapsed = sum(findings.asked.values()), time.monotonic() - findings.begun
    report.figure(
        f"{asked:,} responses judged {dict(findings.asked)}, {findings.excused} excused;"
        f" slowest {findings.slowest:.2f} s"
    )
    report.figure(
        f"{chaos.edits} edits, {chaos.hooks} webhooks accepted, {chaos.lost_hooks} not,"
        f" {chaos.dropped_hooks} lost on purpose, {chaos.split_hooks} pairs split;"
        f" {findings.faults[LATE]} responses older than 5 s within their Age, or without Redis"
    )
    times = sorted(time for times in chaos.recovery.values() for time in times)
    probes = sorted(time for times in chaos.probes.values() for time in times)
    for name, values in (
        ("all agree again after the end of a fault", times),
        ("an edit in a fault is shown by all that are asked", probes),
    ):
        report.figure(
            f"seconds until {name}: {len(values)} times, median {quantile(values, 50):.2f},"
            f" p99 {quantile(values, 99):.2f}, max {max(values, default=0):.2f}"
        )
    for label, values in sorted(chaos.recovery.items()):
        edits = chaos.probes.get(label, [])
        report.figure(
            f"  {label}: {len(values)} times, slowest {max(values):.2f} s;"
            f" edits, slowest {max(edits, default=0):.2f} s"
        )
    report.figure(
        f"changes: {reader.changes} read, {reader.repeated} repeated, {reader.resets} resets"
        f" {dict(Counter(reader.reasons))}"
    )
    # Each instance has a replica of Redis's log, however many of them stop.
    lost = [one for one in reader.reasons if set(one.split("+")) <= OF_INSTANCES]
    report.must(not lost, f"no reset without a fault of Redis: {lost}")
    lists = sum(count for name, count in chaos.cms.counts.items() if name == LIST)
    report.figure(
        f"requests to the CMS: {dict(chaos.cms.counts)}; {lists / elapsed:.1f} of lists/s"
    )
    repeated = sum(member.proxy.repeated for member in chaos.members)
    cuts = sum(member.proxy.cuts for member in chaos.members)
    report.figure(f"bytes repeated {repeated} times, {cuts} connections broken off in a value")
    report.must(set(findings.asked) == OPERATIONS, "all operations were asked")
    for kind in (PARTIAL, NEVER_WAS, WRONG, FAILED):
        report.must(findings.faults[kind] == 0, f"{findings.faults[kind]} {kind}")
    report.must(not chaos.never, f"never agreed again: {chaos.never}")
    differences = reader.differences(0.0)
    report.must(not differences, f"a reader of changes has all pages: {differences[:3]}")
    statuses = [status for member in chaos.members for status in member.statuses]
    report.must(set(statuses) <= {0}, f"{len(statuses)} graceful stops had status 0: {statuses}")
    panics = [member.number for member in chaos.members if "panicked" in member.instance.log()]
    report.must(not panics, f"no panic in the logs: {panics}")
