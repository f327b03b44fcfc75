"""The memory of lists in Redis, also while they are replaced, and in the instances."""

import time
from collections import Counter

from common.client import until
from faults.report import Report
from fleet.cms import LIST
from fleet.redis import Redis
from fleet.service import Instance
from fleet.worlds import World

MIB = 1 << 20
# The part of the documents that is renamed at once: beyond a quarter, a list is published whole.
RENAMED = 0.4
# Seconds. A wait of this length is a failure.
PATIENCE = 300


def show_redis(report: Report, redis: Redis, urls: int, empty: int) -> None:
    kinds = redis.memory_by_kind()
    largest = sorted(kinds.items(), key=lambda item: -item[1][1])[:5]
    listed = "; ".join(f"{kind}: {keys} keys, {size:,} bytes" for kind, (keys, size) in largest)
    report.figure(f"  Redis: {listed}")
    total, urls = sum(size for _, size in kinds.values()), max(1, urls)
    used, peak = redis.used_memory() - empty, redis.peak_memory() - empty
    report.figure(
        f"  Redis: {total / urls:.1f} bytes a URL by MEMORY USAGE of the keys;"
        f" {used / urls:.1f} by used_memory ({used / MIB:.1f} MiB above empty),"
        f" {peak / urls:.1f} at the peak ({peak / MIB:.1f} MiB)"
    )


def show_instances(report: Report, instances: list[Instance], when: str) -> None:
    now = ", ".join(f"{instance.memory() / MIB:.0f}" for instance in instances)
    most = ", ".join(f"{instance.memory('VmHWM') / MIB:.0f}" for instance in instances)
    report.figure(f"  memory of the instances {when}: {now} MiB; at the peak {most}")


def republish(
    report: Report,
    redis: Redis | None,
    instances: list[Instance],
    world: World,
    counted: tuple[int, int, int],
) -> None:
    """Many documents are renamed, and one walk finds that: the whole list is published beside the
    one before. `counted`: requests of
    one walk, URLs, and used_memory of an empty Redis."""
    edit = world.rename_many(RENAMED)
    if edit is None:
        return
    alone, urls, empty = counted
    before, begun = world.requests(), time.monotonic()
    # No document is named: everything is refreshed.
    instances[0].hook("", "", "media.update")
    shown = until(
        lambda: all(edit.shown + b'"' in one.get(edit.target).body for one in instances), PATIENCE
    )
    seconds = time.monotonic() - begun
    requests: Counter[str] = world.requests() - before
    report.must(
        shown is not None and requests[LIST] == alone,
        f"  {RENAMED:.0%} of the documents renamed: shown by all {seconds:.1f} s after the webhook,"
        f" {requests[LIST]} list requests, one walk has {alone}",
    )
    if redis is not None:
        report.figure("  with the list before, which stays for a minute:")
        show_redis(report, redis, urls, empty)
