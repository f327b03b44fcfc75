#!/usr/bin/env python3
"""Requests per second of operation 4.1 beside a bare axum server that returns the same bytes.

    scripts/bench_http.py [--pairs N] [--seconds S] [--connections C]

Builds both in release, starts them on loopback, and lets `wrk` (Debian: wrk) load them in turn, in
alternating pairs of one run. Prints, for each kind of answer, the medians over the pairs of the
requests per second, the latencies' 99th percentile, the processor time per request by the
operating system's own accounting, and their ratios (service / bare server). Errors of any kind end
it with status 1: a fast wrong answer is no figure.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
from common.measured import BARE, KINDS, ROUTE, SERVICE, SETTINGS, build  # noqa: E402 (after the above)

TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """A process of ours whose first line on stdout is its address."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | environment
        )
        self.address = self.process.stdout.readline().decode().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def processor_seconds(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = stat.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / TICK

    def get(self, query):
        try:
            with urllib.request.urlopen(f"http://{self.address}{ROUTE}?{query}") as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            return error.read()


def load(server, query, options):
    """Requests per second, 99th percentile in ms, processor time per request in µs."""
    before = server.processor_seconds()
    out = subprocess.run(
        ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--latency",
         f"http://{server.address}{ROUTE}?{query}"],
        capture_output=True, text=True, check=True,
    ).stdout
    used = server.processor_seconds() - before
    requests = int(re.search(r"(\d+) requests in", out)[1])
    if "Socket errors" in out:
        sys.exit(out)
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", out).groups()
    p99 = float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
    return rate, p99, used / requests * 1e6


def pair(n, measure, service, bare):
    """Both measured, the service first, or second every other time."""
    if n % 2:
        return [measure(bare), measure(service)][::-1]
    return [measure(service), measure(bare)]


def compare(kind, service, options):
    query = KINDS[kind]
    with tempfile.NamedTemporaryFile() as body:
        body.write(service.get(query))
        body.flush()
        with Server(BARE, body.name) as bare:
            if bare.get(query) != service.get(query):
                sys.exit(f"{kind}: the bare server returns other bytes")
            pairs = [
                pair(n, lambda server: load(server, query, options), service, bare)
                for n in range(options.pairs)
            ]
    ours, theirs = ([statistics.median(pair[at][n] for pair in pairs) for n in range(3)] for at in (0, 1))
    ratios = [statistics.median(pair[0][n] / pair[1][n] for pair in pairs) for n in range(3)]
    print(f"{kind:8} {ours[0]:>9.0f} {theirs[0]:>9.0f} {ratios[0]:>6.2f}   "
          f"{ours[1]:>7.2f} {theirs[1]:>7.2f} {ratios[1]:>6.2f}   "
          f"{ours[2]:>6.1f} {theirs[2]:>6.1f} {ratios[2]:>6.2f}", flush=True)
    return ratios[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    build()
    print(f"{options.pairs} pairs of {options.seconds} s, {options.connections} connections; medians")
    print("answer    req/s     bare     ratio   p99 ms    bare  ratio   CPU µs   bare  ratio")
    with Server(*SERVICE, **SETTINGS) as service:
        for kind in KINDS:
            compare(kind, service, options)


if __name__ == "__main__":
    main()
