"""Two instances behind a balancer, restarted in turn under load."""

import asyncio
import time

from common import site
from common.client import free_port, get
from faults.load import Steady
from faults.proxy import Proxy
from faults.report import Report
from faults.service import FILES, Service

# Seconds between restarts, and in all; short and long.
TIMES = {False: (7, 21), True: (30, 600)}
RATE = 600
# Many times what the balancer takes to see that an instance is not ready.
DRAIN_MS = 4000


def start(address: str) -> Service:
    content = site.content(200)
    overrides = {"SERVER__LISTEN": address, "SERVER__DRAIN_DELAY_MS": DRAIN_MS}
    return Service(FILES, content, overrides)


def run(long: bool) -> None:
    asyncio.run(restart_in_turn(*TIMES[long]))


async def restart_in_turn(every: int, lasts: int) -> None:
    report = Report(f"a restart every {every} s for {lasts} s, at {RATE} requests/s")
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    instances = [start(address) for address in addresses]
    targets = (site.RESOLVE, site.LIST, site.frontend_url("d7"))
    expected = {target: get(addresses[0], target).body for target in targets}
    proxy = Proxy(addresses)
    address = await proxy.start()
    while not all(proxy.ready.values()):
        await asyncio.sleep(0.01)

    def judge(target: str, status: int, headers: dict[str, str], body: bytes) -> str | None:
        is_right = (status, body) == (200, expected[target])
        return None if is_right else f"{status}: {body[:200]!r}"

    steady = Steady(address, [site.RESOLVE] * 8 + list(targets[1:]), judge, RATE)
    load, begun = asyncio.create_task(steady.run()), time.monotonic()
    stops = []
    for n in range(lasts // every):
        await asyncio.sleep(max(0, begun + (n + 0.4) * every - time.monotonic()))
        at = n % 2
        stops.append(await asyncio.to_thread(instances[at].stop_timed))
        instances[at].__exit__()
        instances[at] = await asyncio.to_thread(start, addresses[at])
        # Until the balancer has seen it, the other one must not stop.
        while not proxy.ready[addresses[at]]:
            await asyncio.sleep(0.01)
    await asyncio.sleep(max(0, begun + lasts - time.monotonic()))
    steady.ended = True
    await load
    requests, seconds = len(steady.latencies), time.monotonic() - begun
    slowest = max(seconds for _, seconds in stops)
    report.figure(f"{len(stops)} restarts, each stop in at most {slowest:.1f} s")
    rate = requests / seconds
    report.figure(f"{requests} requests, {rate:.0f} a second, p99 {steady.p99():.1f} ms")
    report.must(all(status == 0 for status, _ in stops), "each stop had status 0")
    report.must(not steady.failures, f"{len(steady.failures)} failed {steady.failures[:3]}")
    for instance in instances:
        instance.__exit__()
