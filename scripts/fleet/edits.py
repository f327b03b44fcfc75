"""Edits documents behind a fleet: seconds until all instances show an edit, and its costs."""

import http.client
import random
import threading
import time

from common.client import until
from common.process import HANG_SECONDS
from faults.load import quantile
from faults.report import Report
from fleet.redis import Redis, Usage
from fleet.service import Instance, adopted
from fleet.worlds import Edit, World

# Seconds between two requests to an instance: the accuracy of the seconds of adoption.
LOOK = 0.004
# Seconds after which an edit counts as never seen.
NEVER = 30


class Watcher:
    """Requests an edited document from one instance until it shows the edit; one connection."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.connection = http.client.HTTPConnection(address, timeout=HANG_SECONDS)

    def until(self, edit: Edit, times: list[float | None], at: int) -> None:
        begun = time.monotonic()
        while time.monotonic() - begun < NEVER:
            try:
                self.connection.request("GET", edit.target)
                body = self.connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                self.connection.close()
                continue
            if edit.shown + b'"' in body:
                times[at] = time.time()
                return
            time.sleep(LOOK)


def edit_all(
    report: Report,
    redis: Redis | None,
    instances: list[Instance],
    world: World,
    edits: int,
    seed: int,
) -> tuple[Usage, float] | None:
    """Edits one after another; each webhook goes to one instance at random. Returns what Redis
    has done for them, and in how many seconds."""
    own = random.Random(seed)
    watchers = [Watcher(instance.address) for instance in instances]
    requests, begun = world.requests(), time.monotonic()
    before = redis.usage() if redis else None
    sent, all_show = list[float](), list[float]()
    never = 0
    for _ in range(edits):
        edit = world.rename(own)
        sent.append(time.time())
        own.choice(instances).hook(edit.uid, edit.document)
        times: list[float | None] = [None] * len(instances)
        threads = [
            threading.Thread(target=watcher.until, args=(edit, times, at))
            for at, watcher in enumerate(watchers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seen = [one for one in times if one is not None]
        never += len(times) - len(seen)
        all_show.append(max(seen, default=time.time()))
    if redis and sent:
        # What follows the last edit belongs to it, too.
        until(lambda: max(publications(redis), default=0) >= sent[-1], NEVER, 0.1)
        until(lambda: adopted(instances), NEVER)
    seconds = time.monotonic() - begun
    usage = redis.usage().since(before) if redis and before else None
    if not edits:
        return None
    report.must(
        never == 0, f"  {edits} edits in {seconds:.0f} s, {never} never seen by an instance"
    )
    since = [shown - when for when, shown in zip(sent, all_show, strict=True)]
    if redis is not None:
        show_publications(report, publications(redis), sent, all_show)
    report.figure(f"  seconds from the edit until all show it: {spread(since)}")
    costs = world.requests() - requests
    each = {name: round(count / edits, 2) for name, count in costs.items()}
    report.figure(f"  requests to the CMS for an edit: {each}")
    if usage is None:
        return None
    names = sorted(usage.by_command.items(), key=lambda item: -item[1])
    report.figure(f"  Redis commands in these {seconds:.0f} s: {dict(names[:12])}")
    return usage, seconds


def show_publications(
    report: Report, stamps: list[float], sent: list[float], all_show: list[float]
) -> None:
    """A leader shows an edit before it has published it: with one instance these seconds are 0."""
    ends = [*sent[1:], float("inf")]
    published = [
        max(0.0, shown - min(within))
        for when, shown, end in zip(sent, all_show, ends, strict=True)
        if (within := [one for one in stamps if when <= one <= end])
    ]
    report.must(
        len(published) == len(sent),
        f"  seconds from publication until all show it: {spread(published)};"
        f" {len(published)} of {len(sent)} edits",
    )


def publications(redis: Redis) -> list[float]:
    """When lists were published, by the events of Redis: seconds of its clock, which is that
    of this machine."""
    found = []
    for key in redis.all_keys():
        if b"event" not in key or redis.send("TYPE", key) != b"stream":
            continue
        for stamp, fields in redis.send("XRANGE", key, "-", "+"):
            if b"list" in fields:
                found.append(int(stamp.split(b"-")[0]) / 1000)
    return found


def spread(values: list[float]) -> str:
    return (
        f"median {quantile(values, 50):.3f}, p99 {quantile(values, 99):.3f},"
        f" max {max(values, default=0):.3f}"
    )
