"""Millions of mixed requests, and what the process uses over time."""

import pathlib
import statistics
import threading
import time
from typing import NamedTuple

from common.client import until
from common.wrk import wrk
from faults.cms import Cms
from faults.report import Report
from faults.service import STRAPI, Service

SCRIPT = pathlib.Path(__file__).parent / "mixed.lua"
# Seconds in all, and those after which memory must not grow; short and long.
TIMES = {False: (20, 10), True: (1800, 600)}
TASKS = "frontend_map_tasks"
MOST_GROWTH = 1.10
CLIENTS = 16
# At most a connection for each client, and one to the CMS for its request.
MOST_MORE = 2 * CLIENTS
# Descriptors and tasks that come and go with the samples themselves.
SLACK = 4


class Sample(NamedTuple):
    seconds: float
    memory: int
    descriptors: int
    tasks: float


def run(long: bool) -> None:
    lasts, settled = TIMES[long]
    report = Report(f"mixed requests for {lasts} s")
    cms = Cms(500)
    samples: list[Sample] = []
    with Service(STRAPI.format(cms=cms.address)) as service:
        idle = take_sample(service, 0)
        ended = threading.Event()
        watching = threading.Thread(target=watch, args=(service, samples, ended, lasts / 60))
        watching.start()
        found = wrk(service.address, seconds=lasts, connections=CLIENTS, script=SCRIPT)
        ended.set()
        watching.join()
        report.figure(
            f"{found.requests:,} requests, {found.rate:.0f} a second, p99 {found.p99:.2f} ms, "
            f"{found.not_2xx:,} of them errors on purpose; {len(cms.requests)} requests to the CMS"
        )
        report.must(found.socket_errors == 0, f"{found.socket_errors} socket errors")
        base = next(sample for sample in samples if sample.seconds >= settled)
        for sample in samples[::6]:
            report.figure(
                f"{sample.seconds:5.0f} s: {sample.memory / 2**20:.1f} MiB,"
                f" {sample.descriptors} descriptors, {sample.tasks:.0f} tasks"
            )
        # In seconds it does not settle, and goes up and down: the peak stands for it.
        early = [sample for sample in samples if sample.seconds <= base.seconds]
        before = base.memory if long else max(sample.memory for sample in early)
        growth = samples[-1].memory / before
        report.must(
            growth <= MOST_GROWTH,
            f"memory at the end {growth:.3f} of that after {base.seconds:.0f} s",
        )
        # They follow the requests of the moment: the middle of the last ones, not a single one.
        late = samples[-len(samples) // 4 :]
        descriptors = statistics.median(descriptors_of(late)) - idle.descriptors
        tasks = statistics.median(tasks_of(late)) - idle.tasks
        report.must(
            max(descriptors, tasks) <= MOST_MORE + SLACK,
            f"{descriptors:.0f} descriptors and {tasks:.0f} tasks more at the end than before",
        )
        if long:
            earlier = samples[-len(samples) // 2 : -len(samples) // 4]
            rises = [
                statistics.median(values(late)) - statistics.median(values(earlier))
                for values in (descriptors_of, tasks_of)
            ]
            report.must(max(rises) <= SLACK, f"{rises} more than in the quarter before: flat")
        ended_in = until(lambda: service.metric(TASKS) < base.tasks, 120)
        report.must(ended_in is not None, "fewer tasks without requests")
        report.must(service.descriptors() <= base.descriptors, "no more descriptors afterwards")


def descriptors_of(samples: list[Sample]) -> list[float]:
    return [sample.descriptors for sample in samples]


def tasks_of(samples: list[Sample]) -> list[float]:
    return [sample.tasks for sample in samples]


def watch(service: Service, samples: list[Sample], ended: threading.Event, every: float) -> None:
    begun = time.monotonic()
    while not ended.wait(every):
        samples.append(take_sample(service, time.monotonic() - begun))


def take_sample(service: Service, seconds: float) -> Sample:
    tasks = service.metric(TASKS)
    return Sample(seconds, service.memory(), service.descriptors(), tasks)
