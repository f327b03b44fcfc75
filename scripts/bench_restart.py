#!/usr/bin/env python3
"""A restart with the CMS down: how soon each operation is right again, and what the store costs.

Starts the shipped binary with a store in front of a scripted CMS that costs next to nothing
(`fast_cms` in `benches/servers`), until its walk is stored. Then stops both, and starts the service
alone, once for each operation: times from the start of the process to the end of its first right
response, which has the body from before the restart. Prints the time to write and to read the
snapshot, as the service logs it, and the size of the file.
"""

import argparse
import json
import pathlib
import re
import statistics
import tempfile
import time
import urllib.error
import urllib.request
from typing import NamedTuple

from common import site
from common.build import BINARY, bench_server, build
from common.process import Server
from common.service import Service

SETTINGS = """
[server]
drain_delay_ms = 0
[cms]
url = "http://{cms}"
page_size = 1000
[log]
level = "warn,frontend_map=debug"
format = "json"
[store]
path = "store.redb"
"""
PAGES = "/api/pages?site=main"
# Longer than anything here takes.
PATIENCE = 120


class Operation(NamedTuple):
    """A request, and the body of the right response."""

    target: str
    body: bytes | None
    expected: bytes


class Started(Service):
    """The service with a log of its own, and the seconds until it listens."""

    def __init__(self, folder: pathlib.Path, binary: pathlib.Path) -> None:
        log = folder / "log.json"
        log.unlink(missing_ok=True)
        super().__init__(folder / "settings.toml", binary=binary, log=log)
        self.listening = time.monotonic() - self.begun

    def logged(self, message: str) -> dict[str, float]:
        """The numbers of the first line with this message, as soon as it is there."""
        while time.monotonic() - self.begun < PATIENCE:
            for line in self.log().splitlines():
                if message in line:
                    return {
                        name: float(value)
                        for name, value in re.findall(r'"(\w+)":"?([\d.]+)', line)
                    }
            time.sleep(0.05)
        raise SystemExit(f"bench_restart: the log has no line {message!r}")

    def read(self, target: str, body: bytes | None = None) -> bytes:
        headers = {"Content-Type": "application/json"} if body else {}
        request = urllib.request.Request(f"http://{self.address}{target}", body, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            found: bytes = response.read()
            return found

    def first_right(self, operation: Operation) -> float:
        """Seconds from the start of the process to the first 200; a 4xx or another body ends the
        program."""
        while time.monotonic() - self.begun < PATIENCE:
            try:
                found = self.read(operation.target, operation.body)
                took = time.monotonic() - self.begun
                if found != operation.expected:
                    raise SystemExit(f"bench_restart: {operation.target} has another body")
                return took
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    raise
            time.sleep(0.001)
        raise SystemExit(f"bench_restart: {operation.target} is not served")


def operations(service: Started) -> dict[str, Operation]:
    """One request of each kind, with its response now."""
    page = json.loads(service.read(PAGES))["data"]["pages"][0]
    document = {"uid": site.UID, "documentId": page["documentId"], "locale": page["locale"]}
    requests: dict[str, tuple[str, bytes | None]] = {
        "list": (site.LIST, None),
        "pages": (PAGES, None),
        "resolve": (f"/api/resolve?site=main&pathname={page['path']}", None),
        "batch": ("/api/frontend-urls", json.dumps({"documents": [document]}).encode()),
    }
    return {
        name: Operation(target, body, service.read(target, body))
        for name, (target, body) in requests.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--binary", type=pathlib.Path, help="instead of a build")
    parser.add_argument("--cms", type=pathlib.Path, help="the program `fast_cms` of that build")
    arguments = parser.parse_args()
    if arguments.binary is None:
        build("fast_cms")
    binary = arguments.binary or BINARY
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        resolve = 'resolve = "documents"\n[[site.rule]]'
        sites = site.SITE.replace("[[site.rule]]", resolve) + site.ENDPOINT
        with Server(arguments.cms or bench_server("fast_cms"), "serve", arguments.rows, 0) as cms:
            (folder / "settings.toml").write_text(SETTINGS.format(cms=cms.address) + sites)
            service = Started(folder, binary)
            written = service.logged("a snapshot is stored")
            requests = operations(service)
            service.stop()
        size = (folder / "store.redb").stat().st_size
        print(
            f"{arguments.rows} URLs: {written['milliseconds']:.0f} ms to write"
            f" {written['bytes'] / arguments.rows:.1f} bytes a URL,"
            f" {size / arguments.rows:.1f} in the file"
        )
        found: dict[str, list[float]] = {}
        for name, operation in list(requests.items()) * arguments.rounds:
            service = Started(folder, binary)
            found.setdefault(name, []).append(service.first_right(operation))
            found.setdefault("listening", []).append(service.listening)
            read = service.logged("a snapshot is taken from the store")
            found.setdefault("reading alone", []).append(read["milliseconds"] / 1000)
            service.stop()
        for what, seconds in found.items():
            print(f"{what}: {statistics.median(seconds) * 1000:.0f} ms (median)")


if __name__ == "__main__":
    main()
