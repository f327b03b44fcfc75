#!/usr/bin/env python3
"""Requests per second of two builds of the service, such as before and after a change.

Starts both on loopback with 5,000 documents from a file, and loads them with `wrk` (Debian: wrk),
in alternating pairs. Prints, for each kind of request, medians over the pairs of the requests per
second, of the latencies' 99th percentile and of the processor time per request, and their ratios
(second / first), and the memory of both. Ends with status 1 if the builds answer differently.
"""

import argparse
import functools
import json
import pathlib
import statistics
import tempfile

from bench_http import Figures, Request, load
from common import site
from common.client import get, until
from common.process import Server
from common.service import Service

DOCUMENTS, LINKS = 5_000, 50
SETTINGS = """
[snapshots]
at_start = true
"""
PATH = "/en/articles/a-slug-of-usual-length-77"
BATCH = {"documents": [{"uid": site.UID, "documentId": f"d{n}"} for n in range(LINKS)]}
REQUESTS = [
    Request("pathname", f"/api/get-content-type?site=main&pathname={PATH}"),
    Request("resolve", f"/api/resolve?site=main&pathname={PATH}"),
    # Of a path that no document has, which is counted (D66).
    Request("miss", "/api/resolve?site=main&pathname=/en/articles/missing"),
    Request("url", site.frontend_url("d77")),
    Request("batch", "/api/frontend-urls", json.dumps(BATCH)),
    Request("list", site.LIST),
    Request("sitemap", "/sitemaps/main/plugin.cms.article-1.xml"),
]


def start(binary: pathlib.Path, settings: pathlib.Path) -> Service:
    return Service(settings, binary=binary)


def has_list(server: Server) -> bool:
    return get(server.address, f"/api/resolve?site=main&pathname={PATH}").status == 200


def measure(
    n: int, first: Server, second: Server, request: Request, options: argparse.Namespace
) -> tuple[Figures, Figures]:
    """The first build is measured first, or second in every other pair."""
    if n % 2:
        other = load(second, request, options)
        return load(first, request, options), other
    return load(first, request, options), load(second, request, options)


def compare(first: Server, second: Server, request: Request, options: argparse.Namespace) -> None:
    answers = [request.send(server) for server in (first, second)]
    if any(answer.status != 200 for answer in answers) or answers[0].body != answers[1].body:
        raise SystemExit(f"{request.kind}: {[(one.status, one.body[:200]) for one in answers]}")
    pairs = [measure(n, first, second, request, options) for n in range(options.pairs)]
    cells = []
    for column, digits in (("rate", 0), ("p99", 2), ("cpu", 1)):
        before = [getattr(one, column) for one, _ in pairs]
        after = [getattr(other, column) for _, other in pairs]
        ratio = statistics.median(new / old for old, new in zip(before, after, strict=True))
        medians = (statistics.median(before), statistics.median(after))
        cells.append("".join(f"{one:>9.{digits}f}" for one in medians) + f"{ratio:>7.2f}")
    print(f"{request.kind:9}{'  '.join(cells)}", flush=True)


def print_memory(when: str, first: Server, second: Server) -> None:
    cells = [
        f"{name} {before / 2**20:.1f} / {after / 2**20:.1f}"
        for name in ("RssAnon", "VmRSS", "VmHWM")
        for before, after in [(first.memory(name), second.memory(name))]
    ]
    print(f"MiB {when} the load: {', '.join(cells)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4, help="of each measurement")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("first", type=pathlib.Path)
    parser.add_argument("second", type=pathlib.Path)
    options = parser.parse_args()
    print(
        f"{options.pairs} pairs of {options.seconds} s, {options.connections} connections; medians"
    )
    print(
        "request      req/s   second  ratio     p99 ms   second  ratio     CPU µs   second  ratio"
    )
    with tempfile.TemporaryDirectory() as name:
        settings = pathlib.Path(name) / "settings.toml"
        own = site.SITE.replace("locales", 'resolve = "documents"\nlocales')
        settings.write_text(SETTINGS + site.FILE_SOURCE + own)
        (settings.parent / "content.json").write_text(site.content(DOCUMENTS))
        binaries = [one.resolve() for one in (options.first, options.second)]
        with start(binaries[0], settings) as first, start(binaries[1], settings) as second:
            for server in (first, second):
                if until(functools.partial(has_list, server)) is None:
                    raise SystemExit("there is no list")
            print_memory("before", first, second)
            for request in REQUESTS:
                compare(first, second, request, options)
            print_memory("after", first, second)


if __name__ == "__main__":
    main()
