#!/usr/bin/env python3
"""The table of all pages: seconds and memory of a million rows, and what it does to other requests.

Starts the shipped binary in front of a scripted CMS that costs next to nothing (`fast_cms` in
`benches/servers`). Times `/api/pages` in each form; takes the peak memory beyond the snapshot, and
the p99 of `/api/get-content-type` by `wrk` (Debian: wrk) alone, beside a slow and a fast client
that request the table again and again, and beside such clients of a bare server. Then, on a small
site: a thousand clients at once, of which each must get everything or a 503; clients that stop
reading; and a static build with `examples/static_build.mjs` (needs node), which must write a file
for each page.
"""

import argparse
import asyncio
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from bench_sitemap import SETTINGS, walk
from common import site
from common.build import ROOT, bench_server, build
from common.process import Server
from common.profile import ROUTE
from common.service import Service
from common.wrk import Load, wrk

PAGES = "/api/pages?site=main"
LINES = {"Accept": "application/x-ndjson"}
GZIP = {"Accept-Encoding": "gzip"}
FORMS: dict[str, dict[str, str]] = {"json": {}, "lines": LINES, "lines, gzip": LINES | GZIP}
MORE_LIMITS = "write_timeout_ms = 3000\n"
PIECE = 1 << 16
# Bytes a second of a client that does something with the rows.
RATE = 50 << 20
# wrk: each of the eight connections waits 4 ms before each request.
PACE = "function delay() return 4 end\n"


def serve(folder: pathlib.Path, cms: Server) -> Service:
    settings = folder / "settings.toml"
    text = SETTINGS.format(cms=cms.address).replace("[limits]\n", "[limits]\n" + MORE_LIMITS)
    settings.write_text(text + site.SITE + site.ENDPOINT)
    return Service(settings)


def read(service: Service, headers: dict[str, str]) -> tuple[float, int, bytes]:
    """Seconds, bytes, and the end of the body."""
    begun, size, end = time.monotonic(), 0, b""
    request = urllib.request.Request(f"http://{service.address}{PAGES}", headers=headers)
    with urllib.request.urlopen(request, timeout=600) as answer:
        while piece := answer.read(PIECE):
            size += len(piece)
            end = (end + piece)[-100:]
    return time.monotonic() - begun, size, end


def check_forms(service: Service, rows: int) -> None:
    for name, headers in FORMS.items():
        before = service.memory()
        service.reset_peak_memory()
        seconds, size, end = read(service, headers)
        beyond = service.memory("VmHWM") - before
        if headers == LINES and json.loads(end.splitlines()[-1]) != {"count": rows}:
            raise SystemExit(f"the last line is {end!r}")
        print(
            f"{rows} rows as {name}: {seconds:.2f} s, {size >> 20} MiB,"
            f" peak {beyond / 2**20:.1f} MiB beyond {before >> 20} MiB",
            flush=True,
        )


class Reader:
    """A client that requests a text again and again, at most at a rate in bytes a second."""

    def __init__(self, address: str, target: str, rate: float) -> None:
        self.url, self.rate, self.stopped = f"http://{address}{target}", rate, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        while not self.stopped.is_set():
            request = urllib.request.Request(self.url, headers=LINES)
            with urllib.request.urlopen(request, timeout=600) as answer:
                begun, size = time.monotonic(), 0
                while not self.stopped.is_set() and (piece := answer.read(RATE // 100)):
                    size += len(piece)
                    time.sleep(max(0.0, begun + size / self.rate - time.monotonic()))

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.thread.join()


def check_beside(service: Service, folder: pathlib.Path, seconds: int, rounds: int) -> None:
    """The p99 of resolving a pathname, at full load and at one that leaves most of the machine
    idle: alone, beside a reader of the table, and, because reading takes a part of the machine as
    well, beside a reader of the same text from a bare server. All in turn, in each round."""
    file, pace = folder / "pages.ndjson", folder / "pace.lua"
    pace.write_text(PACE)
    request = urllib.request.Request(f"http://{service.address}{PAGES}", headers=LINES)
    with urllib.request.urlopen(request, timeout=600) as answer, file.open("wb") as out:
        shutil.copyfileobj(answer, out)
    found: dict[tuple[str, str], list[Load]] = {}
    with Server(bench_server("bare_server"), file, "application/x-ndjson") as bare:
        beside: dict[str, Callable[[], AbstractContextManager[None]]] = {
            "alone": nullcontext,
            "slow reader": lambda: Reader(service.address, PAGES, RATE),
            "slow reader of a bare server": lambda: Reader(bare.address, ROUTE, RATE),
            "fast reader": lambda: Reader(service.address, PAGES, math.inf),
            "fast reader of a bare server": lambda: Reader(bare.address, ROUTE, math.inf),
        }
        for _ in range(rounds):
            for load, script in (("paced", pace), ("full", None)):
                for name, reader in beside.items():
                    with reader():
                        target = (service.address, site.RESOLVE)
                        one = wrk(*target, seconds=seconds, script=script).must_be_clean()
                    found.setdefault((load, name), []).append(one)
    for (load, name), loads in found.items():
        alone = found[load, "alone"]
        ratios = [one.p99 / other.p99 for one, other in zip(loads, alone, strict=True)]
        p50, p99, rate = (
            statistics.median(getattr(one, field) for one in loads)
            for field in ("p50", "p99", "rate")
        )
        print(
            f"{load:6} {name:29} p50 {p50:6.2f} ms, p99 {p99:6.2f} ms, {rate:6.0f}/s;"
            f" p99 {statistics.median(ratios):.2f} times alone"
            f" ({min(ratios):.2f} to {max(ratios):.2f})",
            flush=True,
        )


async def client(address: str, rows: int) -> str:
    """The outcome of one client that reads everything."""
    host, port = address.split(":")
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
    except OSError as error:
        return f"no connection: {error}"
    head = f"GET {PAGES} HTTP/1.0\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n"
    writer.write(head.encode())
    end = status = b""
    try:
        while piece := await reader.read(PIECE):
            status = status or piece.split(b" ", 2)[1]
            end = (end + piece)[-100:]
    except OSError as error:
        return f"broken off: {error}"
    finally:
        writer.close()
    if status == b"200":
        is_whole = end.endswith(b'\n{"count":%d}\n' % rows)
        return "everything" if is_whole else "200 without everything"
    return status.decode()


async def crowd(address: str, rows: int, clients: int) -> Counter[str]:
    return Counter(await asyncio.gather(*(client(address, rows) for _ in range(clients))))


def check_crowd(service: Service, rows: int, clients: int, seconds: int) -> None:
    before, begun = service.memory(), time.monotonic()
    service.reset_peak_memory()
    alone = wrk(service.address, site.RESOLVE, seconds=seconds).must_be_clean()
    outcomes: Counter[str] = Counter()
    thread = threading.Thread(
        target=lambda: outcomes.update(asyncio.run(crowd(service.address, rows, clients)))
    )
    thread.start()
    beside = wrk(service.address, site.RESOLVE, seconds=seconds).must_be_clean()
    thread.join()
    peak = service.memory("VmHWM") - before
    print(
        f"{clients} clients at once: {dict(outcomes)}, {time.monotonic() - begun:.0f} s,"
        f" peak {peak >> 20} MiB beyond {before >> 20} MiB;"
        f" p99 of a pathname {alone.p99:.2f} ms alone, {beside.p99:.2f} ms beside them",
        flush=True,
    )
    if not set(outcomes) <= {"everything", "503"} or not outcomes["everything"]:
        raise SystemExit("a client got neither everything nor a 503")


async def stalled(address: str, clients: int) -> int:
    """How many clients that stop reading are still connected after twice the timeout."""
    host, port = address.split(":")
    connections = []
    for _ in range(clients):
        reader, writer = await asyncio.open_connection(host, int(port), limit=PIECE)
        writer.write(f"GET {PAGES} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await reader.read(1000)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        connections.append((reader, writer))
    await asyncio.sleep(8)
    left = 0
    for reader, writer in connections:
        reader._transport.resume_reading()  # type: ignore[attr-defined]
        try:
            # Everything that the kernel has buffered, then the end.
            await asyncio.wait_for(reader.read(-1), 5)
        except TimeoutError:
            left += 1
        except OSError:
            pass
        writer.close()
    return left


def check_stalled(service: Service, clients: int) -> None:
    before = service.memory()
    service.reset_peak_memory()
    left = asyncio.run(stalled(service.address, clients))
    beyond = service.memory("VmHWM") - before
    print(f"{clients} clients that stop reading: {left} left, peak {beyond / 2**20:.1f} MiB more")
    if left:
        raise SystemExit("a client that stops reading is not disconnected")


def check_static_build(service: Service, folder: pathlib.Path, rows: int) -> None:
    out, script = folder / "out", ROOT / "examples/static_build.mjs"
    begun = time.monotonic()
    command = ["node", str(script), f"http://{service.address}", "main", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - begun
    files = sum(1 for _ in out.rglob("index.html"))
    print(f"static build: {done.stdout.strip()}, {files} files, {seconds:.1f} s", flush=True)
    if done.returncode or files != rows:
        raise SystemExit(done.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=20_000, help="rows of the small site")
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=5, help="of each load")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--built", action="store_true", help="the build is there")
    options = parser.parse_args()
    if not options.built:
        build("fast_cms", "bare_server")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with (
            Server(bench_server("fast_cms"), "serve", options.rows, 0) as cms,
            serve(folder, cms) as service,
        ):
            print(f"walk: {walk(service):.1f} s")
            check_forms(service, options.rows)
            check_beside(service, folder, options.seconds, options.rounds)
            check_stalled(service, 20)
        with (
            Server(bench_server("fast_cms"), "serve", options.small, 0) as cms,
            serve(folder, cms) as service,
        ):
            walk(service)
            check_crowd(service, options.small, options.clients, options.seconds)
            check_static_build(service, folder, options.small)


if __name__ == "__main__":
    main()
