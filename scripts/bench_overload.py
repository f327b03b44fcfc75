#!/usr/bin/env python3
"""What crowds do to the service: operation 4.1 beside clients that read long lists, and both 4.1
and 4.2 with more connections than they can serve at once.

    scripts/bench_overload.py [--documents N] [--seconds S] [--rounds N] [--readers N]

Builds the service in release, gives it a content file of that many documents, and loads it with
`wrk` (Debian: wrk), which shares the machine's cores with it. Prints medians over the rounds, and
ratios of the same run: the latency of 4.1 beside readers by its latency alone, and the requests per
second with too many connections by those with enough.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from common.measured import TARGET, build  # noqa: E402 (after the above)

SETTINGS = """
[server]
listen = "127.0.0.1:0"
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
[[site.rule]]
content_type = "api::article.article"
template = "/{locale}/articles/{slug}"
"""
RESOLVE = "/api/get-content-type?site=main&pathname=/en/articles/hello-world"
DOCUMENT = "/api/frontend-url?uid=api::article.article&documentId=d7&locale=en"
LIST = "/api/build-sitemap?site=main&contentType=api::article.article"
READERS = {
    "gzip": ["-H", "Accept-Encoding: gzip", LIST],
    "plain": [LIST],
    "xml gzip": ["-H", "Accept-Encoding: gzip", LIST + "&xml=true"],
}
MILLIS = {"us": 1e-3, "ms": 1, "s": 1e3}


def content(documents):
    """Slugs that a list of URLs of a real site could have."""
    rows = [
        {"documentId": f"d{n}", "locale": "en", "slug": f"{n * 7919 % documents}-what-editors-wrote"}
        for n in range(documents)
    ]
    return json.dumps({"api::article.article": rows})


def wrk(address, connections, seconds, *target):
    *headers, path = target
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "60s"]
    return subprocess.Popen(
        [*command, *headers, f"http://{address}{path}"], stdout=subprocess.PIPE, text=True
    )


def figures(process):
    """Requests per second, and the 50th and 99th percentile in ms."""
    out = process.communicate()[0]
    for trouble in ("Socket errors", "Non-2xx"):
        if trouble in out:
            sys.exit(out)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
    at = [re.search(rf"\s{n}%\s+([\d.]+)(us|ms|s)\n", out).groups() for n in (50, 99)]
    return [rate, *(float(number) * MILLIS[unit] for number, unit in at)]


def medians(rows):
    return [statistics.median(column) for column in zip(*rows)]


def beside(address, options):
    """4.1 alone, and beside each kind of reader, in turn."""
    rows = {name: [] for name in ["alone", *READERS]}
    for _ in range(options.rounds):
        rows["alone"].append(figures(wrk(address, 50, options.seconds, RESOLVE)))
        for name, reader in READERS.items():
            readers = wrk(address, options.readers, options.seconds + 1, *reader)
            rows[name].append(figures(wrk(address, 50, options.seconds, RESOLVE)))
            readers.communicate()
    alone = medians(rows["alone"])
    print(f"4.1, 50 connections, beside {options.readers} readers of {options.documents} URLs")
    for name, figure in rows.items():
        rate, half, most = medians(figure)
        print(
            f"  {name:9} {rate:8.0f}/s ({rate / alone[0]:.2f})  p50 {half:6.2f} ms"
            f"  p99 {most:6.2f} ms ({most / alone[2]:.2f})"
        )


def crowded(address, name, path, options):
    """The same with more and more connections, then with as many as at first."""
    steps = [64, 192, 1000, 64]
    rows = [[] for _ in steps]
    for _ in range(options.rounds):
        for row, connections in zip(rows, steps):
            row.append(figures(wrk(address, connections, options.seconds, path)))
    best = max(medians(row)[0] for row in rows)
    print(name)
    for connections, row in zip(steps, rows):
        rate, half, most = medians(row)
        print(
            f"  {connections:4} connections {rate:8.0f}/s ({rate / best:.2f})"
            f"  p50 {half:6.2f} ms  p99 {most:6.2f} ms"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--readers", type=int, default=8)
    options = parser.parse_args()
    build()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "settings.toml").write_text(SETTINGS)
        (folder / "content.json").write_text(content(options.documents))
        service = subprocess.Popen(
            [TARGET / "frontend-map", "--config", folder / "settings.toml", "serve"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"]},
        )
        try:
            address = service.stdout.readline().decode().strip()
            figures(wrk(address, 1, 1, LIST))
            beside(address, options)
            crowded(address, "4.1", RESOLVE, options)
            crowded(address, "4.2 from a file", DOCUMENT, options)
        finally:
            service.kill()
            service.wait()


if __name__ == "__main__":
    main()
