#!/usr/bin/env python3
"""What a walk costs a real Strapi: seconds, requests, and how long its other clients wait.

Starts the Strapi of `tests/strapi` with many articles in three locales, and compares, in the same
run and in turns, a walk of the shipped binary with a bare keyset walker of a few lines that
requests the same fields one page after the other, without totals. Meanwhile one client reads
single articles, as an editor's panel or a frontend would: its latencies are shown without a walk,
beside the bare walk and beside ours. At the end, four sites with the same content type: the
requests show how many walks they cause. Requests are counted in Strapi's own log.

`--links` compares instead the walks of the service with and without links in content: a first walk,
and one that is asked for while the content is being read.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
from types import TracebackType
from typing import NamedTuple, Self

from common.build import BINARY, build
from common.client import until
from common.service import Service
from strapi.fixture import FOLDER, READ_TOKEN, Strapi

UID, ENDPOINT = "api::article.article", "/api/articles"
LOCALES = ("en", "de", "fr")
PAGE = 100
PG_PORT = os.environ.get("PGPORT", "55432")
# The pause of the reading client between two requests, in seconds.
PAUSE = 0.02
SETTINGS = """
[cms]
url = "{url}"
{page_size}
[limits]
cms_request_ms = 60000
walk_deadline_ms = 3600000
[snapshots]
soft_seconds = 86400
at_start = false
"""
SITE = """
[[site]]
key = "site{number}"
front_end_url = "https://www{number}.example.com"
locales = ["en", "de", "fr"]
[[site.rule]]
content_type = "api::article.article"
template = "/{{locale}}/articles/{{slug}}"
"""


LINKS = """
[[site.links]]
content_type = "api::article.article"
fields = ["body"]
"""
SECRET = "secret-of-the-bench"
BUILT, PATIENCE = re.compile(r"a snapshot is built .* seconds=([\d.]+)"), 600


class Requests(NamedTuple):
    """Lists of articles, and how many of them had a total."""

    lists: int
    with_total: int

    def __str__(self) -> str:
        return f"{self.lists} requests, {self.with_total} with a total"


class Walk(NamedTuple):
    seconds: float
    requests: Requests
    latencies: list[float]


class Reader:
    """Reads one article after the other in a thread, until the end of its `with` block."""

    def __init__(self, strapi: Strapi, articles: list[str]) -> None:
        self.connection = connect(strapi)
        self.articles = articles
        self.latencies: list[float] = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.read)

    def read(self) -> None:
        number = 0
        while not self.ended.wait(PAUSE):
            begun = time.monotonic()
            article = self.articles[number % len(self.articles)]
            send(self.connection, f"{ENDPOINT}/{article}?fields[0]=title")
            self.latencies.append((time.monotonic() - begun) * 1000)
            number += 1

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended.set()
        self.thread.join()


class Log:
    """Strapi's log of its requests, from where it was last read."""

    def __init__(self, strapi: Strapi) -> None:
        self.file = lab() / f".tmp/strapi-{strapi.environment['PORT']}.log"
        self.read = 0

    def requests(self) -> Requests:
        """The lists of articles since the last call."""
        text = self.file.read_bytes()[self.read :].decode("utf-8", errors="replace")
        self.read += len(text.encode())
        lists = [line for line in text.splitlines() if f"GET {ENDPOINT}?" in line]
        with_total = [line for line in lists if "withCount]=false" not in line]
        return Requests(len(lists), len(with_total))


def lab() -> pathlib.Path:
    return pathlib.Path(os.environ.get("LAB_DIR", pathlib.Path.home() / ".cache/strapi-lab"))


def connect(strapi: Strapi) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(strapi.url.removeprefix("http://"), timeout=600)


def send(connection: http.client.HTTPConnection, target: str) -> bytes:
    connection.request("GET", target, headers={"Authorization": f"Bearer {READ_TOKEN}"})
    with connection.getresponse() as response:
        body = response.read()
        if response.status not in (200, 404):
            raise SystemExit(f"{target}: status {response.status}: {body[:500]!r}")
    return body


def bare_walk(strapi: Strapi) -> int:
    """The rows that a keyset walk over each locale finds."""
    connection, rows = connect(strapi), 0
    for locale in LOCALES:
        key, page = "", list[dict[str, str]]([{}] * PAGE)
        while len(page) == PAGE:
            query = {
                "status": "published",
                "sort": "documentId:asc",
                "locale": locale,
                "pagination[page]": "1",
                "pagination[pageSize]": str(PAGE),
                "pagination[withCount]": "false",
                "fields[0]": "publishedAt",
                "fields[1]": "locale",
                "fields[2]": "slug",
                "fields[3]": "updatedAt",
            } | ({"filters[documentId][$gt]": key} if key else {})
            body = send(connection, f"{ENDPOINT}?{urllib.parse.urlencode(query, safe='[]$:')}")
            page = json.loads(body)["data"]
            rows += len(page)
            key = page[-1]["documentId"] if page else key
    return rows


def serve(
    strapi: Strapi, folder: pathlib.Path, sites: int, options: argparse.Namespace, more: str = ""
) -> Service:
    settings = folder / "settings.toml"
    # Older builds do not have the setting.
    size = "" if options.page_size == PAGE else f"page_size = {options.page_size}"
    text = SETTINGS.format(url=strapi.url, page_size=size)
    text += "".join(SITE.format(number=n) for n in range(sites)) + more
    if options.links:
        text = text.replace("[[site.rule]]", 'resolve = "documents"\n[[site.rule]]')
    settings.write_text(text)
    overrides = {"CMS__TOKEN": READ_TOKEN, "HOOKS__SECRET": SECRET}
    return Service(settings, overrides, binary=options.binary, log=folder / "log")


def our_walk(service: Service, site: int = 0) -> None:
    """Waits for a walk: the response to a HEAD comes after it, without the list."""
    connection = http.client.HTTPConnection(service.address, timeout=3600)
    connection.request("HEAD", f"/api/build-sitemap?site=site{site}&contentType={UID}")
    status = connection.getresponse().status
    if status != 200:
        raise SystemExit(f"the service returned {status}")


def measured(strapi: Strapi, log: Log, articles: list[str], service: Service | None) -> Walk:
    log.requests()
    with Reader(strapi, articles) as reader:
        begun = time.monotonic()
        if service is None:
            bare_walk(strapi)
        else:
            our_walk(service)
        seconds = time.monotonic() - begun
    return Walk(seconds, log.requests(), reader.latencies)


def idle(strapi: Strapi, articles: list[str], seconds: float) -> list[float]:
    with Reader(strapi, articles) as reader:
        time.sleep(seconds)
    return reader.latencies


def percentile(latencies: list[float], percent: int) -> float:
    return statistics.quantiles(latencies, n=100, method="inclusive")[percent - 1]


def shown(latencies: list[float]) -> str:
    p50, p99 = (percentile(latencies, percent) for percent in (50, 99))
    return f"GET p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def four_sites(strapi: Strapi, log: Log, folder: pathlib.Path, options: argparse.Namespace) -> None:
    log.requests()
    with serve(strapi, folder, 4, options) as service:
        begun = time.monotonic()
        walks = [threading.Thread(target=our_walk, args=(service, site)) for site in range(4)]
        for walk in walks:
            walk.start()
        for walk in walks:
            walk.join()
        print(f"four sites: {time.monotonic() - begun:.1f} s, {log.requests()}")


def compare(strapi: Strapi, folder: pathlib.Path, options: argparse.Namespace) -> None:
    log = Log(strapi)
    query = "pagination[pageSize]=100&fields[0]=documentId"
    found = json.loads(send(connect(strapi), f"{ENDPOINT}?{query}"))["data"]
    articles = [row["documentId"] for row in found]
    rows = bare_walk(strapi)
    print(f"{rows} rows; without a walk: {shown(idle(strapi, articles, 10))}", flush=True)
    pairs = []
    for _ in range(options.pairs):
        bare = measured(strapi, log, articles, None)
        with serve(strapi, folder, 1, options) as service:
            pairs.append((bare, measured(strapi, log, articles, service)))
    for name, walks in zip(("bare", "ours"), zip(*pairs, strict=True), strict=True):
        seconds = statistics.median(walk.seconds for walk in walks)
        latencies = [latency for walk in walks for latency in walk.latencies]
        print(f"{name}: {seconds:.1f} s, {walks[0].requests}, {shown(latencies)}", flush=True)
    seconds = statistics.median(ours.seconds / bare.seconds for bare, ours in pairs)
    p50 = statistics.median(
        percentile(ours.latencies, 50) / percentile(bare.latencies, 50) for bare, ours in pairs
    )
    print(f"ours / bare: seconds {seconds:.2f}, GET p50 {p50:.2f}", flush=True)
    four_sites(strapi, log, folder, options)


def walks_with(
    strapi: Strapi, folder: pathlib.Path, options: argparse.Namespace, more: str
) -> list[float]:
    """The seconds of a first walk, and of one beside the requests for content that follow it."""
    strapi_log = lab() / f".tmp/strapi-{strapi.environment['PORT']}.log"
    before = strapi_log.stat().st_size
    (folder / "log").unlink(missing_ok=True)
    with serve(strapi, folder, 1, options, more) as service:
        our_walk(service)

        def is_scanning() -> bool:
            return b"body" in strapi_log.read_bytes()[before:]

        if more and until(is_scanning, PATIENCE) is None:
            raise SystemExit("no content was read")
        body = json.dumps({"event": "frontend-map.refresh", "uid": UID})
        headers = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(service.address, timeout=60)
        connection.request("POST", "/hooks/cms", body, headers)
        if (status := connection.getresponse().status) >= 300:
            raise SystemExit(f"the event: status {status}")

        def seconds() -> list[float]:
            return [float(found) for found in BUILT.findall((folder / "log").read_text())]

        if until(lambda: len(seconds()) == 2, PATIENCE) is None:
            raise SystemExit(f"no second walk\n{(folder / 'log').read_text()[-2000:]}")
        return seconds()


def compare_links(strapi: Strapi, folder: pathlib.Path, options: argparse.Namespace) -> None:
    pairs = []
    for _ in range(options.pairs):
        pairs.append([walks_with(strapi, folder, options, more) for more in ("", LINKS)])
    for number, name in enumerate(("first walk", "walk beside a link scan")):
        without, beside = zip(*((one[number], two[number]) for one, two in pairs), strict=True)
        ratio = statistics.median(b / a for a, b in zip(without, beside, strict=True))
        medians = f"{statistics.median(without):.2f} s, with {statistics.median(beside):.2f} s"
        print(f"{name}: without links {medians}, ratio {ratio:.3f}", flush=True)


def postgres(verb: str, *arguments: str) -> None:
    subprocess.run([FOLDER / "pg.sh", verb, *arguments], check=verb != "stop")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int, default=50_000)
    parser.add_argument("--pairs", type=int, default=3, help="pairs of a bare walk and ours")
    parser.add_argument("--links", action="store_true", help="with and without links in content")
    parser.add_argument("--page-size", type=int, default=PAGE, help="`cms.page_size` of ours")
    parser.add_argument(
        "--postgres",
        action="store_true",
        help="instead of SQLite; as root, with a cluster that tests/strapi/pg.sh has set up",
    )
    parser.add_argument("--seeded", type=pathlib.Path, help="an SQLite database with the articles")
    parser.add_argument("--built", action="store_true", help="do not build first")
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY, help="the binary to measure")
    options = parser.parse_args()
    if not options.built and options.binary == BINARY:
        build()
    variables = {"REST_MAX_LIMIT": str(max(PAGE, options.page_size))}
    database = f"bench_{os.getpid()}"
    if options.postgres:
        postgres("create", database)
        variables |= {
            "DATABASE_CLIENT": "postgres",
            "DATABASE_PORT": PG_PORT,
            "DATABASE_NAME": database,
        }
    strapi = Strapi(options.articles, True, variables)
    strapi.run("install")
    if options.seeded:
        shutil.copy(options.seeded, lab() / strapi.environment["DATABASE_FILENAME"])
    try:
        strapi.start()
        with tempfile.TemporaryDirectory() as name:
            (compare_links if options.links else compare)(strapi, pathlib.Path(name), options)
    finally:
        strapi.run("reset")
        if options.postgres:
            postgres("drop", database)


if __name__ == "__main__":
    main()
