#!/usr/bin/env python3
"""Instructions per request of `/api/get-content-type`, counted by valgrind: a cost without a clock.

Builds the shipped binary and runs it under callgrind (Debian: valgrind) with one worker thread and
its default settings, once for a warm-up alone and once for each kind of answer with N requests
more, all on one kept connection. The difference, divided by N, is what one request costs in user
space: the same on a busy machine. `--bare` counts the bare server of `bench_http.py` too.

`--record` writes the counts to `instructions.json`, `--check` ends with status 1 when one of them
is more than a tenth above what is recorded there. A new compiler may move them all: then record
again. `--keep` keeps callgrind's files, for callgrind_annotate.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from common.build import ROOT, build
from common.process import pipe
from common.profile import BARE_SERVER, ENVIRONMENT, QUERIES, ROUTE, SERVICE
from common.wrk import found

RECORDED = ROOT / "scripts/instructions.json"
WARM_UP = 200
# A count may be above the record by this factor.
SLACK = 1.1


class Request(NamedTuple):
    query: str
    status: int


class Client:
    """One kept connection."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, request: Request) -> None:
        head = f"GET {ROUTE}?{request.query} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
        self.socket.sendall(head.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.receive()
        received, body = answer.split(b"\r\n\r\n", 1)
        length = int(found(r"(?i)content-length: *(\d+)", received.decode())[1])
        while len(body) < length:
            body += self.receive()
        status = int(received.split(b" ", 2)[1])
        if status != request.status or len(body) != length:
            raise SystemExit(f"{request}: {len(body)} bytes\n{received.decode()}")

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
    process = subprocess.Popen(
        [*valgrind, *map(str, command)],
        stdout=subprocess.PIPE,
        env=os.environ | ENVIRONMENT | one_thread,
    )
    try:
        client = Client(pipe(process.stdout).readline().decode().strip())
        for request in warm_up * (WARM_UP // len(warm_up)):
            client.get(request)
        for request in requests:
            client.get(request)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
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


def bare(options: argparse.Namespace, folder: pathlib.Path) -> None:
    body = folder / "body"
    body.write_bytes(b"x" * 200)
    kinds = {"full": Request(QUERIES["full"], 200)}
    per_request("bare", [BARE_SERVER, body], kinds, options, folder)


def check(counts: dict[str, int]) -> int:
    recorded = json.loads(RECORDED.read_text())
    worse = [kind for kind in counts if counts[kind] > recorded[kind] * SLACK]
    for kind in worse:
        print(f"{kind}: {counts[kind]} instructions, recorded are {recorded[kind]}")
    return 1 if worse else 0


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
    kinds = {kind: Request(QUERIES[kind], 404 if kind == "404" else 200) for kind in QUERIES}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        counts = per_request("service", SERVICE, kinds, options, folder)
        if options.bare:
            bare(options, folder)
    if options.record:
        RECORDED.write_text(json.dumps(counts, indent=2) + "\n")
    sys.exit(check(counts) if options.check else 0)


if __name__ == "__main__":
    main()
