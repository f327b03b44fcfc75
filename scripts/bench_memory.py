#!/usr/bin/env python3
"""The memory of the service by the number of URLs: at the start, after edits, and some time later.

Starts each binary in front of a scripted CMS that costs next to nothing (`fast_cms` in
`benches/servers`), once for each number of documents, with a path index, a history and a log of
changes. Then each document of a row of them gets another slug and a webhook. Prints a table with
the resident memory in MiB: idle before the first walk, after it, after the edits, after a rest
without requests, and the peak; in brackets without pages of files, such as those of the binary.
With several binaries, a cell has their values in this order. What the allocator has not returned
yet differs by some MiB from process to process: `--processes` takes the medians of several. How
much of it is in huge pages at the end is printed below the table.

`--reload`: instead, each binary reads documents from a file, and reloads when one of them
has changed. Prints the memory before, its peak until the new list is there, and after, beside the
size of the file and the memory of a snapshot.

`--idle`: instead, prints what a process that nobody has asked uses, with one part of the settings
each, in KiB: all of it, and what is not from a file. Starts redis-server (Debian: redis-server).
"""

import argparse
import contextlib
import json
import pathlib
import re
import signal
import statistics
import tempfile
import time
import urllib.request
from typing import NamedTuple

from common import site
from common.build import BINARY, bench_server, build
from common.client import get, until
from common.process import Server
from common.service import Service
from fleet.redis import PREFIX, Redis
from fleet.service import KEY

SETTINGS = """
[cms]
url = "http://{cms}"
page_size = 1000
[limits]
walk_deadline_ms = 3600000
[snapshots]
soft_seconds = 86400
at_start = false
ready_seconds = 0
"""
SECRET = "secret-of-the-bench"
EVENT = (
    '{{"event":"entry.publish","uid":"{uid}","entry":{{"documentId":"d{n:023}",'
    '"publishedAt":"2024-03-06T22:19:54.649Z"}}}}'
)
# Longer than an update of a list with a million documents takes.
PATIENCE = 900
# Of each part of an idle process.
STARTS = 5


class Memory(NamedTuple):
    """MiB."""

    resident: float
    # None: not known of the peak.
    own: float | None = None

    def __str__(self) -> str:
        return f"{self.resident:.0f}" + (f" ({self.own:.0f})" if self.own is not None else "")


class Pair:
    """A service and its CMS."""

    def __init__(
        self, stack: contextlib.ExitStack, binary: pathlib.Path, cms: pathlib.Path, documents: int
    ) -> None:
        self.documents = documents
        self.cms = stack.enter_context(Server(cms, "serve", documents, 0))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = folder / "settings.toml"
        site_text = site.SITE.replace("locales", 'resolve = "documents"\nlocales')
        head = SETTINGS.format(cms=self.cms.address)
        settings.write_text(head + site_text + site.ENDPOINT)
        service = Service(settings, {"HOOKS__SECRET": SECRET}, binary=binary)
        self.service = stack.enter_context(service)
        self.figures: list[Memory] = []
        self.measure()

    def measure(self) -> None:
        kib = mapped(self.service, "Rss"), mapped(self.service, "Anonymous")
        self.figures.append(Memory(*(value / 1024 for value in kib)))

    def measure_peak(self) -> None:
        self.figures.append(Memory(self.service.memory("VmHWM") / (1 << 20)))

    def walk(self) -> None:
        """A HEAD is answered when the walk is over, without the list."""
        request = urllib.request.Request(f"http://{self.service.address}{site.LIST}", method="HEAD")
        with urllib.request.urlopen(request, timeout=3600) as answer:
            if answer.status != 200:
                raise SystemExit(f"status {answer.status}")

    def edit(self, edits: int, pause: float) -> None:
        """Each edit is of another document, as far as there are enough."""
        headers = {"Authorization": f"Bearer {SECRET}"}
        hook = f"http://{self.service.address}/hooks/cms"
        for at in range(edits):
            n = at % self.documents
            get(self.cms.address, f"/edit/{n}")
            event = EVENT.format(uid=site.UID, n=n).encode()
            urllib.request.urlopen(urllib.request.Request(hook, event, headers)).close()
            time.sleep(pause)
        last = (edits - 1) % self.documents
        times = (edits - 1) // self.documents + 1
        path = f"/en/articles/a-slug-of-usual-length-{last}-{times}"
        if until(lambda: is_document(self.service.address, path), PATIENCE, 0.1) is None:
            raise SystemExit(f"{path} is not known after {PATIENCE} s")

    def huge_pages(self) -> int:
        """MiB in huge pages."""
        return mapped(self.service, "AnonHugePages") >> 10


def mapped(service: Service, name: str) -> int:
    """KiB of a kind of memory."""
    text = pathlib.Path(f"/proc/{service.pid}/smaps_rollup").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", text)
    if found is None:
        raise SystemExit(f"the kernel does not count {name}")
    return int(found[1])


def is_document(address: str, path: str) -> bool:
    answer = get(address, f"/api/resolve?site=main&pathname={path}")
    return answer.status == 200 and json.loads(answer.body)["data"]["kind"] == "document"


def reload(binary: pathlib.Path, documents: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        settings, content = folder / "settings.toml", folder / "content.json"
        head = "[snapshots]\nat_start = true\n"
        own = site.SITE.replace("locales", 'resolve = "documents"\nlocales')
        text = head + site.FILE_SOURCE + own
        settings.write_text(text)
        content.write_text(site.content(documents))

        def has(path: str) -> bool:
            return is_document(service.address, path)

        with Service(settings, binary=binary) as service:
            last = f"a-slug-of-usual-length-{documents - 1}"
            if until(lambda: has(f"/en/articles/{last}"), PATIENCE, 0.1) is None:
                raise SystemExit("there is no list")
            time.sleep(2)
            before = service.memory()
            service.reset_peak_memory()
            content.write_text(site.content(documents).replace(last, f"{last}-new"))
            service.signal(signal.SIGHUP)
            if until(lambda: has(f"/en/articles/{last}-new"), PATIENCE, 0.1) is None:
                raise SystemExit("there is no list after the reload")
            peak = service.memory("VmHWM")
            time.sleep(2)
            snapshot = int(service.metric("frontend_map_snapshot_bytes"))
            print(
                f"{binary}: reload of {documents:,} documents from a file of"
                f" {content.stat().st_size >> 20} MiB: {before >> 20} MiB before, peak"
                f" {peak >> 20}, ratio {peak / before:.2f}, {service.memory() >> 20} after;"
                f" a snapshot {snapshot >> 20}",
                flush=True,
            )


def idle(binary: pathlib.Path) -> None:
    strapi = '[cms]\nurl = "{}://127.0.0.1:9"\n[snapshots]\nat_start = false\nready_seconds = 0\n'
    files = site.FILE_SOURCE + site.SITE
    traces = '[traces]\notlp_endpoint = "http://127.0.0.1:9"\nsample_ratio = 1.0\n'
    notify = '[[notify]]\nurl = "http://127.0.0.1:9"\nsecret_file = "secret"\n'
    with Redis() as redis:
        shared = f'[shared]\nurl = "redis://{redis.address}"\nprefix = "{PREFIX}"\n'
        for name, text in {
            "documents from a file": files,
            "and a store": files + '[store]\npath = "store.redb"\n',
            "and Redis": files + shared + 'key_file = "key"\n',
            "and traces": files + traces,
            "and webhooks": files + notify,
            "Strapi over http": strapi.format("http") + site.SITE + site.ENDPOINT,
            "Strapi over https": strapi.format("https") + site.SITE + site.ENDPOINT,
        }.items():
            starts = [idle_memory(binary, text) for _ in range(STARTS)]
            resident, own = (statistics.median(column) for column in zip(*starts, strict=True))
            print(f"{name:24} {resident:>7.0f} {own:>7.0f}", flush=True)


def idle_memory(binary: pathlib.Path, text: str) -> tuple[int, int]:
    """Resident KiB some seconds after the start, and those that are not from a file."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, content in {
            "settings.toml": text,
            "content.json": site.content(10),
            "key": KEY,
            "secret": "whsec_" + "A" * 44,
        }.items():
            (folder / file).write_text(content)
        with Service(folder / "settings.toml", binary=binary) as service:
            service.wait_until(lambda: get(service.address, "/readyz").status == 200)
            time.sleep(3)
            return mapped(service, "Rss"), mapped(service, "Anonymous")


def median(figures: tuple[Memory, ...]) -> Memory:
    own = [memory.own for memory in figures if memory.own is not None]
    resident = statistics.median(memory.resident for memory in figures)
    return Memory(resident, statistics.median(own) if own else None)


def report(rows: list[list[list[Pair]]], edits: int, rest: float) -> None:
    print(f"| URLs | idle | at the start | after {edits:,} edits | {rest:.0f} s later | peak |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        binaries = [
            [median(column) for column in zip(*(pair.figures for pair in pairs), strict=True)]
            for pairs in row
        ]
        cells = [" / ".join(map(str, column)) for column in zip(*binaries, strict=True)]
        print(f"| {row[0][0].documents:,} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,5000,50000,1000000", help="numbers of documents")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two edits")
    parser.add_argument("--rest", type=float, default=600, help="seconds before the last look")
    parser.add_argument("--processes", type=int, default=1, help="of each binary and size")
    parser.add_argument("--reload", action="store_true", help="of documents from a file")
    parser.add_argument("--idle", action="store_true", help="what each part of the settings uses")
    parser.add_argument("--cms", type=pathlib.Path, help="default: that of benches/servers, built")
    parser.add_argument(
        "binaries", nargs="*", type=pathlib.Path, help="default: the build that is shipped"
    )
    options = parser.parse_args()
    if not options.binaries or (options.cms is None and not options.reload and not options.idle):
        build("fast_cms")
    cms = (options.cms or bench_server("fast_cms")).resolve()
    binaries = [binary.resolve() for binary in options.binaries or [BINARY]]
    if options.idle:
        for binary in binaries:
            idle(binary)
        return
    if options.reload:
        for documents in options.sizes.split(","):
            for binary in binaries:
                reload(binary, int(documents))
        return
    with contextlib.ExitStack() as stack:
        rows = [
            [
                [Pair(stack, binary, cms, int(documents)) for _ in range(options.processes)]
                for binary in binaries
            ]
            for documents in options.sizes.split(",")
        ]
        pairs = [pair for row in rows for processes in row for pair in processes]
        for pair in pairs:
            pair.walk()
            pair.measure()
        for pair in pairs:
            pair.edit(options.edits, options.pause)
        for pair in pairs:
            pair.measure()
        time.sleep(options.rest)
        for pair in pairs:
            pair.measure()
            pair.measure_peak()
        report(rows, options.edits, options.rest)
        print("MiB in huge pages:", *(pair.huge_pages() for pair in pairs))


if __name__ == "__main__":
    main()
