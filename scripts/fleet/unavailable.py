"""Measures responses with and without Redis, alternately, and a start without it."""

import argparse
import contextlib
import pathlib
import statistics
import time
from collections import defaultdict

from common.client import until
from common.wrk import Load, wrk
from faults.load import quantile
from faults.report import Report
from fleet.cms import LIST, Cms
from fleet.content import Content, Kind, document_id, slug
from fleet.redis import Redis
from fleet.service import SITE, Instance, Settings, adopted, list_target, wait_until_ready

KIND = Kind("article", ("en",))
DOCUMENTS = 2_000
IN_BATCH = 50
PATIENCE = 60
HOOKS = 30


class Fleet:
    def __init__(self, binary: pathlib.Path, instances: int, redis: Redis) -> None:
        self.redis = redis
        self.content = Content((KIND,), DOCUMENTS)
        self.cms = Cms(self.content)
        self.settings = Settings(self.cms.url, (KIND,), redis.address)
        text = self.settings.text()
        self.instances = [Instance(binary, text) for _ in range(instances)]

    def targets(self) -> dict[str, str]:
        path = self.settings.path(KIND.name, "en", slug((KIND.name, 7, "en"), 0))
        ids = ",".join(document_id(number) for number in range(IN_BATCH))
        return {
            "get-content-type": f"/api/get-content-type?site={SITE}&pathname={path}",
            "resolve": f"/api/resolve?site={SITE}&pathname={path}",
            "list": list_target(KIND),
            "batch": f"/api/frontend-urls?site={SITE}&uid={KIND.uid}&documentId={ids}",
        }

    def is_shared(self) -> bool:
        return adopted(self.instances)

    def is_alone(self) -> bool:
        roles = [role for one in self.instances for role in one.roles().values()]
        return bool(roles) and all(role.startswith("alone") for role in roles)

    def wait(self, is_there: bool) -> float | None:
        condition = self.is_shared if is_there else self.is_alone
        return until(condition, PATIENCE, 0.05)


def run(binary: pathlib.Path, options: argparse.Namespace) -> None:
    for name in ("stopped", "killed"):
        pairs(binary, options, name)
    start_without(binary, options)


def pairs(binary: pathlib.Path, options: argparse.Namespace, name: str) -> None:
    report = Report(f"unavailable: Redis is {name}, {options.pairs} pairs")
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis())
        fleet = Fleet(binary, options.instances, redis)
        for instance in fleet.instances:
            stack.enter_context(instance)
        wait_until_ready(fleet.instances)
        found: dict[tuple[str, bool], list[Load]] = defaultdict(list)
        back, gone = list[float | None](), list[float | None]()
        is_there = True
        for pair in range(options.pairs):
            # Each pair begins where the one before has ended.
            for wanted in (True, False) if pair % 2 == 0 else (False, True):
                if wanted != is_there:
                    switch(redis, name, wanted)
                    (back if wanted else gone).append(fleet.wait(wanted))
                    is_there = wanted
                elif pair == 0:
                    back.append(fleet.wait(True))
                for operation, target in fleet.targets().items():
                    load = wrk(fleet.instances[0].address, target, seconds=options.seconds)
                    found[operation, wanted].append(load.must_be_clean())
        if not is_there:
            switch(redis, name, True)
            back.append(fleet.wait(True))
        report.must(None not in back + gone, f"roles follow Redis: {back} and {gone}")
        for operation in fleet.targets():
            show(report, operation, found[operation, True], found[operation, False], options.most)
        webhooks(report, fleet, name)


def switch(redis: Redis, name: str, is_there: bool) -> None:
    if name == "stopped":
        (redis.resume if is_there else redis.pause)()
    elif is_there:
        redis.start()
    else:
        redis.kill()


def show(
    report: Report, operation: str, there: list[Load], without: list[Load], most: float
) -> None:
    rates = [one.rate for one in there], [one.rate for one in without]
    p99s = [one.p99 for one in there], [one.p99 for one in without]
    slower = statistics.median(a / b for a, b in zip(*rates, strict=True))
    later = statistics.median(b / a for a, b in zip(*p99s, strict=True))
    report.must(
        later <= most,
        f"{operation}: p99 {later:.3f} of that with Redis"
        f" ({statistics.median(p99s[0]):.2f} ms), requests/s {1 / slower:.3f}"
        f" ({statistics.median(rates[0]):,.0f}); medians of ratios",
    )


def webhooks(report: Report, fleet: Fleet, name: str) -> None:
    """How long a webhook waits for Redis, from the moment on when it is unavailable."""
    there = hook_times(fleet)
    switch(fleet.redis, name, False)
    without = hook_times(fleet)
    switch(fleet.redis, name, True)
    report.figure(
        f"webhooks in ms: median {quantile(there, 50) * 1e3:.1f}, max {max(there) * 1e3:.1f}; from"
        f" the moment on when Redis is {name}: median {quantile(without, 50) * 1e3:.1f},"
        f" max {max(without) * 1e3:.1f}"
    )


def hook_times(fleet: Fleet) -> list[float]:
    found = []
    for number in range(HOOKS):
        begun = time.monotonic()
        fleet.instances[0].hook(KIND.uid, document_id(number))
        found.append(time.monotonic() - begun)
        time.sleep(0.05)
    return found


def start_without(binary: pathlib.Path, options: argparse.Namespace) -> None:
    report = Report("unavailable: a start without Redis")
    count = max(3, options.instances)
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis())
        redis.kill()
        fleet = Fleet(binary, count, redis)
        begun = time.monotonic()
        for instance in fleet.instances:
            stack.enter_context(instance)
        wait_until_ready(fleet.instances)
        seconds = time.monotonic() - begun
        bodies = {instance.get(list_target(KIND)).body for instance in fleet.instances}
        walks = fleet.cms.counts[LIST]
        report.must(
            len(bodies) == 1, f"{count} instances have equal lists, ready in {seconds:.1f} s"
        )
        report.figure(f"{walks} list requests: each walks alone")
        redis.start()
        seconds_to = fleet.wait(True)
        report.must(
            seconds_to is not None, f"{seconds_to and round(seconds_to, 2)} s later all share"
        )
        report.figure(f"{fleet.cms.counts[LIST] - walks} more list requests")
        version = (KIND.name, 3, "en")
        fleet.content.edit(version, 1)
        fleet.instances[0].hook(KIND.uid, document_id(3))
        shown = slug(version, 1).encode()
        seen = until(
            lambda: all(shown in one.get(list_target(KIND)).body for one in fleet.instances),
            PATIENCE,
        )
        report.must(seen is not None, f"an edit is shown by all after {seen and round(seen, 2)} s")
