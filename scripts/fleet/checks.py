"""URL checks of a fleet: at most ten in flight, each URL once in a run, one result for all."""

import asyncio
import contextlib
import pathlib
import random
import re
import threading
import time
from collections import Counter

from common.client import until
from common.process import HANG_SECONDS
from faults.load import Connection, quantile
from faults.report import Report
from fleet.cms import Cms
from fleet.content import Content, Kind
from fleet.redis import Redis
from fleet.service import Instance, Settings, list_target, wait_until_ready

KINDS = (Kind("article", ("en",)), Kind("page", ("en",)))
MOST_IN_FLIGHT = 10


class Front:
    """A frontend in a thread, which counts requests by path, and the most in flight at once."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.paths: Counter[str] = Counter()
        self.in_flight = self.most = 0
        self.loop, ready = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.serve, args=(ready,), daemon=True).start()
        ready.wait()

    def serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        start = asyncio.start_server(self.client, "127.0.0.1", 0)
        server = self.loop.run_until_complete(start)
        self.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        self.loop.run_forever()

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.paths[head.decode("latin-1").split(" ")[1]] += 1
                self.in_flight += 1
                self.most = max(self.most, self.in_flight)
                try:
                    await asyncio.sleep(self.delay)
                finally:
                    # Before the response: the client may send the next request once it has it.
                    self.in_flight -= 1
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
        writer.close()

    def take(self) -> tuple[Counter[str], int]:
        """Since the last call."""
        found = self.paths, self.most
        self.paths, self.most = Counter(), self.in_flight
        return found


def small_settings(
    front: Front, redis: str, urls: int, kinds: tuple[Kind, ...] = KINDS[:1]
) -> tuple[str, list[str]]:
    """The settings, and the target of a run for each kind."""
    cms = Cms(Content(kinds, urls))
    settings = Settings(cms.url, kinds, redis, base=front.base)
    return settings.text(), [list_target(kind, "&validate=true") for kind in kinds]


class Caller:
    """Starts a run, or joins one: plain, or as a stream of which the last event is kept."""

    def __init__(self, address: str, target: str, is_stream: bool) -> None:
        self.address, self.target, self.is_stream = address, target, is_stream
        self.status, self.body, self.seconds, self.progress = 0, b"", 0.0, 0

    async def call(self) -> None:
        connection, begun = Connection(self.address), time.monotonic()
        accept = "text/event-stream" if self.is_stream else "application/json"
        try:
            self.status, _, body = await connection.get(self.target, accept=accept)
        except (OSError, EOFError, ValueError) as error:
            body = repr(error).encode()
        self.seconds = time.monotonic() - begun
        if self.is_stream and self.status == 200:
            self.progress = body.count(b"event: progress")
            found = re.search(rb"event: result\n(?:id: end\n)?data: (.*?)\n", body)
            body = found[1] if found else b"no result: " + body[-200:]
        self.body = body
        connection.close()


async def call_all(callers: list[Caller]) -> None:
    await asyncio.gather(*(caller.call() for caller in callers))


class Checks:
    """A fleet, the frontend that it checks, and callers over all instances."""

    def __init__(
        self, report: Report, front: Front, fleet: list[Instance], targets: list[str], urls: int
    ) -> None:
        self.report, self.front, self.fleet = report, front, fleet
        self.targets, self.urls = targets, urls

    def callers(self, count: int, own: random.Random) -> list[Caller]:
        addresses = [instance.address for instance in self.fleet]
        return [
            Caller(addresses[at % len(addresses)], own.choice(self.targets), own.random() < 0.3)
            for at in range(count)
        ]

    def turn(self, name: str, callers: list[Caller], times: set[int]) -> None:
        """All callers at once; each URL may be requested so many times."""
        self.front.take()
        begun = time.monotonic()
        asyncio.run(call_all(callers))
        self.judge(name, callers, times, time.monotonic() - begun)

    def killed(self, name: str, callers: list[Caller], own: random.Random) -> None:
        """An instance is killed in the middle of both runs; its own callers are excused."""
        self.front.take()
        begun, victim = time.monotonic(), own.choice(self.fleet)
        address = victim.address
        work = threading.Thread(target=asyncio.run, args=(call_all(callers),))
        work.start()
        half = self.urls * len(self.targets) // 2
        until(lambda: self.front.paths.total() >= half, HANG_SECONDS)
        victim.kill()
        work.join()
        others = [caller for caller in callers if caller.address != address]
        self.judge(name, others, {1, 2}, time.monotonic() - begun)

    def judge(self, name: str, callers: list[Caller], times: set[int], seconds: float) -> None:
        report, (paths, most) = self.report, self.front.take()
        report.must(most <= MOST_IN_FLIGHT, f"{name}: at most {most} in flight by the peer's count")
        counts, expected = Counter(paths.values()), self.urls * len(self.targets) if times else 0
        is_right = set(counts) <= times and counts.total() == expected
        report.must(is_right, f"{name}: URLs by how often each was requested: {dict(counts)}")
        statuses = Counter(caller.status for caller in callers)
        report.must(set(statuses) == {200}, f"{name}: statuses {dict(statuses)}")
        for target in self.targets:
            bodies = Counter(caller.body for caller in callers if caller.target == target)
            begins = [body[-120:] for body in bodies][:3] if len(bodies) > 1 else ""
            report.must(len(bodies) == 1, f"{name}: {len(bodies)} result of {target} {begins}")
        streams = [caller for caller in callers if caller.is_stream]
        progress = min((caller.progress for caller in streams), default=0)
        waits = [caller.seconds for caller in callers]
        floor = paths.total() * self.front.delay / MOST_IN_FLIGHT
        report.figure(
            f"{name}: {seconds:.2f} s; floor {floor:.2f} s; callers p50"
            f" {quantile(waits, 50):.2f} s, max {max(waits):.2f} s; {len(streams)} streams,"
            f" the fewest progress events {progress}"
        )


def run(
    binary: pathlib.Path, instances: int, callers: int, urls: int, delay: float, seed: int
) -> None:
    report = Report(f"checks: {callers} callers, {instances} instances, seed {seed}")
    own = random.Random(seed)
    for is_killed in (False, True):
        front = Front(delay)
        with Redis() as redis, contextlib.ExitStack() as stack:
            text, targets = small_settings(front, redis.address, urls, KINDS)
            fleet = [stack.enter_context(Instance(binary, text)) for _ in range(instances)]
            wait_until_ready(fleet)
            checks = Checks(report, front, fleet, targets, urls)
            if is_killed:
                checks.killed("an instance is killed", checks.callers(callers, own), own)
            else:
                checks.turn("two types at once", checks.callers(callers, own), {1})
                checks.turn("again, from the results", checks.callers(callers, own), set())
