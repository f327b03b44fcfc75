"""The CMS down, slow, dripping, failing and flapping: the responses during and after."""

import statistics
import threading
import time

from common import site
from common.client import get, until
from common.wrk import wrk
from faults.cms import Cms, Mode
from faults.load import quantile
from faults.report import Report
from faults.service import STRAPI, Service

MODES: tuple[Mode, ...] = ("down", "slow", "drip", "unavailable", "flapping")
# How long an outage lasts, in seconds, short and long.
LASTS = {False: 8, True: 25}
KNOWN_DOCUMENT = site.frontend_url("d0000")
UNAVAILABLE = (503, 504)
# An open circuit breaker answers about as fast as a request that does not need the CMS; a timeout
# would take thousands of times as long.
MOST_BY_CONTROL = 20.0


def timed(address: str, target: str) -> tuple[int, float]:
    """Status and seconds."""
    begun = time.monotonic()
    status = get(address, target).status
    return status, time.monotonic() - begun


def run(long: bool) -> None:
    for mode in MODES:
        outage(mode, long)


def outage(mode: Mode, long: bool) -> None:
    report = Report(f"CMS {mode}")
    cms = Cms()
    with Service(STRAPI.format(cms=cms.address)) as service:
        report.must(service.get(site.LIST).status == 200, "a sitemap is cached")
        report.must(service.get(KNOWN_DOCUMENT).status == 200, "a document is cached")
        before = wrk(service.address, site.RESOLVE, seconds=4).p99
        cms.become(mode)
        begun = time.monotonic()
        stale: list[float] = []
        statuses: set[int] = set()
        end = begun + LASTS[long]
        requests = threading.Thread(target=request_stale, args=(service, end, stale, statuses))
        requests.start()
        if mode != "flapping":
            check_uncached(report, service)
        during = wrk(service.address, site.RESOLVE, seconds=4).p99
        requests.join()
        report.figure(
            f"/api/get-content-type: p99 {during:.2f} ms, before {before:.2f} ms:"
            f" {during / before:.2f}"
        )
        report.figure(f"{len(stale)} stale answers: p99 {quantile(stale, 99) * 1e3:.1f} ms")
        report.must(statuses == {200}, f"what is cached is answered: {sorted(statuses)}")
        seconds = time.monotonic() - begun
        report.figure(f"{cms.requests_since(begun)} requests to the CMS in {seconds:.0f} s")
        check_recovery(report, service, cms)


def request_stale(service: Service, end: float, latencies: list[float], statuses: set[int]) -> None:
    while time.monotonic() < end:
        for target in (site.LIST, KNOWN_DOCUMENT):
            status, seconds = timed(service.address, target)
            latencies.append(seconds)
            statuses.add(status)
        time.sleep(0.02)


def check_uncached(report: Report, service: Service) -> None:
    """Documents that no request has named yet: the snapshot has the URLs of all but one."""
    status, seconds = timed(service.address, site.frontend_url("d0001"))
    report.must(status == 200, f"first uncached answer: {status} after {seconds:.2f} s")
    status, seconds = timed(service.address, site.frontend_url("unknown"))
    report.must(status in UNAVAILABLE, f"unknown document: {status} after {seconds:.2f} s")
    answers, controls = [], []
    for n in range(2, 42):
        answers.append(timed(service.address, site.frontend_url(f"d{n:04}")))
        controls.append(timed(service.address, site.RESOLVE)[1])
    wrong = [status for status, _ in answers if status != 200]
    report.must(not wrong, f"then answers from the snapshot {wrong[:3]}")
    # The median: a few of them are half-open probes, which have the time of a request.
    answer = statistics.median(seconds for _, seconds in answers)
    control = statistics.median(controls)
    slowest = max(seconds for _, seconds in answers)
    report.must(
        answer <= MOST_BY_CONTROL * control,
        f"then after {answer * 1e3:.1f} ms, without the CMS {control * 1e3:.1f} ms:"
        f" {answer / control:.1f} (the slowest {slowest * 1e3:.0f} ms)",
    )


def check_recovery(report: Report, service: Service, cms: Cms) -> None:
    """The CMS returns with other content."""
    cms.become("healthy")
    cms.slugs["d0000"] = "renamed"
    begun = time.monotonic()
    requests = len(cms.requests)
    for name, target in (("the sitemap", site.LIST), ("the document", KNOWN_DOCUMENT)):
        fresh = until(lambda: b"renamed" in service.get(target).body, pause=0.05)  # noqa: B023 (ends here)
        report.must(fresh is not None, f"{name} is fresh {fresh and round(fresh, 2)} s later")
    seconds = time.monotonic() - begun
    report.figure(f"{len(cms.requests) - requests} requests to the CMS in {seconds:.1f} s")
