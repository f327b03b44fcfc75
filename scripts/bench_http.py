#!/usr/bin/env python3
"""Requests per second of `/api/get-content-type` and of a bare axum server with the same bytes.

Builds both as they are shipped, starts them on loopback, and loads them with `wrk` (Debian: wrk) in
turn, in alternating pairs. Prints, for each kind of answer, medians over the pairs of the requests
per second, of the latencies' 99th percentile and of the processor time per request by the operating
system's accounting, and their ratios (service / bare server). Ends with status 1 when an answer is
wrong or missing.
"""

import argparse
import statistics
import tempfile
from typing import NamedTuple

from common.build import build
from common.client import get
from common.process import Process
from common.profile import BARE_SERVER, ENVIRONMENT, QUERIES, ROUTE, SERVICE
from common.wrk import wrk


class Figures(NamedTuple):
    """Requests per second, 99th percentile in ms, processor time per request in µs."""

    rate: float
    p99: float
    cpu: float


class Pair(NamedTuple):
    service: Figures
    bare: Figures


def load(server: Process, query: str, options: argparse.Namespace) -> Figures:
    before = server.cpu_seconds()
    found = wrk(
        server.address,
        f"{ROUTE}?{query}",
        seconds=options.seconds,
        connections=options.connections,
    )
    if found.socket_errors:
        raise SystemExit(f"{query}: {found}")
    used = server.cpu_seconds() - before
    return Figures(found.rate, found.p99, used / found.requests * 1e6)


def pair(n: int, service: Process, bare: Process, query: str, options: argparse.Namespace) -> Pair:
    """The service is measured first, or second in every other pair."""
    if n % 2:
        second = load(bare, query, options)
        return Pair(load(service, query, options), second)
    return Pair(load(service, query, options), load(bare, query, options))


def compare(kind: str, service: Process, options: argparse.Namespace) -> None:
    query = QUERIES[kind]
    target = f"{ROUTE}?{query}"
    with tempfile.NamedTemporaryFile() as body:
        body.write(get(service.address, target).body)
        body.flush()
        with Process(BARE_SERVER, body.name) as bare:
            if get(bare.address, target).body != get(service.address, target).body:
                raise SystemExit(f"{kind}: the bare server returns other bytes")
            pairs = [pair(n, service, bare, query, options) for n in range(options.pairs)]
    cells = []
    for column in Figures._fields:
        ours = [getattr(pair.service, column) for pair in pairs]
        bares = [getattr(pair.bare, column) for pair in pairs]
        ratio = statistics.median(one / other for one, other in zip(ours, bares, strict=True))
        cells.append((statistics.median(ours), statistics.median(bares), ratio))
    rate, p99, cpu = cells
    print(
        f"{kind:8} {rate[0]:>9.0f} {rate[1]:>9.0f} {rate[2]:>6.2f}"
        f"   {p99[0]:>7.2f} {p99[1]:>7.2f} {p99[2]:>6.2f}"
        f"   {cpu[0]:>6.1f} {cpu[1]:>6.1f} {cpu[2]:>6.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4, help="of each measurement")
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    build("bare_server")
    print(
        f"{options.pairs} pairs of {options.seconds} s, {options.connections} connections; medians"
    )
    print("answer    req/s     bare     ratio   p99 ms    bare  ratio   CPU µs   bare  ratio")
    with Process(*SERVICE, environment=ENVIRONMENT) as service:
        for kind in QUERIES:
            compare(kind, service, options)


if __name__ == "__main__":
    main()
