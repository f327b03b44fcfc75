#!/usr/bin/env python3
"""Latencies while other clients read long lists, and with more connections than can be served.

Builds the shipped binary, gives it a content file of many documents, and loads it with `wrk`
(Debian: wrk), which shares the machine's cores with it. Prints medians over the rounds and ratios
within one run: the latency of `/api/get-content-type` beside readers of long lists by its latency
alone, and the requests per second of it and of `/api/frontend-url` with too many connections by
those with enough.
"""

import argparse
import json
import pathlib
import statistics
import tempfile
from collections.abc import Sequence

from common import site
from common.build import build
from common.service import Service
from common.wrk import Load, Run

SETTINGS = f"""
{site.FILE_SOURCE}{site.SITE}"""
GZIP = "Accept-Encoding: gzip"
# Headers and target of each kind of reader.
READERS: dict[str, tuple[Sequence[str], str]] = {
    "gzip": ([GZIP], site.LIST),
    "plain": ([], site.LIST),
    "xml gzip": ([GZIP], site.LIST + "&xml=true"),
}
CONNECTIONS = (64, 192, 1000, 64)


def content(documents: int) -> str:
    """A content file whose slugs compress like those of a real site: their order is no pattern."""
    rows = [
        {
            "documentId": f"d{n}",
            "locale": "en",
            "slug": f"{n * 7919 % documents}-what-editors-wrote",
        }
        for n in range(documents)
    ]
    return json.dumps({site.UID: rows})


def medians(loads: list[Load]) -> tuple[float, float, float]:
    """Requests per second, 50th and 99th percentile in ms."""
    return (
        statistics.median(load.rate for load in loads),
        statistics.median(load.p50 for load in loads),
        statistics.median(load.p99 for load in loads),
    )


def load(address: str, target: str, connections: int, seconds: int) -> Load:
    run = Run(address, target, seconds=seconds, connections=connections)
    return run.finish().must_be_clean()


def beside_readers(address: str, options: argparse.Namespace) -> None:
    """Alone, and beside each kind of reader, in turn."""
    rows: dict[str, list[Load]] = {name: [] for name in ["alone", *READERS]}
    for _ in range(options.rounds):
        rows["alone"].append(load(address, site.RESOLVE, 50, options.seconds))
        for name, (headers, target) in READERS.items():
            readers = Run(
                address,
                target,
                seconds=options.seconds + 1,
                connections=options.readers,
                headers=headers,
            )
            rows[name].append(load(address, site.RESOLVE, 50, options.seconds))
            readers.finish()
    alone = medians(rows["alone"])
    print(
        f"/api/get-content-type, 50 connections, beside {options.readers} readers of"
        f" {options.documents} URLs"
    )
    for name, found in rows.items():
        rate, p50, p99 = medians(found)
        print(
            f"  {name:9} {rate:8.0f}/s ({rate / alone[0]:.2f})  p50 {p50:6.2f} ms"
            f"  p99 {p99:6.2f} ms ({p99 / alone[2]:.2f})"
        )


def overloaded(address: str, name: str, target: str, options: argparse.Namespace) -> None:
    """With more and more connections, then with as many as at first."""
    rows: list[list[Load]] = [[] for _ in CONNECTIONS]
    for _ in range(options.rounds):
        for row, connections in zip(rows, CONNECTIONS, strict=True):
            row.append(load(address, target, connections, options.seconds))
    best = max(medians(row)[0] for row in rows)
    print(name)
    for connections, row in zip(CONNECTIONS, rows, strict=True):
        rate, p50, p99 = medians(row)
        print(
            f"  {connections:4} connections {rate:8.0f}/s ({rate / best:.2f})"
            f"  p50 {p50:6.2f} ms  p99 {p99:6.2f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--readers", type=int, default=8)
    options = parser.parse_args()
    build()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        settings = folder / "settings.toml"
        settings.write_text(SETTINGS)
        (folder / "content.json").write_text(content(options.documents))
        with Service(settings) as service:
            load(service.address, site.LIST, 1, 1)
            beside_readers(service.address, options)
            overloaded(service.address, "/api/get-content-type", site.RESOLVE, options)
            document = site.frontend_url("d7")
            overloaded(service.address, "/api/frontend-url from a file", document, options)


if __name__ == "__main__":
    main()
