"""Random requests must not create new metric series."""

import pathlib

from common import site
from common.wrk import wrk
from faults.report import Report
from faults.service import FILES, Service

SCRIPT = pathlib.Path(__file__).parent / "random.lua"
REQUESTS = {False: 20_000, True: 1_000_000}


def run(long: bool) -> None:
    report = Report(f"{REQUESTS[long]:,} random requests")
    with Service(FILES, site.content(20)) as service:
        before = set(service.metrics())
        done = 0
        while done < REQUESTS[long]:
            done += wrk(service.address, seconds=5, connections=16, script=SCRIPT).requests
        after = set(service.metrics())
        report.figure(f"{done:,} requests, {len(before)} series before, {len(after)} after")
        report.must(before == after, f"the series are the same {sorted(before ^ after)[:5]}")
        counted = service.metric("frontend_map_requests_total")
        report.must(counted >= done, f"{counted:.0f} requests were counted")
