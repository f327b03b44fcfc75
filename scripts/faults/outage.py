"""The CMS down, slow, dripping, failing and flapping: what callers see meanwhile and after."""

import threading
import time

from faults.cms import Cms
from faults.load import quantile, wrk
from faults.report import Report
from faults.service import LIST, RESOLVE, STRAPI, Service, get, one, until

# How long an outage lasts, in seconds, short and long.
LASTS = {False: 8, True: 25}


def timed(address, target, **headers):
    begun = time.monotonic()
    status, headers, _ = get(address, target, **headers)
    return status, headers, time.monotonic() - begun


def run(long):
    for mode in ("down", "slow", "drip", "unavailable", "flapping"):
        outage(mode, long)


def outage(mode, long):
    report = Report(f"CMS {mode}")
    cms = Cms()
    with Service(STRAPI.format(cms=cms.address)) as service:
        report.must(get(service.address, LIST)[0] == 200, "a copy is there")
        report.must(get(service.address, one("d0000"))[0] == 200, "a document was asked for")
        normal = wrk(service.address, RESOLVE, 4)["p99"]
        cms.become(mode)
        begun = time.monotonic()
        stale, statuses = [], set()
        asking = threading.Thread(target=ask_stale, args=(service, begun + LASTS[long], stale, statuses))
        asking.start()
        if mode != "flapping":
            uncached(report, service)
        during = wrk(service.address, RESOLVE, 4)["p99"]
        asking.join()
        report.figure(f"4.1: p99 {during:.2f} ms, normally {normal:.2f} ms: {during / normal:.2f}")
        report.figure(f"{len(stale)} stale answers: p99 {quantile(stale, 99) * 1e3:.1f} ms")
        report.must(statuses == {200}, f"what was known is answered: {sorted(statuses)}")
        asked = cms.asked_since(begun)
        report.figure(f"the CMS was asked {asked} times in {time.monotonic() - begun:.0f} s")
        back(report, service, cms)


def ask_stale(service, end, latencies, statuses):
    while time.monotonic() < end:
        for target in (LIST, one("d0000")):
            status, _, seconds = timed(service.address, target)
            latencies.append(seconds)
            statuses.add(status)
        time.sleep(0.02)


def uncached(report, service):
    """Documents that nobody has asked for."""
    status, _, seconds = timed(service.address, one("d0001"))
    report.must(status in (503, 504) and seconds <= 10.5, f"first uncached answer: {status} after {seconds:.2f} s")
    later = [timed(service.address, one(f"d{n:04}")) for n in range(2, 12)]
    slowest = max(seconds for _, _, seconds in later)
    report.must(all(status in (503, 504) for status, _, _ in later), "then errors")
    # One of them may be a probe, which has the time of a request.
    quick = quantile([seconds for _, _, seconds in later], 80)
    report.must(quick <= 0.010, f"then within {quick * 1e3:.1f} ms, the slowest of ten {slowest * 1e3:.1f} ms")


def back(report, service, cms):
    """The CMS returns with other content."""
    cms.become("healthy")
    cms.slugs["d0000"] = "renamed"
    begun = time.monotonic()
    asked = len(cms.requests)
    fresh = until(lambda: b"renamed" in get(service.address, LIST)[2], pause=0.05)
    report.must(fresh is not None and fresh <= 5, f"fresh {fresh and round(fresh, 2)} s after its return")
    one_fresh = until(lambda: b"renamed" in get(service.address, one("d0000"))[2], pause=0.05)
    report.must(one_fresh is not None, "and so is the document")
    report.figure(f"{len(cms.requests) - asked} requests to the CMS in {time.monotonic() - begun:.1f} s")
