"""What a fleet costs: requests to the CMS, seconds to adoption, memory and work of the engine."""

import contextlib
import http.client
import pathlib
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from common.client import get, until
from faults.load import quantile
from faults.report import Report
from fleet import paper
from fleet.cms import LIST
from fleet.engine import Engine, Usage, capacity
from fleet.service import HANG_SECONDS, Instance, wait_until_ready
from fleet.worlds import Edit, World

# After a start, and of the measurement of an idle fleet.
SETTLE_SECONDS, IDLE_SECONDS = 3, 10
# Between two looks at an instance, in seconds: what the seconds of adoption are accurate to.
LOOK = 0.004
# Seconds after which an edit counts as never seen.
NEVER = 30
MIB = 1 << 20


@dataclass
class Counted:
    """One fleet of so many instances. Costs of the engine are without those of an idle fleet in the
    same seconds."""

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
def fleet(binary: pathlib.Path, world: World, count: int, engine: str) -> Iterator[list[Instance]]:
    """Instances that are started at once."""
    with contextlib.ExitStack() as stack:
        instances = []
        for _ in range(count):
            instance = Instance(binary, world.text(engine), world.variables())
            instances.append(stack.enter_context(instance))
        yield instances


def read_lists(instances: list[Instance], world: World) -> tuple[int, bool]:
    """URLs of all lists, and whether the instances agree about them."""
    bodies = [[get(one.address, target).body for target in world.targets] for one in instances]
    urls = sum(body.count(b"://") for body in bodies[0])
    return urls, all(body == bodies[0] for body in bodies)


def run(
    binary: pathlib.Path, world: World, sizes: list[int], edits: int, seed: int, urls: int
) -> None:
    report = Report(f"counts: {world.name}, seed {seed}")
    alone = one_walk(report, binary, world)
    found = [one_size(report, binary, world, size, edits, seed, alone) for size in sizes]
    if urls:
        for one in found:
            check_cost(report, binary, one, urls)
    paper.show(report, found, capacity())


def one_walk(report: Report, binary: pathlib.Path, world: World) -> int:
    """The list requests of one instance without [shared]."""
    before = world.requests()
    with fleet(binary, world, 1, "") as instances:
        wait_until_ready(instances)
        urls, _ = read_lists(instances, world)
        memory = instances[0].memory()
    walk = world.requests() - before
    report.figure(
        f"one instance without [shared]: {walk[LIST]} list requests of {dict(walk)},"
        f" {urls:,} URLs, {memory / MIB:.0f} MiB"
    )
    return walk[LIST]


def one_size(
    report: Report,
    binary: pathlib.Path,
    world: World,
    size: int,
    edits: int,
    seed: int,
    alone: int,
) -> Counted:
    counted = Counted(size)
    before = world.requests()
    with Engine() as engine:
        empty, begun = engine.used_memory(), time.monotonic()
        at_start = engine.usage()
        with fleet(binary, world, size, engine.address) as instances:
            wait_until_ready(instances)
            counted.urls, agree = read_lists(instances, world)
            counted.seconds = time.monotonic() - begun
            usage = engine.usage().since(at_start)
            counted.lists = world.requests() - before
            report.must(agree, f"{size} instances: the lists are equal")
            report.must(
                counted.lists[LIST] == alone,
                f"{size} instances: {counted.lists[LIST]} list requests, one walk has {alone};"
                f" of {dict(counted.lists)} in {counted.seconds:.1f} s",
            )
            idle(engine, counted)
            counted.walk = net(counted, usage, counted.seconds, 1)
            show_memory(report, engine, counted, empty)
            edit_all(report, engine, instances, world, counted, edits, seed)
            memory = [instance.memory() / MIB for instance in instances]
            report.figure(
                f"  memory of the instances: {', '.join(f'{one:.0f}' for one in memory)} MiB"
            )
    return counted


def idle(engine: Engine, counted: Counted) -> None:
    time.sleep(SETTLE_SECONDS)
    before, begun = engine.usage(), time.monotonic()
    time.sleep(IDLE_SECONDS)
    counted.idle = engine.usage().since(before)
    counted.idle_seconds = time.monotonic() - begun


def net(counted: Counted, usage: Usage, seconds: float, parts: int) -> dict[str, float]:
    """A part of the work, without that of an idle fleet in these seconds."""
    assert counted.idle is not None
    share = seconds / counted.idle_seconds
    values = {
        "commands": usage.commands - counted.idle.commands * share,
        "bytes in": usage.bytes_in - counted.idle.bytes_in * share,
        "bytes out": usage.bytes_out - counted.idle.bytes_out * share,
    }
    return {name: max(0.0, value) / parts for name, value in values.items()}


def show_memory(report: Report, engine: Engine, counted: Counted, empty: int) -> None:
    kinds = engine.memory_by_kind()
    for kind, (keys, size) in sorted(kinds.items(), key=lambda item: -item[1][1]):
        report.figure(f"  engine: {kind}: {keys} keys, {size:,} bytes")
    total, urls = sum(size for _, size in kinds.values()), max(1, counted.urls)
    used = engine.used_memory() - empty
    report.figure(
        f"  engine: {total / urls:.1f} bytes a URL in keys; {used / urls:.1f} by used_memory"
        f" ({used / MIB:.1f} MiB above empty)"
    )


class Watcher:
    """Looks at one instance until it shows an edit, over one connection."""

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
    engine: Engine,
    instances: list[Instance],
    world: World,
    counted: Counted,
    edits: int,
    seed: int,
) -> None:
    """Edits one after another; each webhook goes to one instance at random."""
    own = random.Random(seed)
    watchers = [Watcher(instance.address) for instance in instances]
    requests, before, begun = world.requests(), engine.usage(), time.monotonic()
    sent: list[float] = []
    all_show: list[float] = []
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
    usage, seconds = engine.usage().since(before), time.monotonic() - begun
    counted.edit = net(counted, usage, seconds, max(1, edits))
    report.must(never == 0, f"  {edits} edits, {never} never seen by an instance")
    if not edits:
        return
    since = [shown - when for when, shown in zip(sent, all_show, strict=True)]
    report.figure(f"  seconds from the edit until all show it: {spread(since)}")
    stamps = publications(engine)
    published = [
        shown - min(within)
        for when, shown in zip(sent, all_show, strict=True)
        if (within := [one for one in stamps if when <= one <= shown])
    ]
    if published:
        report.figure(
            f"  seconds from publication until all show it: {spread(published)}"
            f" ({len(published)} of {edits} edits)"
        )
    costs = world.requests() - requests
    each = {name: round(count / edits, 2) for name, count in costs.items()}
    report.figure(f"  requests to the CMS an edit: {each}")
    names = sorted(usage.by_command.items(), key=lambda item: -item[1])
    report.figure(f"  engine commands in these {seconds:.0f} s: {dict(names[:12])}")


def publications(engine: Engine) -> list[float]:
    """When lists were published, by the events of the engine: seconds of its clock, which is that
    of this machine."""
    found = []
    for key in engine.all_keys():
        if b"event" not in key or engine.send("TYPE", key) != b"stream":
            continue
        for stamp, fields in engine.send("XRANGE", key, "-", "+"):
            if b"list" in fields:
                found.append(int(stamp.split(b"-")[0]) / 1000)
    return found


def check_cost(report: Report, binary: pathlib.Path, counted: Counted, urls: int) -> None:
    """What the check of a URL costs the engine."""
    from fleet.checks import Front, small_settings

    front = Front(delay=0.02)
    with Engine() as engine, contextlib.ExitStack() as stack:
        text, targets = small_settings(front, engine.address, urls)
        instances = [stack.enter_context(Instance(binary, text)) for _ in range(counted.instances)]
        wait_until_ready(instances)
        idle(engine, counted)
        before, begun = engine.usage(), time.monotonic()
        threads = [
            threading.Thread(target=instance.get, args=(targets[0], 600)) for instance in instances
        ]
        for thread in threads:
            thread.start()
        until(lambda: not any(thread.is_alive() for thread in threads), 600)
        usage = engine.usage().since(before)
        counted.check = net(counted, usage, time.monotonic() - begun, urls)
    report.figure(f"{counted.instances} instances: a URL check costs {shown(counted.check)}")


def shown(costs: dict[str, float]) -> str:
    return ", ".join(f"{value:,.1f} {name}" for name, value in costs.items())


def spread(values: list[float]) -> str:
    return (
        f"median {quantile(values, 50):.3f}, p99 {quantile(values, 99):.3f},"
        f" max {max(values, default=0):.3f}"
    )
