#!/usr/bin/env python3
"""Requests per second of `/api/get-content-type` and of batches of 50 documents, and of a bare axum
server with the same bytes.

Builds both as they are shipped, starts them on loopback, and loads them with `wrk` (Debian: wrk) in
turn, in alternating pairs. Prints, for each kind of answer, medians over the pairs of the requests
per second, of the latencies' 99th percentile and of the processor time per request by the operating
system's accounting, and their ratios (service / bare server). Ends with status 1 when an answer is
wrong or missing.
"""

import argparse
import json
import pathlib
import random
import statistics
import tempfile
from typing import NamedTuple

from common.build import build
from common.client import Answer, get, post
from common.process import Server
from common.profile import BARE_SERVER, OVERRIDES, QUERIES, ROUTE, SETTINGS, VARIABLES
from common.service import Service
from common.wrk import wrk


class Figures(NamedTuple):
    """Requests per second, 99th percentile in ms, processor time per request in µs."""

    rate: float
    p99: float
    cpu: float


class Pair(NamedTuple):
    service: Figures
    bare: Figures


class Request(NamedTuple):
    """A GET, or a POST with a body."""

    kind: str
    target: str
    body: str | None = None

    def send(self, server: Server) -> Answer:
        if self.body is None:
            return get(server.address, self.target)
        return post(server.address, self.target, self.body.encode())

    def script(self, folder: pathlib.Path) -> pathlib.Path | None:
        """What wrk sends, if it is not a GET."""
        if self.body is None:
            return None
        script = folder / "post.lua"
        script.write_text(f'wrk.method = "POST"\nwrk.body = [[{self.body}]]\n', encoding="utf-8")
        return script


# Articles of which a batch names 50, as a page with so many links does.
ARTICLES, LINKS = 10_000, 50
BATCH_SETTINGS = """
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en", "de"]
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{locale}/articles/{slug}"
"""


def batch(folder: pathlib.Path) -> Request:
    """A batch, and the settings and content for it in a folder."""
    uid, numbers = "plugin::cms.article", random.Random(50)
    ids = [
        "".join(numbers.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=24))
        for _ in range(ARTICLES)
    ]
    articles = [
        {"documentId": document, "locale": locale, "slug": f"a-slug-of-usual-length-{n}"}
        for n, document in enumerate(ids)
        for locale in ("en", "de")
    ]
    (folder / "content.json").write_text(json.dumps({uid: articles}), encoding="utf-8")
    (folder / "settings.toml").write_text(BATCH_SETTINGS, encoding="utf-8")
    links = [{"uid": uid, "documentId": one, "locale": "de"} for one in numbers.sample(ids, LINKS)]
    body = json.dumps({"documents": links}, separators=(",", ":"))
    return Request("batch", "/api/frontend-urls", body)


def load(server: Server, request: Request, options: argparse.Namespace) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        script = request.script(pathlib.Path(folder))
        before = server.cpu_seconds()
        found = wrk(
            server.address,
            request.target,
            seconds=options.seconds,
            connections=options.connections,
            script=script,
        )
    if found.socket_errors:
        raise SystemExit(f"{request.kind}: {found}")
    used = server.cpu_seconds() - before
    return Figures(found.rate, found.p99, used / found.requests * 1e6)


def pair(
    n: int, service: Server, bare: Server, request: Request, options: argparse.Namespace
) -> Pair:
    """The service is measured first, or second in every other pair."""
    if n % 2:
        second = load(bare, request, options)
        return Pair(load(service, request, options), second)
    return Pair(load(service, request, options), load(bare, request, options))


def compare(request: Request, service: Server, options: argparse.Namespace) -> None:
    with tempfile.NamedTemporaryFile() as body:
        body.write(request.send(service).body)
        body.flush()
        with Server(BARE_SERVER, body.name) as bare:
            if request.send(bare).body != request.send(service).body:
                raise SystemExit(f"{request.kind}: the bare server returns other bytes")
            pairs = [pair(n, service, bare, request, options) for n in range(options.pairs)]
    cells = []
    for column in Figures._fields:
        ours = [getattr(pair.service, column) for pair in pairs]
        bares = [getattr(pair.bare, column) for pair in pairs]
        ratio = statistics.median(one / other for one, other in zip(ours, bares, strict=True))
        cells.append((statistics.median(ours), statistics.median(bares), ratio))
    rate, p99, cpu = cells
    print(
        f"{request.kind:8} {rate[0]:>9.0f} {rate[1]:>9.0f} {rate[2]:>6.2f}"
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
    with Service(SETTINGS, OVERRIDES, variables=VARIABLES) as service:
        for kind, query in QUERIES.items():
            compare(Request(kind, f"{ROUTE}?{query}"), service, options)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        request = batch(folder)
        with Service(folder / "settings.toml") as service:
            found = request.send(service).body.count(b'"url":')
            if found != LINKS:
                raise SystemExit(f"batch: {found} URLs instead of {LINKS}")
            compare(request, service, options)


if __name__ == "__main__":
    main()
