"""Millions of mixed requests, and what the process uses over time."""

import pathlib
import threading
import time

from faults.cms import Cms
from faults.load import wrk
from faults.report import Report
from faults.service import STRAPI, Service, until

HERE = pathlib.Path(__file__).parent
# Seconds in all, and those after which memory must not grow; short and long.
TIMES = {False: (20, 10), True: (1800, 600)}
TASKS = "frontend_map_tasks"


def run(long):
    lasts, settled = TIMES[long]
    report = Report(f"mixed requests for {lasts} s")
    cms, samples = Cms(500), []
    with Service(STRAPI.format(cms=cms.address)) as service:
        ended = threading.Event()
        watching = threading.Thread(target=watch, args=(service, samples, ended, lasts / 60))
        watching.start()
        found = wrk(service.address, seconds=lasts, connections=16, script=HERE / "mixed.lua", errors=True)
        ended.set()
        watching.join()
        report.figure(f"{found['requests']:,} requests, {found['rate']:.0f} a second, p99 {found['p99']:.2f} ms, "
                      f"{found['other']:,} of them errors on purpose; the CMS was asked {len(cms.requests)} times")
        report.must(found["socket"] == 0, f"{found['socket']} socket errors")
        base = next(sample for sample in samples if sample[0] >= settled)
        # In seconds it does not settle, and goes up and down: the peak stands for it.
        before = base[1] if long else max(size for when, size, *_ in samples if when <= base[0])
        for when, memory, descriptors, tasks in samples[::6]:
            report.figure(f"{when:5.0f} s: {memory / 2**20:.1f} MiB, {descriptors} descriptors, {tasks:.0f} tasks")
        last = samples[-1]
        report.must(last[1] <= 1.10 * before, f"memory at the end {last[1] / before:.3f} of that after {base[0]:.0f} s")
        report.must(last[2] <= base[2] + 4 and last[3] <= base[3] + 4, "descriptors and tasks are flat")
        idle = until(lambda: service.metric(TASKS) < base[3], 100)
        report.figure(f"afterwards {service.descriptors()} descriptors, {service.metric(TASKS):.0f} tasks ({idle and round(idle)} s)")


def watch(service, samples, ended, every):
    begun = time.monotonic()
    while not ended.wait(every):
        samples.append((time.monotonic() - begun, service.memory(), service.descriptors(), service.metric(TASKS)))
