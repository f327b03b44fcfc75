#!/usr/bin/env python3
"""Sitemaps of a million documents: seconds, memory, and whether the files are valid.

Starts the shipped binary in front of a scripted CMS that costs next to nothing (`fast_cms` in
`benches/servers`) and, for each delay of that CMS in ms, times the walk of a cold
`/api/build-sitemap` beside its floor: the same requests, sent one after the other by a bare client
that throws the bodies away. Then, on the last service: the peak memory of the process beside the
bytes of all URLs; each file that the index names, checked by `xmllint` (Debian: libxml2-utils)
against `tests/schemas`, with all URLs counted; and the requests per second of one file by `wrk`
beside a bare axum server that returns the same bytes.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request

from common import site
from common.build import bench_server, build
from common.client import get
from common.process import Server
from common.profile import ROUTE
from common.schema import violations
from common.service import Service
from common.wrk import wrk

SETTINGS = """
[cms]
url = "http://{cms}"
[limits]
walk_deadline_ms = 3600000
[snapshots]
soft_seconds = 86400
at_start = false
"""
# sitemaps.org, "Sitemap file size".
MOST_URLS, MOST_BYTES = 50_000, 50 << 20


def serve(folder: pathlib.Path, cms: Server) -> Service:
    settings = folder / "settings.toml"
    settings.write_text(SETTINGS.format(cms=cms.address) + site.SITE + site.ENDPOINT)
    return Service(settings)


def fetch(address: str, target: str) -> bytes:
    status, _, body = get(address, target, timeout=3600)
    if status != 200:
        raise SystemExit(f"{target}: status {status}")
    return body


def walk(service: Service) -> float:
    """Seconds of a cold walk. A HEAD is answered when it is over, without the list."""
    begun = time.monotonic()
    request = urllib.request.Request(f"http://{service.address}{site.LIST}", method="HEAD")
    with urllib.request.urlopen(request, timeout=3600) as answer:
        skipped = answer.headers["X-Skipped-Documents"]
        if (answer.status, skipped) != (200, "0"):
            raise SystemExit(f"status {answer.status}, {skipped} documents are skipped")
    return time.monotonic() - begun


def floor(cms: Server, documents: int) -> float:
    command: list[str | pathlib.Path] = [
        bench_server("fast_cms"),
        "read",
        cms.address,
        str(documents),
    ]
    return float(subprocess.run(command, capture_output=True, check=True).stdout)


def walks(folder: pathlib.Path, delay: int, options: argparse.Namespace) -> None:
    """Pairs of walk and floor, alternating."""
    pairs = []
    with Server(bench_server("fast_cms"), "serve", options.documents, delay) as cms:
        for _ in range(options.pairs if delay == 0 else 1):
            with serve(folder, cms) as service:
                seconds = walk(service)
            pairs.append((seconds, floor(cms, options.documents)))
    ours, floors = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    ratio = statistics.median(one / other for one, other in pairs)
    print(
        f"walk, delay {delay:>2} ms: {ours:8.2f} s, floor {floors:8.2f} s, ratio {ratio:.2f}",
        flush=True,
    )


def memory(service: Service) -> None:
    idle = service.memory("VmHWM")
    walk(service)
    urls = json.loads(fetch(service.address, site.LIST))["data"]["urls"]
    size = sum(map(len, urls))
    peak = service.memory("VmHWM")
    print(
        f"memory: {idle >> 20} MiB before, peak {peak >> 20} MiB, {service.memory() >> 20} MiB"
        f" after; URLs {size >> 20} MiB, ratio {peak / size:.2f}"
    )


def check_files(service: Service, documents: int) -> str:
    """Returns the target of the last file."""
    index = fetch(service.address, "/sitemaps/main/index.xml")
    check_schema("sitemapindex", index)
    names = re.findall(rb"<loc>[^<]*/([^/<]+)</loc>", index)
    counts = []
    for name in names:
        text = fetch(service.address, f"/sitemaps/main/{name.decode()}")
        check_schema("urlset", text)
        counts.append(text.count(b"<url>"))
        if counts[-1] > MOST_URLS or len(text) > MOST_BYTES:
            raise SystemExit(f"{name}: {counts[-1]} URLs, {len(text)} bytes")
    if sum(counts) != documents:
        raise SystemExit(f"{sum(counts)} URLs in the files, and {documents} documents")
    print(f"files: {len(names)}, all valid, {sum(counts)} URLs, at most {max(counts)} in one")
    return f"/sitemaps/main/{names[-1].decode()}"


def check_schema(schema: str, text: bytes) -> None:
    if found := violations(schema, text):
        raise SystemExit(found)


def one_file(
    service: Service, folder: pathlib.Path, target: str, options: argparse.Namespace
) -> None:
    file = folder / "file.xml"
    file.write_bytes(fetch(service.address, target))

    def rate(address: str, target: str) -> float:
        return wrk(address, target, seconds=options.seconds).must_be_clean().rate

    with Server(bench_server("bare_server"), file, "application/xml") as bare:
        pairs = [(rate(service.address, target), rate(bare.address, ROUTE)) for _ in range(5)]
    ratio = statistics.median(ours / bares for ours, bares in pairs)
    ours, bares = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    size = file.stat().st_size
    print(f"one file of {size} bytes: {ours:.0f} requests/s, bare {bares:.0f}, ratio {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--delays", default="0,5,20", help="of the CMS, in ms")
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement of a file")
    parser.add_argument("--pairs", type=int, default=3, help="of walks without a delay")
    parser.add_argument("--built", action="store_true", help="do not build first")
    options = parser.parse_args()
    if not options.built:
        build("bare_server", "fast_cms")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for delay in options.delays.split(","):
            walks(folder, int(delay), options)
        with (
            Server(bench_server("fast_cms"), "serve", options.documents, 0) as cms,
            serve(folder, cms) as service,
        ):
            memory(service)
            target = check_files(service, options.documents)
            print(f"memory after all files: {service.memory() >> 20} MiB")
            one_file(service, folder, target, options)


if __name__ == "__main__":
    main()
