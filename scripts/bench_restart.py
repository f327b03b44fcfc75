#!/usr/bin/env python3
"""A restart with the CMS down: how soon each operation is right again, and what the store costs.

Starts the shipped binary with a store in front of a scripted CMS that costs next to nothing
(`fast_cms` in `examples/`), until its walk is stored. Then stops both, and starts the service
alone, once for each operation: times from the start of the process to the end of its first right
response. Prints the time to write and to read the snapshot, as the service logs it, and the size of
the file.
"""

import argparse
import json
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from common import site
from common.build import BINARY, build, example
from common.process import Process

SETTINGS = """
[server]
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
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
FIRST = "d00000000"
BATCH = {"documents": [{"uid": site.UID, "documentId": FIRST, "locale": "en"}]}
OPERATIONS: dict[str, tuple[str, bytes | None]] = {
    "list": (site.LIST, None),
    "pages": ("/api/pages?site=main", None),
    "resolve": ("/api/resolve?site=main&pathname={path}", None),
    "batch": ("/api/frontend-urls", json.dumps(BATCH).encode()),
}


class Service:
    """The service with its log in a file, and the time of its start."""

    def __init__(self, folder: pathlib.Path, binary: pathlib.Path) -> None:
        self.log = folder / "log.json"
        self.begun = time.monotonic()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [binary, "--config", folder / "settings.toml", "serve"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        if self.process.stdout is None:
            raise SystemExit("stdout is not a pipe")
        self.address = self.process.stdout.readline().strip()
        self.listening = time.monotonic() - self.begun

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def logged(self, message: str) -> dict[str, float]:
        """The numbers of the first line with this message, as soon as it is there."""
        while True:
            for line in self.log.read_text().splitlines():
                if message in line:
                    return {
                        name: float(value)
                        for name, value in re.findall(r'"(\w+)":"?([\d.]+)', line)
                    }
            time.sleep(0.05)

    def first_right(self, target: str, body: bytes | None) -> float:
        """Seconds from the start of the process to the first 200; a 4xx ends the program."""
        headers = {"Content-Type": "application/json"} if body else {}
        request = urllib.request.Request(f"http://{self.address}{target}", body, headers)
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    response.read()
                    return time.monotonic() - self.begun
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    raise
            time.sleep(0.001)


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
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        resolve = 'resolve = "documents"\n[[site.rule]]'
        sites = site.SITE.replace("[[site.rule]]", resolve) + site.ENDPOINT
        with Process(arguments.cms or example("fast_cms"), "serve", arguments.rows, 0) as cms:
            (folder / "settings.toml").write_text(SETTINGS.format(cms=cms.address) + sites)
            service = Service(folder, binary)
            written = service.logged("a snapshot is stored")
            request = f"http://{service.address}/api/pages?site=main"
            with urllib.request.urlopen(request) as response:
                page = json.loads(response.read())["data"]["pages"][0]
            service.stop()
        BATCH["documents"][0]["documentId"] = page["documentId"]
        OPERATIONS["batch"] = (OPERATIONS["batch"][0], json.dumps(BATCH).encode())
        size = (folder / "store.redb").stat().st_size
        print(
            f"{arguments.rows} URLs: {written['milliseconds']:.0f} ms to write"
            f" {written['bytes'] / arguments.rows:.1f} bytes a URL,"
            f" {size / arguments.rows:.1f} in the file"
        )
        found: dict[str, list[float]] = {}
        for operation, (target, body) in list(OPERATIONS.items()) * arguments.rounds:
            service = Service(folder, binary)
            first = service.first_right(target.format(path=page["path"]), body)
            found.setdefault(operation, []).append(first)
            found.setdefault("listening", []).append(service.listening)
            read = service.logged("a snapshot is taken from the store")
            found.setdefault("reading alone", []).append(read["milliseconds"] / 1000)
            service.stop()
        for what, seconds in found.items():
            print(f"{what}: {statistics.median(seconds) * 1000:.0f} ms (median)")


if __name__ == "__main__":
    main()
