"""Settings that change under load, every second time to something broken."""

import asyncio
import statistics
import time

from faults.load import Steady
from faults.report import Report
from faults.service import UID, Service, get, one, until

# Memory settles within the first hundred.
RELOADS = {False: 300, True: 1000}
RATE = 500
# Between reloads, so that requests meet each version.
PAUSE = 0.03
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
CONTENT = f'{{"{UID}":[{{"documentId":"d0","locale":"en","slug":"s0"}},{{"documentId":"d1","locale":"en","slug":"s1"}}]}}'
BROKEN = ("[[site", "nonsense = true", '[[site]]\nkey = "main"\nlocales = ["en"]\n[[site.rule]]\ntemplate = "/{"\n')
NAMES = ("one", "two")
TARGETS = [f"/api/get-content-type?site=main&pathname=/{name}/s0" for name in NAMES]
TARGETS += [one("d0"), f"/api/build-sitemap?site=main&contentType={UID}",
            f"/api/build-sitemap?site=main&contentType={UID}&xml=true"]


def answers(service):
    return {target: get(service.address, target)[::2] for target in TARGETS}


def run(long):
    asyncio.run(reload(RELOADS[long]))


async def reload(count):
    report = Report(f"{count} reloads, every second one broken, at {RATE} requests/s")
    with Service(SETTINGS.format(name="two"), CONTENT) as service:
        versions = {"two": answers(service)}
        swap(service, SETTINGS.format(name="one"), 1)
        versions["one"] = answers(service)
        failed_before, memory = reloads(service, "refused"), []

        def judge(target, status, _, body):
            known = any(version[target] == (status, body) for version in versions.values())
            return None if known else f"{status}: {body[:200]}"

        steady = Steady(service.address, TARGETS, judge, RATE)
        load, begun = asyncio.create_task(steady.run()), time.monotonic()
        wrong = await asyncio.to_thread(reload_all, service, versions, count, memory)
        steady.ended = True
        await load
        requests, seconds = len(steady.latencies), time.monotonic() - begun
        report.figure(f"{count / seconds:.0f} reloads and {requests / seconds:.0f} requests a second, "
                      f"p99 {steady.percentile(99):.1f} ms")
        tenths = [size >> 20 for size in memory[::max(1, count // 10)]]
        report.figure(f"memory in MiB after each tenth: {tenths}")
        # The second quarter beside the last one; a single value goes up and down with the load.
        quarter = count // 4
        early, late = (statistics.median(memory[at:at + quarter]) for at in (quarter, count - quarter))
        report.must(late <= 1.2 * early, f"memory is flat: {late / early:.2f} of that after a quarter")
        report.must(not steady.failures, f"{len(steady.failures)} of {requests} failed or mixed {steady.failures[:3]}")
        report.must(not wrong, f"after a reload its settings hold, after a broken one the old ones {wrong[:3]}")
        failed = reloads(service, "refused") - failed_before
        report.must(failed == count // 2, f"{failed:.0f} broken ones in the metric")


def reloads(service, outcome):
    return service.metric("frontend_map_reloads_total", outcome=outcome)


def swap(service, text, seen):
    """Reloads, and waits until the service has counted so many reloads in all."""
    service.settings.write_text(text)
    service.signal("HUP")
    counted = until(lambda: reloads(service, "applied") + reloads(service, "refused") >= seen, pause=0.002)
    if counted is None:
        raise SystemExit("a reload was not counted")


def reload_all(service, versions, count, memory):
    wrong, current, seen = [], "one", 1
    for n in range(count):
        broken = n % 2 == 1
        if not broken:
            current = NAMES[1 - NAMES.index(current)]
        seen += 1
        swap(service, BROKEN[n // 2 % len(BROKEN)] if broken else SETTINGS.format(name=current), seen)
        if answers(service) != versions[current]:
            wrong.append((n, current))
        memory.append(service.memory())
        time.sleep(PAUSE)
    return wrong
