"""Settings that change under load, every second time to something broken."""

import asyncio
import signal
import statistics
import time

from common import site
from common.client import get, until
from faults.load import Steady
from faults.report import Report
from faults.service import Service

# Memory settles within the first hundred.
RELOADS = {False: 300, True: 1000}
RATE = 500
# Between reloads, so that requests meet each version.
PAUSE_SECONDS = 0.03
# Memory of the last reloads by that of the second quarter of the first turn.
MOST_GROWTH = 1.2
# Memory goes up and down with what the allocator keeps. If it seems to grow, it must stop to do so
# within this many turns.
MOST_TURNS = 4
# Each version in all of its parts: no answer may have parts of two.
SETTINGS = """
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
front_end_url = "https://{name}.example.com"
locales = ["en"]
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{name}/{{slug}}"
[[site.rule]]
content_type = "plugin::cms.page"
template = "/pages/{name}/{{slug}}"
"""
BROKEN = (
    "[[site",
    "nonsense = true",
    '[[site]]\nkey = "main"\nlocales = ["en"]\n[[site.rule]]\ntemplate = "/{"\n',
)
NAMES = ("one", "two")
TARGETS = [
    *(
        f"/api/get-content-type?site=main&pathname=/{name}/a-slug-of-usual-length-0"
        for name in NAMES
    ),
    site.frontend_url("d0"),
    site.LIST,
    f"{site.LIST}&xml=true",
]
# Status and body of each target.
Version = dict[str, tuple[int, bytes]]


def version(service: Service) -> Version:
    found = {target: get(service.address, target) for target in TARGETS}
    return {target: (answer.status, answer.body) for target, answer in found.items()}


def run(long: bool) -> None:
    asyncio.run(reload(RELOADS[long]))


async def reload(count: int) -> None:
    report = Report(f"{count} reloads, every second one broken, at {RATE} requests/s")
    with Service(SETTINGS.format(name="two"), site.content(2)) as service:
        versions = {"two": version(service)}
        swap(service, SETTINGS.format(name="one"), 1)
        versions["one"] = version(service)
        refused_before = reloads(service, "refused")
        memory: list[int] = []

        def judge(target: str, status: int, headers: dict[str, str], body: bytes) -> str | None:
            known = any(version[target] == (status, body) for version in versions.values())
            return None if known else f"{status}: {body[:200]!r}"

        steady = Steady(service.address, TARGETS, judge, RATE)
        load, begun = asyncio.create_task(steady.run()), time.monotonic()
        wrong = await asyncio.to_thread(reload_until_flat, service, versions, count, memory)
        steady.ended = True
        await load
        requests, seconds = len(steady.latencies), time.monotonic() - begun
        report.figure(
            f"{len(memory) / seconds:.0f} reloads and {requests / seconds:.0f} requests a second, "
            f"p99 {steady.p99():.1f} ms"
        )
        tenths = [size >> 20 for size in memory[:: max(1, len(memory) // 10)]]
        report.figure(f"memory in MiB after each tenth: {tenths}")
        grown = growth(memory, count)
        report.must(grown <= MOST_GROWTH, f"memory is flat: {grown:.2f} of that after a quarter")
        failures = f"{len(steady.failures)} of {requests} failed or mixed {steady.failures[:3]}"
        report.must(not steady.failures, failures)
        report.must(not wrong, f"each reload has its settings, a broken one the last {wrong[:3]}")
        refused = reloads(service, "refused") - refused_before
        report.must(refused == len(memory) // 2, f"{refused:.0f} broken ones in the metric")


def growth(memory: list[int], count: int) -> float:
    """Memory at the end by that of the second quarter of the first turn."""
    # Medians: a single value goes up and down with the load.
    quarter = count // 4
    return statistics.median(memory[-quarter:]) / statistics.median(memory[quarter : 2 * quarter])


def reloads(service: Service, outcome: str) -> float:
    return service.metric("frontend_map_reloads_total", outcome=outcome)


def swap(service: Service, text: str, seen: int) -> None:
    """Reloads, and waits until the service has counted so many reloads in all."""
    service.settings.write_text(text)
    service.signal(signal.SIGHUP)

    def is_counted() -> bool:
        return reloads(service, "applied") + reloads(service, "refused") >= seen

    if until(is_counted, pause=0.002) is None:
        raise SystemExit("a reload was not counted")


def reload_until_flat(
    service: Service, versions: dict[str, Version], count: int, memory: list[int]
) -> list[tuple[int, str]]:
    """Turns of so many reloads, until memory is flat; what was wrong in any of them."""
    wrong = reload_all(service, versions, count, memory)
    while growth(memory, count) > MOST_GROWTH and len(memory) < MOST_TURNS * count:
        wrong += reload_all(service, versions, count, memory)
    return wrong


def reload_all(
    service: Service, versions: dict[str, Version], count: int, memory: list[int]
) -> list[tuple[int, str]]:
    """The reloads after which answers were not of the version that they should be of."""
    # A turn ends with the version with which it began.
    wrong, current, seen = [], "one", len(memory) + 1
    for n in range(count):
        seen += 1
        if n % 2 == 1:
            swap(service, BROKEN[n // 2 % len(BROKEN)], seen)
        else:
            current = NAMES[1 - NAMES.index(current)]
            swap(service, SETTINGS.format(name=current), seen)
        if version(service) != versions[current]:
            wrong.append((n, current))
        memory.append(service.memory())
        time.sleep(PAUSE_SECONDS)
    return wrong
