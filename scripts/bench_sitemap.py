#!/usr/bin/env python3
"""Sitemaps of a million documents: how long, how much memory, and whether the files are valid.

    scripts/bench_sitemap.py [--documents N] [--delays 0,5,20] [--seconds S] [--pairs N]

Starts the release binary in front of a scripted CMS that costs next to nothing (`fast_cms` in
`examples/`) and, for each delay of that CMS in ms, times the walk of a cold `/api/build-sitemap`
beside its floor: the same requests, sent one after the other by a bare client that throws the
bodies away. Then, on the last service: the peak memory of the process beside the bytes of all
URLs; every file that the index names, checked by `xmllint` (Debian: libxml2-utils) against
`tests/schemas`, with all URLs counted; and the requests per second of one file by `wrk` beside a
bare axum server that returns the same bytes.
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
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
SETTINGS = """
[server]
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
[cms]
url = "http://{cms}"
[limits]
walk_deadline_ms = 3600000
[snapshots]
soft_seconds = 86400
at_start = false
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{{locale}}/articles/{{slug}}"
[[content_type]]
uid = "plugin::cms.article"
endpoint = "cms/articles"
"""
LIST = "/api/build-sitemap?site=main&contentType=plugin::cms.article"


class Process:
    """A process of ours whose first line on stdout is its address."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.address = self.process.stdout.readline().decode().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def get(self, target):
        with urllib.request.urlopen(f"http://{self.address}{target}") as answer:
            return answer.read()

    def memory(self, name):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024


def build():
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run(command, cwd=ROOT, check=True)
    examples = ["--example", "bare_server", "--example", "fast_cms"]
    subprocess.run(command + examples, cwd=ROOT, check=True)


def service(folder, cms):
    settings = pathlib.Path(folder, "settings.toml")
    settings.write_text(SETTINGS.format(cms=cms.address))
    return Process(TARGET / "frontend-map", "--config", settings, "serve")


def walk(running, options):
    """Seconds of a cold walk: a HEAD says that it is over without sending the list."""
    begun = time.monotonic()
    request = urllib.request.Request(f"http://{running.address}{LIST}", method="HEAD")
    with urllib.request.urlopen(request, timeout=3600) as answer:
        assert answer.status == 200 and answer.headers["X-Skipped-Documents"] == "0"
    return time.monotonic() - begun


def floor(cms, options):
    command = [TARGET / "examples/fast_cms", "read", cms.address, str(options.documents)]
    return float(subprocess.run(command, capture_output=True, check=True).stdout)


def walks(folder, delay, options):
    """Pairs of walk and floor, alternating."""
    pairs = []
    with Process(TARGET / "examples/fast_cms", "serve", options.documents, delay) as cms:
        for _ in range(options.pairs if delay == 0 else 1):
            with service(folder, cms) as running:
                ours = walk(running, options)
            pairs.append((ours, floor(cms, options)))
    ours, theirs = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    print(f"walk, delay {delay:>2} ms: {ours:8.2f} s, floor {theirs:8.2f} s, ratio {ratio:.2f}", flush=True)


def check_files(running, folder, documents):
    index = running.get("/sitemaps/main/index.xml")
    valid(folder, "sitemapindex", index)
    names = re.findall(rb"<loc>[^<]*/([^/<]+)</loc>", index)
    urls, largest, last = 0, 0, None
    for name in names:
        text = running.get(f"/sitemaps/main/{name.decode()}")
        valid(folder, "urlset", text)
        count = text.count(b"<url>")
        if count > 50_000 or len(text) > 50 << 20:
            sys.exit(f"{name}: {count} URLs, {len(text)} bytes")
        urls, largest, last = urls + count, max(largest, count), name.decode()
    if urls != documents:
        sys.exit(f"{urls} URLs in the files, and {documents} documents")
    print(f"files: {len(names)}, all valid, {urls} URLs, at most {largest} in one")
    return last


def valid(folder, schema, text):
    file = pathlib.Path(folder, "checked.xml")
    file.write_bytes(text)
    schema = ROOT / f"tests/schemas/{schema}.rng"
    command = ["xmllint", "--noout", "--huge", "--relaxng", schema, file]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[:2000])


def rate(address, target, options):
    command = ["wrk", "-t1", "-c8", f"-d{options.seconds}s", f"http://{address}{target}"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Socket errors" in out or "Non-2xx" in out:
        sys.exit(out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])


def one_file(running, folder, name, options):
    target = f"/sitemaps/main/{name}"
    file = pathlib.Path(folder, "file.xml")
    file.write_bytes(running.get(target))
    with Process(TARGET / "examples/bare_server", file, "application/xml") as bare:
        pairs = [
            (rate(running.address, target, options), rate(bare.address, "/api/get-content-type", options))
            for _ in range(5)
        ]
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    print(f"one file of {file.stat().st_size} bytes: {ours:.0f} requests/s, bare {theirs:.0f}, ratio {ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--delays", default="0,5,20")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=3, help="of walks without a delay")
    parser.add_argument("--built", action="store_true", help="what is to be measured is built")
    options = parser.parse_args()
    if not options.built:
        build()
    with tempfile.TemporaryDirectory() as folder:
        for delay in options.delays.split(","):
            walks(folder, int(delay), options)
        command = [TARGET / "examples/fast_cms", "serve", options.documents, 0]
        with Process(*command) as cms, service(folder, cms) as running:
            idle = running.memory("VmHWM")
            walk(running, options)
            urls = json.loads(running.get(LIST))["data"]["urls"]
            size = sum(map(len, urls))
            peak = running.memory("VmHWM")
            print(f"memory: {idle >> 20} MiB before, peak {peak >> 20} MiB, "
                  f"{running.memory('VmRSS') >> 20} MiB after; URLs {size >> 20} MiB, "
                  f"ratio {peak / size:.2f}")
            name = check_files(running, folder, options.documents)
            print(f"memory after all files: {running.memory('VmRSS') >> 20} MiB")
            one_file(running, folder, name, options)


if __name__ == "__main__":
    main()
