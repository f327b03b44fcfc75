#!/usr/bin/env python3
"""Instructions per request of what each page render calls, counted by valgrind: without a clock.

Builds the shipped binary and runs it under callgrind (Debian: valgrind) with one worker thread and
its default settings, once for a warm-up alone and once for each kind of response with N requests
more, all on one kept connection. The difference, divided by N, is what one request costs in user
space: the same on a busy machine. `/api/get-content-type` has three kinds of responses;
`/api/resolve` has one, about a published document, and `/api/frontend-urls` one, about 50
documents. `--bare` counts the bare server of `bench_http.py` too.

`--record` writes the counts to `instructions.json`. `--check` ends with status 1 when one of them
is more than 1.5 % above or below what is recorded there: record again after a change that saves
instructions, and with a new compiler, which may move them all. `--keep` keeps callgrind's files,
for callgrind_annotate.
"""

import argparse
import json
import pathlib
import re
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

from common import site
from common.build import BINARY, ROOT, build
from common.process import Server
from common.profile import BARE_SERVER, OVERRIDES, QUERIES, ROUTE, SETTINGS, VARIABLES
from common.service import variables_of
from common.wrk import found

RECORDED = ROOT / "scripts/instructions.json"
WARM_UP = 200
# The largest relative difference from the record. Two counts of one build differ by up to 0.008,
# and builds that differ elsewhere alone by as much.
TOLERANCE = 0.015
DEMO = ROOT / "config/demo/settings.toml"
RESOLVE = "/api/resolve?site=main&pathname=/en/articles/welcome"


DOCUMENTS = 50
BATCH = json.dumps(
    {"documents": [{"uid": site.UID, "documentId": f"d{n}"} for n in range(DOCUMENTS)]}
)


class Request(NamedTuple):
    target: str
    status: int
    # With one, it is a POST.
    body: str = ""


class Client:
    """One kept connection."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: Request) -> None:
        """Sends a request, and checks the response."""
        status, received = self.send(request)
        if status != request.status:
            raise SystemExit(f"{request}: {received}")

    def send(self, request: Request) -> tuple[int, str]:
        head = f"{request.target} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
        if request.body:
            head = f"POST {head}Content-Length: {len(request.body)}\r\n"
        else:
            head = f"GET {head}"
        self.socket.sendall(f"{head}\r\n{request.body}".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.receive()
        received, body = answer.split(b"\r\n\r\n", 1)
        length = int(found(r"(?i)content-length: *(\d+)", received.decode())[1])
        while len(body) < length:
            body += self.receive()
        return int(received.split(b" ", 2)[1]), received.decode()

    def receive(self) -> bytes:
        received = self.socket.recv(65536)
        if not received:
            raise SystemExit("the server closed the connection")
        return received


def count(
    command: Sequence[object], warm_up: list[Request], requests: list[Request], out: pathlib.Path
) -> int:
    """The instructions of a whole run: start, warm-up by each kind, these requests, stop."""
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet"]
    one_thread = {"TOKIO_WORKER_THREADS": "1", "RUST_LOG": "error"}
    variables = VARIABLES | variables_of(OVERRIDES) | one_thread
    with Server(*valgrind, *command, variables=variables, log=None) as server:
        client = Client(server.address)
        # Documents are read after the start. The few requests until then are lost in the others.
        while client.send(warm_up[0])[0] == 503:
            time.sleep(1)
        for request in warm_up * (WARM_UP // len(warm_up)):
            client.ask(request)
        for request in requests:
            client.ask(request)
        server.stop()
    counted = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if counted is None:
        raise SystemExit(f"{out} has no total")
    return int(counted[1])


def per_request(
    name: str,
    command: Sequence[object],
    kinds: dict[str, Request],
    options: argparse.Namespace,
    folder: pathlib.Path,
) -> dict[str, int]:
    """Instructions per request of each kind of answer."""
    warm_up = list(kinds.values())
    base = count(command, warm_up, [], folder / f"callgrind.{name}.warm-up")
    counts = {}
    for kind, request in kinds.items():
        out = folder / f"callgrind.{name}.{kind}"
        total = count(command, warm_up, [request] * options.requests, out)
        counts[kind] = round((total - base) / options.requests)
        print(f"{name:8} {kind:8} {counts[kind]:>7}", flush=True)
    return counts


def serve(settings: pathlib.Path) -> list[object]:
    return [BINARY, "--config", settings, "serve"]


def bare(options: argparse.Namespace, folder: pathlib.Path) -> None:
    body = folder / "body"
    body.write_bytes(b"x" * 200)
    kinds = {"full": Request(f"{ROUTE}?{QUERIES['full']}", 200)}
    per_request("bare", [BARE_SERVER, body], kinds, options, folder)


def resolve(options: argparse.Namespace, folder: pathlib.Path) -> dict[str, int]:
    """`/api/resolve` on the demo's content."""
    settings = folder / "settings.toml"
    text = DEMO.read_text().replace('key = "main"', 'key = "main"\nresolve = "documents"')
    text = text.replace('"127.0.0.1:8080"', '"127.0.0.1:0"\nadmin_listen = "127.0.0.1:0"')
    settings.write_text(text)
    kinds = {"resolve": Request(RESOLVE, 200)}
    return per_request("resolve", serve(settings), kinds, options, folder)


def batch(options: argparse.Namespace, folder: pathlib.Path) -> dict[str, int]:
    """`/api/frontend-urls` on documents that all have a URL."""
    settings = folder / "batch.toml"
    listen = '[server]\nlisten = "127.0.0.1:0"\nadmin_listen = "127.0.0.1:0"\n'
    settings.write_text(listen + site.FILE_SOURCE + site.SITE)
    (folder / "content.json").write_text(site.content(DOCUMENTS))
    kinds = {"batch": Request("/api/frontend-urls", 200, BATCH)}
    return per_request("batch", serve(settings), kinds, options, folder)


def check(counts: dict[str, int]) -> int:
    recorded = json.loads(RECORDED.read_text())
    changes = {kind: counts[kind] / recorded[kind] - 1 for kind in counts}
    moved = [kind for kind, change in changes.items() if abs(change) > TOLERANCE]
    for kind in moved:
        change = f"{changes[kind]:+.1%}"
        print(f"{kind}: {counts[kind]} instructions, recorded are {recorded[kind]} ({change})")
    return 1 if moved else 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=2000)
    for flag in ("--bare", "--check", "--record"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--keep", metavar="DIR", type=pathlib.Path)
    options = parser.parse_args()
    build(*(["bare_server"] if options.bare else []))
    kinds = {
        kind: Request(f"{ROUTE}?{query}", 404 if kind == "404" else 200)
        for kind, query in QUERIES.items()
    }
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        counts = per_request("service", serve(SETTINGS), kinds, options, folder)
        counts |= resolve(options, folder) | batch(options, folder)
        if options.bare:
            bare(options, folder)
    if options.record:
        RECORDED.write_text(json.dumps(counts, indent=2) + "\n")
    sys.exit(check(counts) if options.check else 0)


if __name__ == "__main__":
    main()
