#!/usr/bin/env python3
"""Checks of many URLs: seconds beside the floor, cost, and both beside another link checker.

Starts the shipped binary in front of a scripted CMS (`fast_cms` in `benches/servers`) and a
scripted front end (`slow_site`), a healthy one and a mixed one, with pages of each size. For each
it prints the seconds of `validate=true` as a ratio to the floor, which is URLs / 10 times the
delay; CPU time per URL and peak memory of the process, and the part of it that was there before
the run; and what the front end saw. `--bare` adds the seconds of a bare client with ten
connections. If `lychee` is on the PATH, it checks the same URLs at the same concurrency, without
redirects and retries, in the same run.

With `--content` the pages are HTML, and the same site is checked with and without `content=true`.

With `--memory N` it checks N URLs without a delay instead, and prints the memory of the process
before, at each tenth, and after.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from typing import NamedTuple

from common import site
from common.build import bench_server, build
from common.process import NOWHERE, Process, Server
from common.service import Service

SETTINGS = """
[cms]
url = "http://{cms}"
[limits]
walk_deadline_ms = 3600000
[snapshots]
soft_seconds = 86400
at_start = false
[validation]
deadline_seconds = 86400
reuse_seconds = 0
"""
PATH = "/en/articles/a-slug-of-usual-length-"
MIB = 1 << 20


class Run(NamedTuple):
    """Wall clock and CPU in seconds, peak memory and that before the run in bytes."""

    seconds: float
    cpu: float
    peak: int
    before: int


class Seen(NamedTuple):
    """What the front end saw since it was last asked."""

    connections: int
    requests: int
    most_in_flight: int


def seen(front_end: Server) -> Seen:
    return Seen(*map(int, front_end.ask().split()))


def read(address: str, target: str) -> str:
    """Reads an answer to its end and keeps the beginning."""
    with urllib.request.urlopen(f"http://{address}{target}") as answer:
        begin: bytes = answer.read(4096)
        while answer.read(MIB):
            pass
        return begin.decode()


def serve(cms: Server, front_end: Server, folder: pathlib.Path) -> Service:
    settings = folder / "settings.toml"
    of_site = site.SITE.replace("https://www.example.com", f"http://{front_end.address}")
    settings.write_text(SETTINGS.format(cms=cms.address) + of_site + site.ENDPOINT)
    service = Service(settings)
    read(service.address, site.LIST)
    return service


def validate(
    cms: Server, front_end: Server, urls: int, folder: pathlib.Path, more: str = ""
) -> Run:
    with serve(cms, front_end, folder) as service:
        service.reset_peak_memory()
        before, cpu, begun = service.memory(), service.cpu_seconds(), time.monotonic()
        begin = read(service.address, site.LIST + "&validate=true" + more)
        seconds, cpu = time.monotonic() - begun, service.cpu_seconds() - cpu
        if f'"count":{urls},' not in begin:
            raise SystemExit(f"not {urls} URLs: {begin[:200]}")
        return Run(seconds, cpu, service.memory("VmHWM"), before)


def lychee(front_end: Server, urls: int, folder: pathlib.Path) -> Run:
    links = folder / "links.txt"
    links.write_text("".join(f"http://{front_end.address}{PATH}{n}\n" for n in range(urls)))
    command = f"""lychee --no-progress --max-concurrency 10 --host-concurrency 10
        --host-request-interval 0ms --max-redirects 0 --max-retries 0 --timeout 10
        --format json --output {folder}/lychee.json {links}""".split()
    begun = time.monotonic()
    process = Process(*command, stdout=NOWHERE)
    _, _, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    process.kill()
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, 0)


def show(name: str, runs: list[Run], found: Seen, urls: int, floor: float) -> None:
    seconds = statistics.median(run.seconds for run in runs)
    cpu = statistics.median(run.cpu for run in runs) / urls * 1e6
    peak, before = max(run.peak for run in runs), max(run.before for run in runs)
    ratio = f"{seconds / floor:.3f} x floor" if floor else "no floor"
    print(
        f"  {name:<13} {seconds:8.3f} s, {ratio}, {cpu:6.1f} us CPU a URL,"
        f" {peak / MIB:6.1f} MiB peak ({before / MIB:.1f} before)"
        f"  (saw {found.connections} connections, {found.requests} requests,"
        f" at most {found.most_in_flight} at once)",
        flush=True,
    )


def compare(
    cms: Server, options: argparse.Namespace, kind: str, size: str, folder: pathlib.Path
) -> None:
    urls, runs = options.urls, range(options.runs)
    floor = urls / 10 * options.delay / 1000
    print(f"{kind} site, pages of {size} bytes, {urls} URLs, {options.delay} ms", flush=True)
    with Server(bench_server("slow_site"), "serve", options.delay, size, kind) as front_end:
        ours = [validate(cms, front_end, urls, folder) for _ in runs]
        show("frontend-map", ours, seen(front_end), urls, floor)
        if options.content:
            judged = [validate(cms, front_end, urls, folder, "&content=true") for _ in runs]
            show("with content", judged, seen(front_end), urls, floor)
            ratio = [statistics.median(run.seconds for run in runs) for runs in (judged, ours)]
            print(f"  content costs {ratio[0] / ratio[1]:.3f} x the time", flush=True)
        if shutil.which("lychee"):
            theirs = [lychee(front_end, urls, folder) for _ in runs]
            show("lychee", theirs, seen(front_end), urls, floor)
        if options.bare and kind == "healthy":
            command: list[str | pathlib.Path] = [
                bench_server("slow_site"),
                "ask",
                front_end.address,
                str(urls),
                PATH,
            ]
            bare = float(subprocess.run(command, check=True, capture_output=True).stdout)
            print(f"  bare client   {bare:8.3f} s", flush=True)


def memory(cms: Server, urls: int, folder: pathlib.Path) -> None:
    """Memory while many URLs are checked."""
    with (
        Server(bench_server("slow_site"), "serve", 0, 1000, "mixed") as front_end,
        serve(cms, front_end, folder) as service,
    ):
        service.reset_peak_memory()
        print(f"{urls} URLs: {service.memory() / MIB:.1f} MiB before", flush=True)
        cpu, begun = service.cpu_seconds(), time.monotonic()
        target = site.LIST + "&validate=true"
        work = threading.Thread(target=read, args=(service.address, target))
        work.start()
        requests, tenth = 0, 1
        while work.is_alive():
            time.sleep(0.05)
            requests += seen(front_end).requests
            if requests >= urls * tenth // 10:
                print(f"  {requests:>9} requests: {service.memory() / MIB:.1f} MiB", flush=True)
                tenth = requests * 10 // urls + 1
        seconds, cpu = time.monotonic() - begun, service.cpu_seconds() - cpu
        now, peak = service.memory(), service.memory("VmHWM")
        print(
            f"  after: {now / MIB:.1f} MiB, peak {peak / MIB:.1f} MiB;"
            f" {seconds:.1f} s, {cpu / urls * 1e6:.1f} us CPU a URL",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=10_000)
    parser.add_argument("--delay", type=int, default=50, help="of the front end, in ms")
    parser.add_argument("--sizes", default="10000,200000", help="of pages, in bytes")
    parser.add_argument("--kinds", default="healthy,mixed", help="of front ends")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--content", action="store_true")
    parser.add_argument("--memory", type=int, default=0, metavar="N")
    options = parser.parse_args()
    build("fast_cms", "slow_site")
    documents = options.memory or options.urls
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with Server(bench_server("fast_cms"), "serve", documents, 0) as cms:
            if options.memory:
                memory(cms, options.memory, folder)
                return
            kinds = "html" if options.content else options.kinds
            for size in options.sizes.split(","):
                for kind in kinds.split(","):
                    compare(cms, options, kind, size, folder)


if __name__ == "__main__":
    main()
