#!/usr/bin/env python3
"""Instructions per request of operation 4.1, counted by valgrind: a cost without a clock.

    scripts/count_instructions.py [--requests N] [--bare] [--check] [--record] [--keep DIR]

Builds the release binary and runs it under callgrind (Debian: valgrind) with one worker thread and
its default settings, once for a warm-up alone and once for each kind of answer with N requests
more, all on one kept connection. The difference, divided by N, is what one request costs in user
space: the same on a busy machine. `--bare` counts the bare server of `scripts/bench_http.py` too.

`--record` writes the counts to `scripts/instructions.json`, `--check` ends with status 1 when one
of them is more than a tenth above what is recorded there. A new compiler may move them all: record
again then. `--keep` keeps callgrind's files, for callgrind_annotate.
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

sys.dont_write_bytecode = True
from common.measured import BARE, KINDS, ROOT, ROUTE, SERVICE, SETTINGS, build  # noqa: E402 (after the above)

RECORDED = ROOT / "scripts/instructions.json"
WARM_UP = 200
# How far above the record a count may be.
SLACK = 1.1


class Client:
    """One kept connection."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, query, expected):
        request = f"GET {ROUTE}?{query} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
        self.socket.sendall(request.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.receive()
        head, body = answer.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
        while len(body) < length:
            body += self.receive()
        status = int(head.split(b" ", 2)[1])
        if status != expected or len(body) != length:
            sys.exit(f"{query}: status {status}, {len(body)} bytes\n{head.decode()}")

    def receive(self):
        received = self.socket.recv(65536)
        if not received:
            sys.exit("the server closed the connection")
        return received


def count(command, kinds, requests, keep, name):
    """The instructions of a whole run: start, warm-up by each kind, these requests, stop."""
    out = pathlib.Path(keep) / f"callgrind.{name}"
    process = subprocess.Popen(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet", *command],
        stdout=subprocess.PIPE,
        env=os.environ | SETTINGS | {"TOKIO_WORKER_THREADS": "1", "RUST_LOG": "error"},
    )
    try:
        client = Client(process.stdout.readline().decode().strip())
        for kind in kinds * (WARM_UP // len(kinds)):
            client.get(*kind)
        for kind in requests:
            client.get(*kind)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)[1])


def per_request(name, command, queries, options):
    """Instructions per request of each kind of answer."""
    kinds = {kind: (query, 404 if kind == "404" and name == "service" else 200)
             for kind, query in queries.items()}
    every = list(kinds.values())
    base = count(command, every, [], options.keep, f"{name}.warm-up")
    counts = {}
    for kind, asked in kinds.items():
        total = count(command, every, [asked] * options.requests, options.keep, f"{name}.{kind}")
        counts[kind] = round((total - base) / options.requests)
        print(f"{name:8} {kind:8} {counts[kind]:>7}", flush=True)
    return counts


def bare(options):
    with tempfile.NamedTemporaryFile() as body:
        body.write(b"x" * 200)
        body.flush()
        queries = {"full": KINDS["full"]}
        per_request("bare", [BARE, body.name], queries, options)


def check(counts):
    recorded = json.loads(RECORDED.read_text())
    worse = [kind for kind in counts if counts[kind] > recorded[kind] * SLACK]
    for kind in worse:
        print(f"{kind}: {counts[kind]} instructions, recorded are {recorded[kind]}")
    return 1 if worse else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=2000)
    for flag in ("--bare", "--check", "--record"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    build()
    with tempfile.TemporaryDirectory() as scratch:
        options.keep = options.keep or scratch
        counts = per_request("service", SERVICE, KINDS, options)
        if options.bare:
            bare(options)
    if options.record:
        RECORDED.write_text(json.dumps(counts, indent=2) + "\n")
    sys.exit(check(counts) if options.check else 0)


if __name__ == "__main__":
    main()
