#!/usr/bin/env python3
"""What the path history costs a service: requests per second of `/api/resolve`, and memory.

Makes a history through the service itself, with a content file whose documents are renamed again
and again, each time with a reload, and keeps it in a store. Then starts the shipped binary with
this store and with one without former paths, and loads both with `wrk` (Debian: wrk) in turn, in
alternating pairs: paths of documents, and paths that no document ever had; and the first one also
with former paths. Prints medians over the pairs, their ratios (with / without), and the resident
memory of both, whose difference by the number of former paths is the memory a path. Ends with
status 1 when a response is not the one that it has to be.
"""

import argparse
import json
import pathlib
import random
import signal
import statistics
import tempfile
import time
from typing import NamedTuple

from common.build import BINARY, build
from common.client import get, until
from common.service import Service
from common.site import UID
from common.wrk import Load, wrk

SETTINGS = f"""
[server]
drain_delay_ms = 0
[cms]
source = "files"
path = "content.json"
[moved]
max_paths = 10000000
[store]
path = "store.redb"
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
resolve = "documents"
[[site.rule]]
content_type = "{UID}"
template = "/{{locale}}/articles/{{slug}}"
"""
# Longer than anything here takes.
PATIENCE = 600
# Seconds without a write after which a store has everything.
IDLE = 5
# Targets that a run of wrk takes in turn.
TARGETS = 10_000
SCRIPT = """
local targets = {}
for line in io.lines("FILE") do targets[#targets + 1] = line end
local at = 0
request = function()
  at = at % #targets + 1
  return wrk.format("GET", targets[at])
end
"""


class Work(NamedTuple):
    documents: int
    renames: int
    folder: pathlib.Path
    binary: pathlib.Path

    def content(self, renamed: int) -> None:
        rows = [
            {"documentId": f"{n:024x}", "locale": "en", "slug": slug(n, renamed)}
            for n in range(self.documents)
        ]
        (self.folder / "content.json").write_text(json.dumps({UID: rows}), encoding="utf-8")

    def start(self, store: str) -> Service:
        overrides = {"STORE__PATH": self.folder / store}
        return Service(self.folder / "settings.toml", overrides, binary=self.binary)

    def target(self, n: int, renamed: int) -> str:
        return f"/api/resolve?site=main&pathname=/en/articles/{slug(n, renamed)}"

    def must(self, address: str, kind: str, n: int, renamed: int) -> None:
        def is_it() -> bool:
            data = json.loads(get(address, self.target(n, renamed)).body)["data"]
            return bool(data) and data["kind"] == kind

        if until(is_it, PATIENCE) is None:
            raise SystemExit(f"bench_history: {self.target(n, renamed)} is not a {kind}")


def slug(n: int, renamed: int) -> str:
    return f"a-slug-of-usual-length-{renamed}-{n:07}"


def until_paths(service: Service, count: int) -> None:
    def paths() -> float:
        return service.metric("frontend_map_path_history_paths")

    if until(lambda: paths() == count, PATIENCE) is None:
        raise SystemExit(f"bench_history: {paths():.0f} paths, not {count}")


def until_written(store: pathlib.Path) -> None:
    """Waits until a file has not been written for some seconds."""
    if until(lambda: time.time() - store.stat().st_mtime > IDLE, PATIENCE) is None:
        raise SystemExit(f"bench_history: {store.name} is still being written")


def make_history(work: Work) -> None:
    work.content(0)
    with work.start("with.redb") as service:
        work.must(service.address, "document", 0, 0)
        for renamed in range(1, work.renames + 1):
            work.content(renamed)
            service.signal(signal.SIGHUP)
            work.must(service.address, "document", 0, renamed)
            until_paths(service, renamed * work.documents)
        # A stop waits some seconds at most for the writes of a million rows.
        until_written(work.folder / "with.redb")
        service.stop(PATIENCE)
    # Its store has the snapshot too, so that both services read one.
    with work.start("without.redb") as service:
        work.must(service.address, "document", 0, work.renames)
        service.stop(PATIENCE)


def measured(
    work: Work, address: str, renamed: int, beyond: int, options: argparse.Namespace
) -> Load:
    """The load of random paths from one round of slugs; `beyond`: of so many documents more."""
    some = random.Random(1)
    file, script = work.folder / "targets", work.folder / "load.lua"
    targets = [
        work.target(some.randrange(work.documents) + beyond, renamed) for _ in range(TARGETS)
    ]
    file.write_text("\n".join(targets), encoding="utf-8")
    script.write_text(SCRIPT.replace("FILE", str(file)), encoding="utf-8")
    load = wrk(address, seconds=options.seconds, connections=options.connections, script=script)
    return load.must_be_clean()


def compare(work: Work, options: argparse.Namespace) -> None:
    now = work.renames
    with work.start("with.redb") as with_history, work.start("without.redb") as without:
        for process in (with_history, without):
            work.must(process.address, "document", 0, now)
        work.must(with_history.address, "redirect", 0, 0)
        work.must(without.address, "none", 0, 0)
        count = work.documents * work.renames
        until_paths(with_history, count)
        memory = [process.memory() for process in (with_history, without)]
        cells = {
            "document": (now, 0),
            "never": (now, work.documents),
        }
        rates: dict[str, list[tuple[float, float]]] = {}
        redirects = []
        for n in range(options.pairs):
            for name, (renamed, beyond) in cells.items():
                order = (without, with_history) if n % 2 else (with_history, without)
                found = {
                    process: measured(work, process.address, renamed, beyond, options).rate
                    for process in order
                }
                rates.setdefault(name, []).append((found[with_history], found[without]))
            redirects.append(measured(work, with_history.address, 0, 0, options).rate)
    print(f"{count} former paths, {work.documents} documents")
    per_path = (memory[0] - memory[1]) / count
    print(f"resident memory: {memory[0] >> 20} and {memory[1] >> 20} MiB: {per_path:.0f} a path")
    for name, pairs in rates.items():
        ours, others = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(one / other for one, other in pairs)
        print(f"{name:10} {ours:>9.0f} {others:>9.0f} {ratio:>6.2f}")
    print(f"{'redirect':10} {statistics.median(redirects):>9.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=250_000)
    parser.add_argument("--renames", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--binary", type=pathlib.Path, help="instead of a build")
    options = parser.parse_args()
    if options.binary is None:
        build()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        binary = (options.binary or BINARY).resolve()
        work = Work(options.documents, options.renames, folder, binary)
        (folder / "settings.toml").write_text(SETTINGS, encoding="utf-8")
        make_history(work)
        compare(work, options)


if __name__ == "__main__":
    main()
