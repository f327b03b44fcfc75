"""Costs of a fleet: requests to the CMS, seconds to adoption, memory and work of Redis."""

import contextlib
import pathlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from common.client import get, until
from faults.report import Report
from fleet import paper, sizes
from fleet.cms import LIST
from fleet.edits import edit_all
from fleet.redis import Redis, Usage
from fleet.service import Instance, adopted, wait_until_ready
from fleet.worlds import World

# After a start, and of the measurement of an idle fleet.
SETTLE_SECONDS, IDLE_SECONDS = 3, 10
# Seconds. A wait of this length is a failure.
PATIENCE = 60


@dataclass
class Counted:
    """The costs of one fleet. From those of Redis, the costs of an idle fleet in the same
    seconds are subtracted."""

    instances: int
    urls: int = 0
    lists: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    idle: Usage | None = None
    idle_seconds: float = 0.0
    walk: dict[str, float] = field(default_factory=dict)
    edit: dict[str, float] = field(default_factory=dict)
    check: dict[str, float] = field(default_factory=dict)


@contextlib.contextmanager
def fleet(binary: pathlib.Path, world: World, count: int, redis: str) -> Iterator[list[Instance]]:
    """Instances that are started at once."""
    with contextlib.ExitStack() as stack:
        instances = []
        for _ in range(count):
            instance = Instance(binary, world.text(redis), world.variables())
            instances.append(stack.enter_context(instance))
        yield instances


def read_lists(instances: list[Instance], world: World) -> tuple[int, bool]:
    """URLs of all lists, and whether the instances agree about them."""
    bodies = [[get(one.address, target).body for target in world.targets] for one in instances]
    urls = sum(body.count(b"://") for body in bodies[0])
    return urls, all(body == bodies[0] for body in bodies)


def run(
    binary: pathlib.Path, world: World, counts: list[int], edits: int, seed: int, urls: int
) -> None:
    report = Report(f"counts: {world.name}, seed {seed}")
    alone = one_walk(report, binary, world, edits, seed)
    found = []
    for count in counts:
        is_last = count == counts[-1]
        found.append(one_size(report, binary, world, count, (edits, seed), (alone, is_last)))
    if urls:
        for one in found:
            check_cost(report, binary, one, urls)
    if len(found) > 1:
        paper.show(report, found)


def one_walk(report: Report, binary: pathlib.Path, world: World, edits: int, seed: int) -> int:
    """The list requests of one instance without [shared]."""
    before, begun = world.requests(), time.monotonic()
    with fleet(binary, world, 1, "") as instances:
        wait_until_ready(instances)
        urls, _ = read_lists(instances, world)
        walk, seconds = world.requests() - before, time.monotonic() - begun
        report.figure(
            f"one instance without [shared]: {walk[LIST]} list requests of {dict(walk)},"
            f" {urls:,} URLs in {seconds:.1f} s"
        )
        sizes.show_instances(report, instances, "after the start")
        edit_all(report, None, instances, world, min(edits, 20), seed)
        sizes.show_instances(report, instances, "after the edits")
        sizes.republish(report, None, instances, world, (walk[LIST], urls, 0))
        sizes.show_instances(report, instances, "at the end")
    return walk[LIST]


def one_size(
    report: Report,
    binary: pathlib.Path,
    world: World,
    count: int,
    with_edits: tuple[int, int],
    with_alone: tuple[int, bool],
) -> Counted:
    (edits, seed), (alone, is_last) = with_edits, with_alone
    counted = Counted(count)
    before = world.requests()
    with Redis() as redis:
        empty, begun = redis.used_memory(), time.monotonic()
        at_start = redis.usage()
        with fleet(binary, world, count, redis.address) as instances:
            wait_until_ready(instances)
            counted.urls, agree = read_lists(instances, world)
            # The last publication and adoption belong to the walk, too.
            report.must(
                until(lambda: adopted(instances), PATIENCE) is not None,
                f"{count} instances: each list has a leader, and all have its version",
            )
            counted.seconds = time.monotonic() - begun
            usage = redis.usage().since(at_start)
            counted.lists = world.requests() - before
            report.must(agree, f"{count} instances: the lists are equal")
            report.must(
                counted.lists[LIST] == alone,
                f"{count} instances: {counted.lists[LIST]} list requests, one walk has {alone};"
                f" of {dict(counted.lists)} in {counted.seconds:.1f} s",
            )
            idle(redis, counted)
            counted.walk = net(counted, usage, counted.seconds, 1)
            sizes.show_redis(report, redis, counted.urls, empty)
            sizes.show_instances(report, instances, "after the start")
            cost = edit_all(report, redis, instances, world, edits, seed)
            if cost is not None:
                counted.edit = net(counted, *cost, edits)
                sizes.show_instances(report, instances, "after the edits")
            if is_last:
                sizes.republish(report, redis, instances, world, (alone, counted.urls, empty))
                sizes.show_instances(report, instances, "at the end")
    return counted


def idle(redis: Redis, counted: Counted) -> None:
    time.sleep(SETTLE_SECONDS)
    before, begun = redis.usage(), time.monotonic()
    time.sleep(IDLE_SECONDS)
    counted.idle = redis.usage().since(before)
    counted.idle_seconds = time.monotonic() - begun


def net(counted: Counted, usage: Usage, seconds: float, parts: int) -> dict[str, float]:
    """The costs of a part of the work, without those of an idle fleet in the same seconds."""
    assert counted.idle is not None
    share = seconds / counted.idle_seconds
    values = {
        "commands": usage.commands - counted.idle.commands * share,
        "bytes in": usage.bytes_in - counted.idle.bytes_in * share,
        "bytes out": usage.bytes_out - counted.idle.bytes_out * share,
        "CPU ms": 1e3 * (usage.cpu - counted.idle.cpu * share),
    }
    return {name: max(0.0, value) / parts for name, value in values.items()}


def check_cost(report: Report, binary: pathlib.Path, counted: Counted, urls: int) -> None:
    """What the check of a URL costs Redis."""
    from fleet.checks import Front, small_settings

    front = Front(delay=0.02)
    with Redis() as redis, contextlib.ExitStack() as stack:
        text, targets = small_settings(front, redis.address, urls)
        instances = [stack.enter_context(Instance(binary, text)) for _ in range(counted.instances)]
        wait_until_ready(instances)
        idle(redis, counted)
        before, begun = redis.usage(), time.monotonic()
        threads = [
            threading.Thread(target=instance.get, args=(targets[0], 600)) for instance in instances
        ]
        for thread in threads:
            thread.start()
        until(lambda: not any(thread.is_alive() for thread in threads), 600)
        usage = redis.usage().since(before)
        counted.check = net(counted, usage, time.monotonic() - begun, urls)
    report.figure(f"{counted.instances} instances: a URL check costs {shown(counted.check)}")


def shown(costs: dict[str, float]) -> str:
    return ", ".join(f"{value:,.2f} {name}" for name, value in costs.items())
