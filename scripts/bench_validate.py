#!/usr/bin/env python3
"""Checks of many URLs: how long beside the floor, at what cost, and beside another link checker.

    scripts/bench_validate.py [--urls N] [--delay MS] [--sizes 10000,200000] [--runs N] [--bare] [--memory N]

Starts the release binary in front of a scripted CMS (`fast_cms` in `examples/`) and a scripted
front end (`slow_site`), a healthy one and a mixed one, with pages of each size. For each it prints
the seconds of `validate=true` as a ratio to the floor, which is URLs / 10 times the delay; CPU time
a URL and peak memory of the process, and the part of it that was there before the run; and what the
front end saw. `--bare` adds the seconds of a bare client with ten connections. If `lychee` is on the PATH, it checks the same URLs at the same concurrency,
without redirects and retries, in the same run.

With `--memory N` it checks N URLs without a delay instead, and prints the memory of the process
before, at each tenth, and after.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
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
[validation]
deadline_seconds = 86400
reuse_seconds = 0
[[site]]
key = "main"
front_end_url = "http://{front_end}"
locales = ["en"]
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{{locale}}/articles/{{slug}}"
[[content_type]]
uid = "plugin::cms.article"
endpoint = "cms/articles"
"""
LIST = "/api/build-sitemap?site=main&contentType=plugin::cms.article"
PATH = "/en/articles/a-slug-of-usual-length-"
TICKS = os.sysconf("SC_CLK_TCK")


class Process:
    """A process of ours whose first line on stdout is its address."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.address = self.line()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def line(self):
        return self.process.stdout.readline().decode().strip()

    def seen(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return [int(number) for number in self.line().split()]

    def read(self, target):
        """Reads an answer to its end and keeps the beginning."""
        with urllib.request.urlopen(f"http://{self.address}{target}") as answer:
            begin = answer.read(4096)
            while answer.read(1 << 20):
                pass
            return begin.decode()

    def memory(self, name):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1024

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def service(cms, front_end, folder):
    settings = pathlib.Path(folder) / "settings.toml"
    settings.write_text(SETTINGS.format(cms=cms.address, front_end=front_end.address))
    started = Process(TARGET / "frontend-map", "--config", settings, "serve")
    started.read(LIST)
    return started


def ours(cms, front_end, urls, folder):
    with service(cms, front_end, folder) as process:
        process.forget_peak()
        before, cpu, began = process.memory("VmRSS"), process.cpu(), time.monotonic()
        begin = process.read(LIST + "&validate=true")
        seconds, cpu = time.monotonic() - began, process.cpu() - cpu
        assert f'"count":{urls},' in begin, begin
        return seconds, cpu, process.memory("VmHWM"), before


def lychee(front_end, urls, folder):
    links = pathlib.Path(folder) / "links.txt"
    links.write_text("".join(f"http://{front_end.address}{PATH}{n}\n" for n in range(urls)))
    command = f"""lychee --no-progress --max-concurrency 10 --host-concurrency 10
        --host-request-interval 0ms --max-redirects 0 --max-retries 0 --timeout 10
        --format json --output {folder}/lychee.json {links}""".split()
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    process.returncode = 0
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, 0


def tell(who, runs, front_end, urls, floor):
    seconds = statistics.median(run[0] for run in runs)
    cpu = statistics.median(run[1] for run in runs) / urls * 1e6
    memory, before = max(run[2] for run in runs), max(run[3] for run in runs)
    accepts, requests, most = front_end.seen()
    ratio = f"{seconds / floor:.3f} x floor" if floor else "no floor"
    print(
        f"  {who:<13} {seconds:8.3f} s, {ratio}, {cpu:6.1f} us CPU a URL, {memory:6.1f} MiB peak"
        f" ({before:.1f} before)"
        f"  (saw {accepts} connections, {requests} requests, at most {most} at once)",
        flush=True,
    )


def compare(cms, arguments, kind, size, folder):
    urls, runs = arguments.urls, range(arguments.runs)
    floor = urls / 10 * arguments.delay / 1000
    print(f"{kind} site, pages of {size} bytes, {urls} URLs, {arguments.delay} ms", flush=True)
    with Process(TARGET / "examples/slow_site", "serve", arguments.delay, size, kind) as front_end:
        tell("frontend-map", [ours(cms, front_end, urls, folder) for _ in runs], front_end, urls, floor)
        if shutil.which("lychee"):
            tell("lychee", [lychee(front_end, urls, folder) for _ in runs], front_end, urls, floor)
        if arguments.bare and kind == "healthy":
            command = [TARGET / "examples/slow_site", "ask", front_end.address, str(urls), PATH]
            bare = float(subprocess.run(command, check=True, capture_output=True).stdout)
            print(f"  bare client   {bare:8.3f} s", flush=True)


def flat(cms, arguments, folder):
    """Memory while many URLs are checked."""
    urls = arguments.memory
    with Process(TARGET / "examples/slow_site", "serve", 0, 1000, "mixed") as front_end:
        with service(cms, front_end, folder) as process:
            process.forget_peak()
            print(f"{urls} URLs: {process.memory('VmRSS'):.1f} MiB before", flush=True)
            cpu, began = process.cpu(), time.monotonic()
            work = threading.Thread(target=process.read, args=(LIST + "&validate=true",))
            work.start()
            asked, tenth = 0, 1
            while work.is_alive():
                time.sleep(0.05)
                asked += front_end.seen()[1]
                if asked >= urls * tenth // 10:
                    print(f"  {asked:>9} requests: {process.memory('VmRSS'):.1f} MiB", flush=True)
                    tenth = asked * 10 // urls + 1
            seconds, cpu = time.monotonic() - began, process.cpu() - cpu
            print(
                f"  after: {process.memory('VmRSS'):.1f} MiB, peak {process.memory('VmHWM'):.1f} MiB;"
                f" {seconds:.1f} s, {cpu / urls * 1e6:.1f} us CPU a URL",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=10_000)
    parser.add_argument("--delay", type=int, default=50)
    parser.add_argument("--sizes", default="10000,200000")
    parser.add_argument("--kinds", default="healthy,mixed")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--memory", type=int, default=0)
    arguments = parser.parse_args()
    build = ["cargo", "build", "--release", "--quiet", "--locked", "--bin", "frontend-map"]
    subprocess.run([*build, "--example", "fast_cms", "--example", "slow_site"], check=True, cwd=ROOT)
    documents = arguments.memory or arguments.urls
    with tempfile.TemporaryDirectory() as folder:
        with Process(TARGET / "examples/fast_cms", "serve", documents, 0) as cms:
            if arguments.memory:
                return flat(cms, arguments, folder)
            for size in arguments.sizes.split(","):
                for kind in arguments.kinds.split(","):
                    compare(cms, arguments, kind, int(size), folder)


if __name__ == "__main__":
    sys.exit(main())
