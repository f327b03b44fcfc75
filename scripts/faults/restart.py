"""Two instances behind a balancer, restarted in turn under load."""

import asyncio
import socket
import time

from faults.load import Steady
from faults.proxy import Proxy
from faults.report import Report
from faults.service import FILES, LIST, RESOLVE, Service, content, get, one

# Seconds between restarts, and in all; short and long.
TIMES = {False: (4, 16), True: (30, 600)}
RATE = 600
# Longer than the balancer takes to see that an instance is not ready.
DRAIN = 1500


def free_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % taken.getsockname()[1]


def start(address):
    return Service(FILES, content(200), listen=address, SERVER__DRAIN_DELAY_MS=DRAIN)


def run(long):
    asyncio.run(roll(*TIMES[long]))


async def roll(every, lasts):
    report = Report(f"a restart every {every} s for {lasts} s, at {RATE} requests/s")
    addresses = [free_address(), free_address()]
    instances = [start(address) for address in addresses]
    expected = {target: get(addresses[0], target)[2] for target in (RESOLVE, LIST, one("d7"))}
    proxy = Proxy(addresses)
    address = await proxy.start()
    await asyncio.sleep(1)

    def judge(target, status, _, body):
        return None if (status, body) == (200, expected[target]) else f"{status}: {body[:200]}"

    steady = Steady(address, [RESOLVE] * 8 + [LIST, one("d7")], judge, RATE)
    load, begun, stops = asyncio.create_task(steady.run()), time.monotonic(), []
    for n in range(lasts // every):
        await asyncio.sleep(max(0, begun + (n + 1) * every - 0.6 * every - time.monotonic()))
        at = n % 2
        stops.append(await asyncio.to_thread(instances[at].stop))
        instances[at].__exit__()
        instances[at] = await asyncio.to_thread(start, addresses[at])
    await asyncio.sleep(max(0, begun + lasts - time.monotonic()))
    steady.ended = True
    await load
    requests, seconds = len(steady.latencies), time.monotonic() - begun
    report.figure(f"{len(stops)} restarts, each stop in at most {max(s for _, s in stops):.1f} s")
    report.figure(f"{requests} requests, {requests / seconds:.0f} a second, p99 {steady.percentile(99):.1f} ms")
    report.must(all(status == 0 for status, _ in stops), "each stop had status 0")
    report.must(not steady.failures, f"{len(steady.failures)} failed {steady.failures[:3]}")
    for instance in instances:
        instance.__exit__()
